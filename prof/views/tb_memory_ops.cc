#include "prof/views/tb_memory_ops.h"

#include <fmt/format.h>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/run/memory_life.h"
#include "prof/run/run.h"
#include "prof/run/tb_memory.h"
#include "prof/views/memory_notes.h"
#include "prof/views/memory_op_run.h"
#include "prof/views/memory_ops.h"

namespace oplens::prof {
namespace {

class TbMemoryOps : public Partial {
 public:
  explicit TbMemoryOps(const ViewOptions& options) : notes_("memory-ops") {
    if (options.by.empty()) return;
    throw UsageError(
        fmt::format("--by {}: with --compat tb the view memory-ops is not split", options.by[0]));
  }

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    return {MemoryOpsFields().begin(), MemoryOpsFields().end()};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 private:
  using Key = std::pair<int32_t, std::string>;  // Device and name.

  void AddRows(const Trace& trace, const TbTree& tree, const TbMemory& memory);
  void AddDevice(const Trace& trace, const TbTree& tree, const TbMemory& memory, int32_t device_id);

  std::map<Key, MemoryOpSums> rows_;
  std::map<std::string, int64_t> calls_;  // By name.
  MemoryNotes notes_;
};

/// Calls f(parent, child) for each child, children of a node in their order, parents before what is
/// in their children.
template <typename F>
void ForEachChild(const TbTree& tree, F f) {
  const std::span<const TbTree::Node> nodes = tree.nodes();
  std::vector<uint32_t> waiting;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].event == TbTree::kNone) waiting.push_back(i);
  }
  while (!waiting.empty()) {
    const uint32_t parent = waiting.back();
    waiting.pop_back();
    for (uint32_t child = nodes[parent].first_child; child != TbTree::kNone;
         child = nodes[child].next) {
      f(parent, child);
      waiting.push_back(child);
    }
  }
}

// Of what is in a node that the plugin did not come to, nothing counts.
void TbMemoryOps::AddRows(const Trace& trace, const TbTree& tree, const TbMemory& memory) {
  const std::span<const TbTree::Node> nodes = tree.nodes();
  ForEachChild(tree, [&](uint32_t parent, uint32_t child) {
    const bool root = nodes[parent].event == TbTree::kNone;
    if (!nodes[child].listed || !(root || memory.IsVisited(parent))) return;
    ++calls_[std::string(trace.strings.View(trace.torch_events[nodes[child].event].name))];
  });
}

// A call inside another of the same name counts again in that one's row, as the plugin has it.
void TbMemoryOps::AddDevice(const Trace& trace, const TbTree& tree, const TbMemory& memory,
                            int32_t device_id) {
  const std::span<const TbTree::Node> nodes = tree.nodes();
  std::vector<MemoryChange> changes(nodes.size());
  const auto row_of = [&](uint32_t node) -> MemoryOpSums& {
    return rows_[Key(device_id, trace.strings.View(trace.torch_events[nodes[node].event].name))];
  };
  for (uint32_t i = 0; i < memory.records().size(); ++i) {
    const uint32_t owner = memory.records()[i].owner;
    if (owner == TbMemory::kNone || memory.EventOf(i).device_id != device_id) continue;
    changes[owner].Add(memory.EventOf(i));
    row_of(owner).self.Add(memory.EventOf(i));
  }
  std::vector<std::pair<uint32_t, uint32_t>> links;  // Parent and child.
  ForEachChild(tree, [&](uint32_t parent, uint32_t child) { links.emplace_back(parent, child); });
  for (size_t i = links.size(); i-- > 0;) {
    const auto [parent, child] = links[i];
    const MemoryChange& change = changes[child];
    if (change.increase_bytes == 0 && change.allocations == 0) continue;
    changes[parent].Add(change);
    if (nodes[child].listed) row_of(child).total.Add(change);
  }
}

void TbMemoryOps::End(const Run* run) {
  if (run == nullptr || run->trace().memory_events.empty()) return;
  notes_.Count(run->memory());
  const Trace& trace = run->trace();
  const TbTree tree(trace);
  const TbMemory memory(trace, tree);
  AddRows(trace, tree, memory);
  for (const MemoryLife::Pool& pool : run->memory().pools()) {
    if (pool.source != MemorySource::kFramework) continue;
    AddDevice(trace, tree, memory, pool.device_id);
  }
}

void TbMemoryOps::Merge(const Partial& other) {
  const auto& more = dynamic_cast<const TbMemoryOps&>(other);
  for (const auto& [key, sums] : more.rows_) rows_[key].Add(sums);
  for (const auto& [name, calls] : more.calls_) calls_[name] += calls;
  notes_.Merge(more.notes_);
}

void TbMemoryOps::Emit(Sink* sink) const {
  for (const auto& [key, sums] : rows_) {
    const auto is_zero = [](const MemoryChange& change) {
      return change.increase_bytes == 0 && change.allocations == 0;
    };
    if (is_zero(sums.self) && is_zero(sums.total)) continue;
    const auto calls = calls_.find(key.second);
    const std::string device = MemoryDeviceName(key.first);
    const Cell cells[] = {
        Text(device),
        Text(MemorySourceWord(MemorySource::kFramework)),
        Text(key.second),
        Integer(calls == calls_.end() ? 0 : calls->second),
        Integer(sums.total.increase_bytes),
        Integer(sums.self.increase_bytes),
        Integer(sums.total.allocations),
        Integer(sums.self.allocations),
        Integer(sums.total.allocated_bytes),
        Integer(sums.self.allocated_bytes),
        Cell{},
        Cell{},
    };
    sink->Row(cells);
  }
}

}  // namespace

std::unique_ptr<Partial> MakeTbMemoryOps(const ViewOptions& options) {
  return std::make_unique<TbMemoryOps>(options);
}

}  // namespace oplens::prof
