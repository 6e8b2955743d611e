#include "prof/views/memory/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/id_map.h"
#include "base/saturating.h"
#include "parse/model/trace.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/run/memory_curve.h"
#include "prof/run/memory_life.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/memory/memory_events.h"
#include "prof/views/memory/memory_notes.h"
#include "prof/views/memory/memory_op_run.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

/// The events of a framework's allocator as the TensorBoard plugin (torch_tb_profiler 0.4.3) makes
/// use of them, for `--compat tb`.
class TbMemory {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Record {
    uint32_t event = kNone;   ///< Into Trace::memory_events.
    uint32_t owner = kNone;   ///< Into TbTree::nodes: the innermost node, if rows count it.
    uint32_t parent = kNone;  ///< Of an owner: the node around it.
  };
  /// Places in records(); one of them may be kNone.
  struct Pair {
    uint32_t taken = kNone;
    uint32_t freed = kNone;
  };

  /// Both must outlive this object.
  TbMemory(const Trace& trace, const TbTree& tree);

  /// By time.
  std::span<const Record> records() const { return records_; }
  const MemoryEvent& EventOf(uint32_t record) const {
    return trace_.memory_events[records_[record].event];
  }
  /// Whether the plugin came to a node on its way to an event: only those and their children do
  /// count.
  bool IsVisited(uint32_t node) const { return visited_[node]; }
  /// What is paired by address alone, whatever the device: the last allocation of an address wins,
  /// and those before it are lost; so are all but the last of the releases of an address that
  /// nothing was paired with. Events without an address are left out.
  std::vector<Pair> Pairs() const;

 private:
  void Place();
  void PlaceThread(std::span<const uint32_t> records, uint32_t root);

  const Trace& trace_;
  const TbTree& tree_;
  std::vector<Record> records_;
  std::vector<bool> visited_;  // By node.
};

/// Microseconds as the plugin reads them. Times since 1970 have more digits in ns than a double.
double TbMemoryMicrosecondsOf(int64_t time_ns) {
  constexpr int64_t kNsPerMicrosecond = 1000;
  return static_cast<double>(time_ns / kNsPerMicrosecond) +
         static_cast<double>(time_ns % kNsPerMicrosecond) / static_cast<double>(kNsPerMicrosecond);
}

TbMemory::TbMemory(const Trace& trace, const TbTree& tree)
    : trace_(trace), tree_(tree), visited_(tree.nodes().size(), false) {
  for (uint32_t i = 0; i < trace.memory_events.size(); ++i) {
    if (trace.memory_events[i].source != MemorySource::kFramework) continue;
    records_.emplace_back().event = i;
  }
  std::sort(records_.begin(), records_.end(), [&](const Record& a, const Record& b) {
    return std::tuple(trace.memory_events[a.event].time_ns, a.event) <
           std::tuple(trace.memory_events[b.event].time_ns, b.event);
  });
  Place();
}

void TbMemory::Place() {
  const auto thread_of = [&](uint32_t record) {
    const ThreadIndex thread = EventOf(record).thread;
    return thread < trace_.threads.size() ? trace_.threads[thread].thread_id : kUnknownId;
  };
  std::vector<uint32_t> by_thread(records_.size());
  std::iota(by_thread.begin(), by_thread.end(), 0u);
  std::sort(by_thread.begin(), by_thread.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(thread_of(a), a) < std::tuple(thread_of(b), b);
  });
  for (size_t begin = 0; begin < by_thread.size();) {
    size_t end = begin;
    while (end < by_thread.size() && thread_of(by_thread[end]) == thread_of(by_thread[begin])) {
      ++end;
    }
    const uint32_t root = tree_.RootOf(thread_of(by_thread[begin]));
    if (root != TbTree::kNone) {
      PlaceThread(std::span(by_thread).subspan(begin, end - begin), root);
    }
    begin = end;
  }
}

// Both the events and the nodes come by time: nothing is looked at twice.
void TbMemory::PlaceThread(std::span<const uint32_t> records, uint32_t root) {
  const std::span<const TbTree::Node> nodes = tree_.nodes();
  const auto start_of = [&](uint32_t node) {
    return trace_.torch_events[nodes[node].event].start_us;
  };
  const auto end_of = [&](uint32_t node) { return trace_.torch_events[nodes[node].event].end_us; };
  std::vector<uint32_t> around = {root};
  uint32_t child = nodes[root].first_child;  // Of the last of these: the next that may begin.
  for (const uint32_t record : records) {
    const double time_us = TbMemoryMicrosecondsOf(EventOf(record).time_ns);
    while (around.size() > 1 && time_us >= end_of(around.back())) {
      child = nodes[around.back()].next;
      around.pop_back();
    }
    while (child != TbTree::kNone && time_us >= start_of(child)) {
      if (time_us >= end_of(child)) {
        child = nodes[child].next;
      } else {
        visited_[child] = true;
        around.push_back(child);
        child = nodes[child].first_child;
      }
    }
    if (!nodes[around.back()].listed) continue;
    records_[record].owner = around.back();
    records_[record].parent = around[around.size() - 2];
  }
}

std::vector<TbMemory::Pair> TbMemory::Pairs() const {
  std::vector<Pair> pairs;
  IdMap taken;  // By address.
  IdMap freed;
  for (uint32_t record = 0; record < records_.size(); ++record) {
    const MemoryEvent& event = EventOf(record);
    if (event.address == 0) continue;
    const uint32_t open = taken.Erase(event.address);
    if (event.size_bytes > 0) {
      taken.FindOrInsert(event.address, record);
    } else if (open != IdMap::kNone) {
      pairs.push_back({open, record});
    } else {
      freed.Erase(event.address);
      freed.FindOrInsert(event.address, record);
    }
  }
  for (uint32_t record = 0; record < records_.size(); ++record) {
    const int64_t address = EventOf(record).address;
    if (address == 0) continue;
    if (taken.Find(address) == record) pairs.push_back({record, kNone});
    if (freed.Find(address) == record) pairs.push_back({kNone, record});
  }
  return pairs;
}

// The plugin draws a step as two points, at one moment; then it thins.
MemoryCurve TbCurveOf(const Run& run, const MemoryLife::Pool& pool) {
  if (pool.source != MemorySource::kFramework) return {};
  const MemoryLife& memory = run.memory();
  const int64_t origin_ns = run.origin_ns();
  std::vector<MemoryCurve::Point> steps;
  MemoryCurve curve;
  for (uint32_t place = pool.begin; place < pool.end; ++place) {
    const MemoryEvent& event = memory.EventAt(place);
    const bool told = event.total_allocated_bytes >= 0 && event.total_reserved_bytes >= 0;
    if (event.address == 0 || !told) continue;
    const int64_t time_ns = SaturatingDifference(event.time_ns, origin_ns);
    if (!steps.empty()) {
      steps.push_back(steps.back());
      steps.back().time_ns = time_ns;
    }
    steps.push_back({time_ns, event.total_allocated_bytes, event.total_reserved_bytes});
    curve.peak_bytes = std::max(curve.peak_bytes, event.total_allocated_bytes);
  }
  constexpr double kNsPerMs = 1e6;
  std::vector<double> times;
  std::vector<double> values;
  for (const MemoryCurve::Point& point : steps) {
    times.push_back(static_cast<double>(point.time_ns) / kNsPerMs);
    values.push_back(static_cast<double>(point.allocated_bytes));
  }
  for (const size_t i : ThinByTriangles(times, values, kMostCurvePoints)) {
    curve.points.push_back(steps[i]);
  }
  return curve;
}

constexpr std::string_view kNoOwner = "<unknown>";
constexpr std::string_view kRootName = "CallTreeRoot";
/// Operators that do nothing but take memory: shown with what is around them.
constexpr std::string_view kTakesOnly = "aten::empty";

class TbMemoryEvents : public MemoryEventRows {
 public:
  void End(const Run* run) override;

 private:
  uint32_t OwnerOf(const Trace& trace, const TbTree& tree, const TbMemory::Record& record);
};

uint32_t TbMemoryEvents::OwnerOf(const Trace& trace, const TbTree& tree,
                                 const TbMemory::Record& record) {
  if (record.owner == TbMemory::kNone) return texts_.NumberOf(kNoOwner);
  const auto name_of = [&](uint32_t node) {
    const uint32_t event = tree.nodes()[node].event;
    return event == TbTree::kNone ? kRootName : trace.strings.View(trace.torch_events[event].name);
  };
  const std::string_view name = name_of(record.owner);
  if (!name.starts_with(kTakesOnly)) return texts_.NumberOf(name);
  return texts_.NumberOf(fmt::format("{} ({})", name_of(record.parent), name));
}

void TbMemoryEvents::End(const Run* run) {
  if (run == nullptr || run->trace().memory_events.empty()) return;
  const Trace& trace = run->trace();
  const TbTree tree(trace);
  const TbMemory memory(trace, tree);
  const int64_t origin_ns = run->origin_ns();
  for (const TbMemory::Pair& pair : memory.Pairs()) {
    const bool taken = pair.taken != TbMemory::kNone;
    const bool freed = pair.freed != TbMemory::kNone;
    const auto time_of = [&](uint32_t record) {
      return SaturatingDifference(memory.EventOf(record).time_ns, origin_ns);
    };
    const MemoryEvent& of = memory.EventOf(taken ? pair.taken : pair.freed);
    Row row;
    row.rank = texts_.NumberOf(run->rank());
    row.device_id = of.device_id;
    row.address = of.address;
    row.size_bytes = MemorySizeOf(memory.EventOf(freed ? pair.freed : pair.taken));
    row.op = taken ? OwnerOf(trace, tree, memory.records()[pair.taken]) : texts_.NumberOf(kNoOwner);
    if (taken) row.alloc_ns = time_of(pair.taken);
    if (freed) row.free_ns = time_of(pair.freed);
    if (!taken) row.state = MemoryState::kOnlyFreed;
    if (taken && freed) row.state = MemoryState::kFreed;
    AddRow(row);
  }
}

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
    return {kMemoryOpsView.fields().begin(), kMemoryOpsView.fields().end()};
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
  for (const auto& [key, sums] : more.rows_) MergeInto(&rows_[key], sums);
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
        CellOf(sums.total.increase_bytes),
        CellOf(sums.self.increase_bytes),
        CellOf(sums.total.allocations),
        CellOf(sums.self.allocations),
        CellOf(sums.total.allocated_bytes),
        CellOf(sums.self.allocated_bytes),
        Cell{},
        Cell{},
    };
    sink->Row(cells);
  }
}

}  // namespace

std::unique_ptr<Partial> MakeTbMemory(const ViewOptions& /*options*/) {
  return MakeMemoryOf(TbCurveOf);
}

std::unique_ptr<Partial> MakeTbMemoryEvents(const ViewOptions& /*options*/) {
  return std::make_unique<TbMemoryEvents>();
}

std::unique_ptr<Partial> MakeTbMemoryOps(const ViewOptions& options) {
  return std::make_unique<TbMemoryOps>(options);
}

}  // namespace oplens::prof
