#include "prof/views/calls/event_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/saturating.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_texts.h"
#include "parse/model/cuda_kinds.h"
#include "parse/model/kernel_names.h"
#include "parse/model/op_call.h"
#include "prof/run/call_work.h"
#include "prof/run/device_work.h"

namespace oplens::prof {
namespace {

using parse::CallTree;

/// Memory that the framework allocated minus what it freed, between two moments. Construction O(M
/// log M), query O(log M) for M events; 32 bytes per event.
class EventMemory {
 public:
  struct Bytes {
    int64_t host = 0;
    int64_t device = 0;
  };

  /// `all_threads`: ignores the threads of events and queries.
  EventMemory(const Trace& trace, bool all_threads);

  bool empty() const { return moments_.empty(); }
  /// The change on a thread in [start_ns, end_ns]. Marks these events as taken.
  Bytes Take(ThreadIndex thread, int64_t start_ns, int64_t end_ns);

  /// Events in no Take().
  struct Untaken {
    int64_t count = 0;
    int64_t first_ns = INT64_MAX;
    Bytes bytes;
  };
  Untaken Rest() const;

 private:
  struct Moment {
    ThreadIndex thread;
    int32_t takes;  // Takes that begin minus takes that end before it.
    int64_t time_ns;
    // Sums up to this moment; they wrap, since only differences are used.
    uint64_t host;
    uint64_t device;
  };

  bool all_threads_;
  std::vector<Moment> moments_;  // By thread and time, plus a sentinel.
};

EventMemory::EventMemory(const Trace& trace, bool all_threads) : all_threads_(all_threads) {
  for (const MemoryEvent& event : trace.memory_events) {
    if (event.source != MemorySource::kFramework) continue;
    const auto size = static_cast<uint64_t>(event.size_bytes);
    const bool device = event.device_id >= 0;
    moments_.push_back({all_threads ? ThreadIndex{0} : event.thread, 0, event.time_ns,
                        device ? 0 : size, device ? size : 0});
  }
  if (moments_.empty()) return;
  std::sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
    return std::pair(a.thread, a.time_ns) < std::pair(b.thread, b.time_ns);
  });
  moments_.push_back({moments_.back().thread, 0, INT64_MAX, 0, 0});
  uint64_t host = 0;
  uint64_t device = 0;
  for (Moment& moment : moments_) {
    host += std::exchange(moment.host, host);
    device += std::exchange(moment.device, device);
  }
}

EventMemory::Bytes EventMemory::Take(ThreadIndex thread, int64_t start_ns, int64_t end_ns) {
  if (moments_.empty()) return {};
  if (all_threads_) thread = 0;
  const auto last = moments_.end() - 1;
  const auto from = std::lower_bound(moments_.begin(), last, std::pair(thread, start_ns),
                                     [](const Moment& moment, const auto& key) {
                                       return std::pair(moment.thread, moment.time_ns) < key;
                                     });
  const auto to = std::upper_bound(from, last, std::pair(thread, end_ns),
                                   [](const auto& key, const Moment& moment) {
                                     return key < std::pair(moment.thread, moment.time_ns);
                                   });
  if (from == to) return {};
  ++from->takes;
  --to->takes;
  return {static_cast<int64_t>(to->host - from->host),
          static_cast<int64_t>(to->device - from->device)};
}

EventMemory::Untaken EventMemory::Rest() const {
  Untaken rest;
  uint64_t host = 0;
  uint64_t device = 0;
  int64_t takes = 0;
  for (size_t i = 0; i + 1 < moments_.size(); ++i) {
    takes += moments_[i].takes;
    if (takes > 0) continue;
    ++rest.count;
    rest.first_ns = std::min(rest.first_ns, moments_[i].time_ns);
    host += moments_[i + 1].host - moments_[i].host;
    device += moments_[i + 1].device - moments_[i].device;
  }
  rest.bytes = {static_cast<int64_t>(host), static_cast<int64_t>(device)};
  return rest;
}

/// In the backward pass, uses the stack of the forward op's call.
void TakeForwardStacks(const std::vector<uint32_t>& forwards, std::vector<uint32_t>* stacks) {
  const std::vector<uint32_t> own = *stacks;
  for (size_t i = 0; i < own.size(); ++i) {
    if (forwards[i] == CallTree::kNone) continue;
    (*stacks)[i] = forwards[i] == CallPlaces::kUnknownForward ? 0 : own[forwards[i]];
  }
}

}  // namespace

EventRun::EventRun(const Run& run, const EventOptions& options)
    : run_(run),
      options_(options),
      call_groups_(run.calls().all().size(), kNone),
      parents_(call_groups_.size(), kNone),
      device_ns_(call_groups_.size(), 0) {
  FindGroups();
  FindParents();
  AddDeviceEvents();
  if (options_.joins_repeated) MergeRepeated();
  SumHost();
  SumMemory();
  SumDevice();
}

uint32_t EventRun::GroupOf(bool device, uint32_t name, uint32_t shape, uint32_t stack) {
  const uint32_t named = name << 1 | (device ? 1 : 0);
  const auto next_pair = static_cast<uint32_t>(names_and_shapes_.size());
  const uint32_t pair = names_and_shapes_.FindOrInsert(PairKey(named, shape), next_pair);
  const auto next = static_cast<uint32_t>(groups_.size());
  const uint32_t group = group_of_.FindOrInsert(PairKey(pair, stack), next);
  if (group == next) groups_.push_back({device, name, shape, stack, {}});
  return group;
}

/// Shapes of a call's arguments as a Python list; [] for what is no tensor.
uint32_t EventRun::NumberOfShapes(StringId call) {
  std::string error;
  const std::optional<OpCall> parsed = ParseOpCall(run_.trace().strings.View(call), &error);
  if (!parsed || parsed->args.empty()) return 0;
  std::string text = "[";
  for (const OpArg& arg : parsed->args) {
    text += text.size() > 1 ? ", [" : "[";
    if (arg.kind == OpArg::Kind::kTensor) {
      for (size_t i = 0; i < arg.shape.size(); ++i) {
        if (i > 0) text += ", ";
        text += std::to_string(arg.shape[i]);
      }
    }
    text += ']';
  }
  return texts_.NumberOf(text + "]");
}

/// Of a stack with the outermost frame first, joined by ",".
uint32_t EventRun::InnermostFrames(std::string_view stack) {
  size_t from = stack.size();
  for (size_t i = 0; i < options_.frames && from != 0; ++i) {
    const size_t comma = stack.rfind(',', from - 1);
    from = comma == std::string_view::npos ? 0 : comma;
  }
  return texts_.NumberOf(stack.substr(from == 0 ? 0 : from + 1));
}

void EventRun::FindGroups() {
  CallPlaces places(run_.joined(), run_.calls());
  const std::span<const CallTree::Call> all = run_.calls().all();
  const std::vector<uint32_t> names = places.Names();
  std::vector<uint32_t> stacks;
  if (options_.by_stack) stacks = places.Stacks();
  if (options_.by_stack && options_.frames > 0) TakeForwardStacks(places.ForwardPlaces(), &stacks);
  // Number of a text of `places` to a number of texts_. kNone: not computed.
  std::vector<uint32_t> known_names;
  std::vector<uint32_t> known_stacks;
  std::vector<uint32_t> known_shapes(options_.by_shape ? run_.trace().strings.size() : 0, kNone);
  constexpr uint32_t kDropped = kNone - 1;
  const auto ours = [](std::vector<uint32_t>* known, uint32_t number, auto make) {
    if (number >= known->size()) known->resize(number + 1, kNone);
    if ((*known)[number] == kNone) (*known)[number] = make();
    return (*known)[number];
  };
  uint32_t last[3] = {kNone, 0,
                      0};  // Name, shape and stack of the previous call, whose group is `group`.
  uint32_t group = kNone;
  for (size_t i = 0; i < all.size(); ++i) {
    const uint32_t name = ours(&known_names, names[i], [&] {
      const std::string_view text = places.texts().TextOf(names[i]);
      if (options_.listed_as == nullptr) return texts_.NumberOf(text);
      const std::optional<std::string_view> listed = options_.listed_as(text);
      return listed ? texts_.NumberOf(*listed) : kDropped;
    });
    if (name == kDropped) continue;
    uint32_t shape = 0;
    if (options_.by_shape) {
      const StringId call = run_.joined().calls().CallOf(all[i].range);
      shape = ours(&known_shapes, call, [&] { return NumberOfShapes(call); });
    }
    uint32_t stack = 0;
    if (options_.by_stack) {
      stack = ours(&known_stacks, stacks[i], [&] {
        const std::string_view text = places.texts().TextOf(stacks[i]);
        return options_.frames > 0 ? InnermostFrames(text) : texts_.NumberOf(text);
      });
    }
    if (name != last[0] || shape != last[1] || stack != last[2]) {
      group = GroupOf(false, name, shape, stack);
      last[0] = name;
      last[1] = shape;
      last[2] = stack;
    }
    call_groups_[i] = group;
  }
}

// With whole_calls, the parent is the innermost open call that holds the whole call.
void EventRun::FindParents() {
  const CallTree& tree = run_.calls();
  struct Open {
    uint32_t call;
    int64_t end_ns;
  };
  std::vector<Open> open;
  for (ThreadIndex thread = 0; thread < run_.trace().threads.size(); ++thread) {
    const size_t first = tree.BeginOf(thread);
    const std::span<const CallTree::Call> calls = tree.Of(thread);
    open.clear();
    for (size_t i = 0; i < calls.size(); ++i) {
      const size_t call = first + i;
      if (!options_.whole_calls) {
        if (calls[i].parent != kNone)
          parents_[call] = static_cast<uint32_t>(first + calls[i].parent);
        continue;
      }
      if (IsLeftOut(call)) continue;
      const Range& range = run_.trace().ranges[calls[i].range];
      const int64_t end_ns = std::max(range.start_ns, range.end_ns);
      while (!open.empty() &&
             (range.start_ns >= open.back().end_ns || end_ns > open.back().end_ns)) {
        open.pop_back();
      }
      if (!open.empty()) parents_[call] = open.back().call;
      open.push_back({static_cast<uint32_t>(call), end_ns});
    }
  }
}

uint32_t EventRun::NameOf(const DeviceEvent& event) {
  const Trace& trace = run_.trace();
  switch (event.work) {
    case WorkClass::kCompute:
    case WorkClass::kCommunication: {
      const Kernel& kernel = trace.kernels[event.index];
      if (kernel_names_.empty()) kernel_names_.resize(trace.strings.size(), kNone);
      uint32_t& known = kernel_names_[kernel.name];
      if (known == kNone) known = texts_.NumberOf(run_.names().Of(kernel).full);
      return known;
    }
    case WorkClass::kCopy:
      return NameOfCopy(trace.copies[event.index]);
    case WorkClass::kFill:
      return texts_.NumberOf("Memset (Device)");
    case WorkClass::kReplay:
      break;
  }
  return texts_.NumberOf("(graph replay)");
}

/// As PyTorch's profiler names it.
uint32_t EventRun::NameOfCopy(const MemoryCopy& copy) {
  const int64_t kinds = static_cast<int64_t>(copy.copy_kind) << 16 |
                        static_cast<int64_t>(copy.source_kind) << 8 |
                        static_cast<int64_t>(copy.target_kind);
  const uint32_t known = copy_names_.Find(kinds);
  if (known != IdMap::kNone) return known;
  std::string name = fmt::format("Memcpy {}", CopyKindWord(copy.copy_kind));
  if (copy.source_kind != MemoryKind::kUnknown && copy.target_kind != MemoryKind::kUnknown) {
    name += fmt::format(" ({} -> {})", MemoryKindTitle(copy.source_kind),
                        MemoryKindTitle(copy.target_kind));
  }
  return copy_names_.FindOrInsert(kinds, texts_.NumberOf(name));
}

void EventRun::AddDeviceEvents() {
  for (const DeviceEvent& event : run_.work().events()) {
    EventSums& sums = groups_[GroupOf(true, NameOf(event), 0, 0)].sums;
    const int64_t length_ns = event.duration_ns();
    sums.Add(event.start_ns, length_ns);
    sums.device_self_ns += length_ns;
    sums.device_total_ns += length_ns;
    const uint32_t call = run_.call_work().CallOf(event);
    if (call != CallWork::kNone) SaturatingAdd(&device_ns_[call], length_ns);
  }
}

/// Callers come before the calls in them, so the parents of a call are final when it is visited.
void EventRun::MergeRepeated() {
  std::vector<uint32_t> inside(parents_.size(), 0);  // Number of direct children.
  for (const uint32_t parent : parents_) {
    if (parent != kNone) ++inside[parent];
  }
  std::vector<uint32_t> made_one(parents_.size());  // The call that each is merged into.
  for (size_t i = 0; i < parents_.size(); ++i) {
    made_one[i] = static_cast<uint32_t>(i);
    if (parents_[i] == kNone) continue;
    const uint32_t parent = parents_[i] = made_one[parents_[i]];
    if (inside[parent] != 1 ||
        groups_[call_groups_[parent]].name != groups_[call_groups_[i]].name) {
      continue;
    }
    made_one[i] = parent;
    inside[parent] = inside[i];
    device_ns_[parent] = device_ns_[i];
    call_groups_[i] = kNone;
  }
}

void EventRun::SumHost() {
  const std::span<const CallTree::Call> all = run_.calls().all();
  for (size_t i = 0; i < all.size(); ++i) {
    if (IsLeftOut(i) || !run_.SelectsHost(StartOf(i))) continue;
    EventSums& sums = groups_[call_groups_[i]].sums;
    sums.Add(StartOf(i), all[i].total_ns);
    sums.host_total_ns += all[i].total_ns;
    sums.host_self_ns += options_.whole_calls ? all[i].total_ns : all[i].self_ns;
    const uint32_t parent = parents_[i];
    if (!options_.whole_calls || parent == kNone || !run_.SelectsHost(StartOf(parent))) continue;
    EventSums& around = groups_[call_groups_[parent]].sums;
    around.host_self_ns = around.host_self_ns - all[i].total_ns;
  }
}

void EventRun::SumMemory() {
  EventMemory memory(run_.trace(), !options_.rest_of_memory.empty());
  has_memory_ = !memory.empty();
  if (!has_memory_) return;
  const std::span<const CallTree::Call> all = run_.calls().all();
  for (size_t i = 0; i < all.size(); ++i) {
    if (IsLeftOut(i) || !run_.SelectsHost(StartOf(i))) continue;
    const Range& range = run_.trace().ranges[all[i].range];
    const EventMemory::Bytes bytes =
        memory.Take(run_.trace().ThreadOf(range), range.start_ns, range.end_ns);
    EventSums& sums = groups_[call_groups_[i]].sums;
    sums.host_bytes += bytes.host;
    sums.host_self_bytes += bytes.host;
    sums.device_bytes += bytes.device;
    sums.device_self_bytes += bytes.device;
    const uint32_t parent = parents_[i];
    if (parent == kNone || !run_.SelectsHost(StartOf(parent))) continue;
    EventSums& around = groups_[call_groups_[parent]].sums;
    around.host_self_bytes = around.host_self_bytes - bytes.host;
    around.device_self_bytes = around.device_self_bytes - bytes.device;
  }
  const EventMemory::Untaken rest = memory.Rest();
  if (options_.rest_of_memory.empty() || rest.count == 0) return;
  EventSums& sums = groups_[GroupOf(false, texts_.NumberOf(options_.rest_of_memory), 0, 0)].sums;
  sums.Add(rest.first_ns, 0);
  sums.calls = rest.count;
  sums.host_bytes = sums.host_self_bytes = rest.bytes.host;
  sums.device_bytes = sums.device_self_bytes = rest.bytes.device;
}

void EventRun::SumDevice() {
  for (size_t i = 0; i < device_ns_.size(); ++i) {
    if (!IsLeftOut(i)) groups_[call_groups_[i]].sums.device_self_ns += device_ns_[i];
  }
  for (size_t i = device_ns_.size(); i-- > 0;) {
    if (IsLeftOut(i)) continue;
    groups_[call_groups_[i]].sums.device_total_ns += device_ns_[i];
    const uint32_t parent = parents_[i];
    if (parent != kNone) SaturatingAdd(&device_ns_[parent], device_ns_[i]);
  }
}

std::vector<EventCall> EventRun::Calls() const {
  std::vector<EventCall> calls;
  const std::span<const CallTree::Call> all = run_.calls().all();
  calls.reserve(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (IsLeftOut(i) || !run_.SelectsHost(StartOf(i))) continue;
    calls.push_back({groups_[call_groups_[i]].name, StartOf(i), all[i].total_ns, device_ns_[i]});
  }
  return calls;
}

}  // namespace oplens::prof
