#include <fmt/format.h>

#include <string>

#include "base/saturating.h"
#include "prof/run/run.h"
#include "prof/run/tb_memory.h"
#include "prof/views/memory_events.h"

namespace oplens::prof {
namespace {

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

}  // namespace

std::unique_ptr<Partial> MakeTbMemoryEvents() { return std::make_unique<TbMemoryEvents>(); }

}  // namespace oplens::prof
