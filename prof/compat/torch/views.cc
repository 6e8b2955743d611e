#include "prof/compat/torch/views.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "prof/compat/torch/table.h"
#include "prof/run/call_stacks.h"
#include "prof/run/call_work.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/events.h"
#include "prof/views/stacks.h"

namespace oplens::prof {
namespace {

/// Names that PyTorch leaves out of its tables: of the profiler itself, and of look-ups.
constexpr std::string_view kLeftOut[] = {
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
};

/// Steps are alike.
std::optional<std::string_view> ListedAs(std::string_view name) {
  if (std::find(std::begin(kLeftOut), std::end(kLeftOut), name) != std::end(kLeftOut)) return {};
  return name.starts_with("ProfilerStep#") ? std::string_view("ProfilerStep*") : name;
}

bool IsMore(const EventRow& a, const EventRow& b, std::string_view word) {
  return TorchSortValue(a, word) > TorchSortValue(b, word);
}
bool IsLess(const EventRow& a, const EventRow& b, std::string_view word) {
  return IsMore(b, a, word);
}

std::string TorchTableOf(std::span<const EventRow> rows, const EventTable& table) {
  constexpr size_t kRows = 100;
  return TorchTable(rows, {table.memory, table.top > 0 ? table.top : kRows, table.header});
}

std::string LegacyTableOf(std::span<const EventRow> rows, const EventTable& table) {
  if (table.top > 0) rows = rows.first(std::min(table.top, rows.size()));
  return TorchLegacyTable(rows, table.header);
}

constexpr std::string_view kTorchKeys[] = {"shape", "stack", "rank"};
constexpr std::string_view kLegacyKeys[] = {"rank", "call", "total"};

/// torch/autograd/profiler_util.py of 1.13.
constexpr EventRules kTorchRules{.run = {.listed_as = ListedAs,
                                         .joins_repeated = true,
                                         .whole_calls = true,
                                         .frames = 5,
                                         .rest_of_memory = "[memory]"},
                                 .by = kTorchKeys,
                                 .before = IsMore,
                                 .table = TorchTableOf};
constexpr EventRules kLegacyRules{
    .device = false, .by = kLegacyKeys, .before = IsLess, .table = LegacyTableOf};

constexpr int64_t kNsPerUs = 1000;

/// Each call that has a stack counts with whole microseconds.
bool CountStacks(const Run& run, uint32_t front, PathTree* tree, const TakeStack& take) {
  const std::span<const parse::CallTree::Call> all = run.calls().all();
  const CallStacks stacks(run.joined(), run.calls(), {{}, front, {}, nullptr}, tree);
  std::vector<StackSums> of_calls(all.size());
  for (const DeviceEvent& event : run.work().events()) {
    const uint32_t call = run.call_work().CallOf(event);
    if (call != CallWork::kNone) of_calls[call].Add({0, event.duration_ns(), 1});
  }
  bool any = false;
  for (size_t i = 0; i < all.size(); ++i) {
    if (stacks.PathOf(i) == front) continue;
    any = true;
    StackSums sums = of_calls[i];
    sums.host_ns = all[i].self_ns / kNsPerUs * kNsPerUs;
    sums.device_ns = sums.device_ns / kNsPerUs * kNsPerUs;
    take(stacks.PathOf(i), sums);
  }
  return any;
}

}  // namespace

std::unique_ptr<Partial> MakeTorchEvents(const ViewOptions& options) {
  return MakeEventsOf(options, kTorchRules);
}

std::unique_ptr<Partial> MakeTorchLegacyEvents(const ViewOptions& options) {
  return MakeEventsOf(options, kLegacyRules);
}

std::unique_ptr<Partial> MakeTorchStacks(const ViewOptions& options) {
  return MakeStacksOf(options, {CountStacks, kNsPerUs});
}

}  // namespace oplens::prof
