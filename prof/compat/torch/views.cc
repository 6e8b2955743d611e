#include "prof/compat/torch/views.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "prof/compat/torch/functions.h"
#include "prof/compat/torch/table.h"
#include "prof/run/call_stacks.h"
#include "prof/run/call_work.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/views/calls/events.h"
#include "prof/views/calls/stacks.h"

namespace oplens::prof {
namespace {

constexpr size_t kFrames = 5;
constexpr std::string_view kNoDims = "[]";

/// All steps have one name.
std::optional<std::string_view> ListedAs(std::string_view name) {
  if (IsUnlistedTorchName(name)) return {};
  return name.starts_with("ProfilerStep#") ? std::string_view("ProfilerStep*") : name;
}

bool IsMore(const EventRow& a, const EventRow& b, std::string_view word) {
  return TorchSortValue(a, word) > TorchSortValue(b, word);
}
bool IsLess(const EventRow& a, const EventRow& b, std::string_view word) {
  return IsMore(b, a, word);
}

/// By EventTableFacts::device: unset, then by TorchRecording::Device.
constexpr std::string_view kDeviceTitles[] = {"CUDA", "",    "CUDA",         "XPU",
                                              "MTIA", "HPU", "PRIVATEUSEONE"};

std::string TorchTableOf(std::span<const EventRow> rows, const EventTable& table) {
  constexpr size_t kRows = 100;
  return TorchTable(rows, {table.memory, table.top > 0 ? table.top : kRows, table.header,
                           table.facts.version, kDeviceTitles[table.facts.device]});
}

std::string LegacyTableOf(std::span<const EventRow> rows, const EventTable& table) {
  if (table.top > 0) rows = rows.first(std::min(table.top, rows.size()));
  return TorchLegacyTable(rows, table.header);
}

/// The version whose rules `torch` takes for a run: PyTorch's own, where the file tells it.
uint32_t VersionOf(const Run& run) {
  const Trace& trace = run.trace();
  return trace.family == Family::kKineto && !trace.torch_recording.since_2 ? kTorch113 : kTorch213;
}

/// A row of key_averages().
struct FunctionGroup {
  FoundEvents found;

  void Add(const TorchFunctions::Event& event, uint32_t place) {
    ++found.sums.calls;
    found.sums.first.Merge({event.of->start_ns, place});
    found.sums.host_self_ns += event.host_self.ns;
    found.sums.host_total_ns += event.host_total.ns;
    found.sums.device_self_ns += event.device_self.ns;
    found.sums.device_total_ns += event.device_total.ns;
    found.sums.host_bytes += event.host_bytes;
    found.sums.host_self_bytes += event.host_self_bytes;
    found.sums.device_bytes += event.device_bytes;
    found.sums.device_self_bytes += event.device_self_bytes;
    found.us +=
        {event.host_self.us, event.host_total.us, event.device_self.us, event.device_total.us};
  }
};

void GroupFunctions(const Trace& trace, const FindEvents& find, TorchFunctions* functions,
                    const TakeEvents& take) {
  using Key = std::tuple<uint32_t, bool, bool, StringId, StringId, uint32_t>;
  std::map<Key, FunctionGroup> groups;
  uint32_t place = 0;
  for (const TorchFunctions::Event& event : functions->events()) {
    const uint32_t number = place++;
    if (event.merged) continue;
    const uint32_t frames = find.by_stack ? functions->FramesOf(event, kFrames) : 0;
    const StringId overload = find.by_overload ? event.of->overload : 0;
    // An empty list is that of an event without arguments.
    const StringId dims =
        find.by_shape && trace.strings.View(event.of->dims) != kNoDims ? event.of->dims : 0;
    const Key key(event.name, event.on_device(), event.is_annotation(), overload, dims, frames);
    groups[key].Add(event, number);
  }
  for (auto& [key, group] : groups) {
    const auto& [name, device, annotation, overload, dims, frames] = key;
    group.found.device = device;
    group.found.annotation = annotation;
    group.found.name = functions->TextOf(name);
    group.found.shape = trace.strings.View(dims);
    group.found.stack = functions->TextOf(frames);
    group.found.overload = trace.strings.View(overload);
    take(group.found);
  }
}

/// By the rules of `version`; 0: of the run's own.
template <uint32_t version>
bool FindFunctions(const Run& run, FindEvents* find, const TakeEvents& take) {
  find->facts.version = version == 0 ? VersionOf(run) : version;
  const Trace& trace = run.trace();
  if (find->facts.version == kTorch113 || trace.torch_functions.empty()) return false;
  find->facts.device = static_cast<uint32_t>(trace.torch_recording.device) + 1;
  find->facts.frame_separator = ';';
  TorchFunctions functions(trace);
  find->has_memory = functions.has_memory();
  GroupFunctions(trace, *find, &functions, take);
  return true;
}

constexpr std::string_view kTorchKeys[] = {"shape", "stack", "rank", "overload"};
constexpr std::string_view kTorch113Keys[] = {"shape", "stack", "rank"};
constexpr std::string_view kLegacyKeys[] = {"rank", "call", "total"};

/// torch/autograd/profiler_util.py. 2.13 has its own events where the file has them.
template <uint32_t version>
constexpr EventRules kTorchRules{
    .run = {.listed_as = ListedAs,
            .joins_repeated = true,
            .whole_calls = true,
            .frames = kFrames,
            .rest_of_memory = "[memory]"},
    .by = version == kTorch113 ? std::span(kTorch113Keys).first(3) : std::span(kTorchKeys).first(4),
    .find = FindFunctions<version>,
    .before = IsMore,
    .table = TorchTableOf};
constexpr EventRules kLegacyRules{
    .device = false, .by = kLegacyKeys, .before = IsLess, .table = LegacyTableOf};

constexpr int64_t kNsPerUs = 1000;

/// Counts each call with a stack, in whole microseconds.
bool CountCallStacks(const Run& run, uint32_t front, PathTree* tree, const TakeStack& take) {
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

/// Counts each event with a stack and at least a microsecond.
bool CountFunctionStacks(const Trace& trace, uint32_t front, PathTree* tree,
                         const TakeStack& take) {
  TorchFunctions functions(trace);
  bool any = false;
  for (const TorchFunctions::Event& event : functions.events()) {
    if (event.merged || event.on_device()) continue;
    std::string_view frames = functions.TextOf(functions.FramesOf(event, SIZE_MAX));
    if (frames.empty()) continue;
    any = true;
    uint32_t path = front;
    while (!frames.empty()) {
      const std::string_view frame = frames.substr(0, frames.find(';'));
      frames.remove_prefix(std::min(frame.size() + 1, frames.size()));
      path = tree->ChildOf(path, tree->NumberOf(frame));
    }
    const auto whole_us = [](double us) { return us >= 1 ? static_cast<int64_t>(us) : 0; };
    StackSums sums;
    sums.host_ns = whole_us(event.host_self.us) * kNsPerUs;
    sums.device_ns = whole_us(event.device_self.us) * kNsPerUs;
    take(path, sums);
  }
  return any;
}

template <uint32_t version>
bool CountStacks(const Run& run, uint32_t front, PathTree* tree, const TakeStack& take) {
  const uint32_t known = version == 0 ? VersionOf(run) : version;
  if (known == kTorch113 || run.trace().torch_functions.empty()) {
    return CountCallStacks(run, front, tree, take);
  }
  return CountFunctionStacks(run.trace(), front, tree, take);
}

}  // namespace

template <uint32_t version>
std::unique_ptr<Partial> MakeTorchEvents(const ViewOptions& options) {
  return MakeEventsOf(options, kTorchRules<version>);
}
template std::unique_ptr<Partial> MakeTorchEvents<0>(const ViewOptions& options);
template std::unique_ptr<Partial> MakeTorchEvents<kTorch113>(const ViewOptions& options);
template std::unique_ptr<Partial> MakeTorchEvents<kTorch213>(const ViewOptions& options);

std::unique_ptr<Partial> MakeTorchLegacyEvents(const ViewOptions& options) {
  return MakeEventsOf(options, kLegacyRules);
}

template <uint32_t version>
std::unique_ptr<Partial> MakeTorchStacks(const ViewOptions& options) {
  return MakeStacksOf(options, {CountStacks<version>, kNsPerUs});
}
template std::unique_ptr<Partial> MakeTorchStacks<0>(const ViewOptions& options);
template std::unique_ptr<Partial> MakeTorchStacks<kTorch113>(const ViewOptions& options);
template std::unique_ptr<Partial> MakeTorchStacks<kTorch213>(const ViewOptions& options);

}  // namespace oplens::prof
