#include "prof/run/collective_calls.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/saturating.h"
#include "parse/join/call_tree.h"
#include "parse/join/gpu_work.h"
#include "parse/join/joined.h"
#include "parse/join/named_pass.h"
#include "parse/join/surroundings.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {
namespace {

/// When anything computed, and the cumulative time.
class ComputeTime {
 public:
  explicit ComputeTime(const DeviceWork& work) {
    for (const DeviceEvent& event : work.events()) {
      if (event.work == WorkClass::kCompute || event.work == WorkClass::kReplay) {
        busy_.Add({event.start_ns, event.end_ns});
      }
    }
    before_ns_.reserve(busy_.intervals().size());
    int64_t sum_ns = 0;
    for (const Interval& interval : busy_.intervals()) {
      before_ns_.push_back(sum_ns);
      SaturatingAdd(&sum_ns, LengthOf(interval));
    }
  }

  /// The time in an interval without compute. O(log n).
  int64_t OutsideOf(const Interval& interval) const {
    return LengthOf(interval) - (UpTo(interval.end_ns) - UpTo(interval.start_ns));
  }

 private:
  int64_t UpTo(int64_t time_ns) const {
    const auto all = busy_.intervals();
    const auto next = std::partition_point(all.begin(), all.end(), [&](const Interval& interval) {
      return interval.start_ns < time_ns;
    });
    if (next == all.begin()) return 0;
    const auto last = static_cast<size_t>(next - all.begin()) - 1;
    return SaturatingSum(before_ns_[last],
                         LengthOf({all[last].start_ns, std::min(all[last].end_ns, time_ns)}));
  }

  IntervalSet busy_;
  std::vector<int64_t> before_ns_;  // By interval.
};

/// A kernel with its host call.
struct Member {
  size_t host = HostCollectives::kNone;
  LaunchIndex replay = kNoLaunch;  ///< For a graph's kernel: the graph's launch.
  uint32_t event = 0;              ///< Index into the device's events.
};

bool SameRecord(const Communication& a, const Communication& b) {
  return std::tie(a.name, a.group, a.sequence, a.peer, a.input_elements, a.output_elements) ==
         std::tie(b.name, b.group, b.sequence, b.peer, b.input_elements, b.output_elements);
}

class Finder {
 public:
  explicit Finder(const Run& run)
      : run_(run), trace_(run.trace()), events_(run.work().events()), hosts_(run.joined()) {}

  std::vector<CollectiveCall> Find() {
    std::vector<Member> members = Members();
    if (!members.empty()) compute_.emplace(run_.device_work());
    asked_.assign(hosts_.calls().size(), false);
    for (size_t begin = 0; begin < members.size();) {
      size_t end = begin + 1;
      while (end < members.size() && AreOne(members[begin], members[end])) ++end;
      AddKernels({members.data() + begin, end - begin});
      begin = end;
    }
    if (!run_.selects_all()) MarkUnselected();
    for (size_t i = 0; i < hosts_.calls().size(); ++i) {
      if (!asked_[i]) AddHost(hosts_.calls()[i]);
    }
    std::sort(calls_.begin(), calls_.end(), [](const CollectiveCall& a, const CollectiveCall& b) {
      return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
    });
    return std::move(calls_);
  }

 private:
  std::vector<Member> Members() const {
    std::vector<Member> members;
    for (size_t i = 0; i < events_.size(); ++i) {
      const DeviceEvent& event = events_[i];
      if (event.work != WorkClass::kCommunication) continue;
      const Kernel& kernel = trace_.kernels[event.index];
      Member& member = members.emplace_back();
      member.event = static_cast<uint32_t>(i);
      member.host = hosts_.OfKernel(event.index);
      if (kernel.capture != kNoLaunch) member.replay = kernel.launch;
    }
    std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return std::tie(a.host, a.replay, a.event) < std::tie(b.host, b.replay, b.event);
    });
    return members;
  }

  /// Marks the host calls whose kernels are not selected.
  void MarkUnselected() {
    for (size_t i = 0; i < trace_.kernels.size(); ++i) {
      if (!trace_.kernels[i].timed() || !run_.work().IsCommunication(i)) continue;
      const size_t host = hosts_.OfKernel(i);
      if (host != HostCollectives::kNone) asked_[host] = true;
    }
  }

  const Communication* RecordOf(const Member& member) const {
    const ItemIndex record =
        trace_.DetailsOf(trace_.kernels[events_[member.event].index]).communication;
    return record < trace_.communications.size() ? &trace_.communications[record] : nullptr;
  }

  bool AreOne(const Member& a, const Member& b) const {
    if (a.host == HostCollectives::kNone || a.host != b.host || a.replay != b.replay) return false;
    const Communication* const of_a = RecordOf(a);
    const Communication* const of_b = RecordOf(b);
    return of_a == nullptr || of_b == nullptr || SameRecord(*of_a, *of_b);
  }

  /// The facts of a host call, found once.
  const CollectiveFacts& FactsOf(size_t host) {
    const auto [at, fresh] = facts_.try_emplace(host);
    if (fresh) at->second = hosts_.FactsOf(hosts_.calls()[host]);
    return at->second;
  }

  void AddKernels(std::span<const Member> members) {
    const DeviceEvent& first = events_[members[0].event];
    CollectiveCall& call = calls_.emplace_back();
    if (const Communication* const record = RecordOf(members[0])) {
      HostCollectives::TakeRecord(*record, trace_.strings, &call.facts);
    }
    if (members[0].host != HostCollectives::kNone) {
      asked_[members[0].host] = true;
      Complete(FactsOf(members[0].host), &call.facts);
    }
    if (call.facts.kind == CollectiveKind::kUnknown) {
      call.facts.kind = KindOfName(trace_.kernels[first.index].name);
    }
    if (call.facts.kind == CollectiveKind::kUnknown) call.facts.kind = KindOfRange(first.index);
    call.start_ns = first.start_ns;
    call.end_ns = first.end_ns;
    call.latency_ns = 0;
    call.exposed_ns = 0;
    Interval running = {first.start_ns, first.end_ns};
    const auto close = [&] {
      SaturatingAdd(&call.latency_ns, LengthOf(running));
      SaturatingAdd(&call.exposed_ns, compute_->OutsideOf(running));
    };
    for (const Member& member : members.subspan(1)) {
      const DeviceEvent& event = events_[member.event];
      call.end_ns = std::max(call.end_ns, event.end_ns);
      if (event.start_ns <= running.end_ns) {
        running.end_ns = std::max(running.end_ns, event.end_ns);
      } else {
        close();
        running = {event.start_ns, event.end_ns};
      }
    }
    close();
    call.step = NumberOf(run_.steps().OfEvent(first));
  }

  static void Complete(const CollectiveFacts& more, CollectiveFacts* facts) {
    if (facts->kind == CollectiveKind::kUnknown) facts->kind = more.kind;
    if (facts->dtype == ops::DType::kUnknown) facts->dtype = more.dtype;
    if (facts->group == 0) facts->group = more.group;
    if (facts->ranks == 0) facts->ranks = more.ranks;
    if (facts->group_size < 0) facts->group_size = more.group_size;
    if (facts->size_bytes < 0) facts->size_bytes = more.size_bytes;
    if (facts->sequence < 0) facts->sequence = more.sequence;
    if (facts->peer < 0) facts->peer = more.peer;
  }

  CollectiveKind KindOfName(StringId name) {
    const auto [at, fresh] = kinds_.try_emplace(name, CollectiveKind::kUnknown);
    if (fresh) {
      const auto known = ops::CommunicationKindOf(trace_.strings.View(name));
      if (known) at->second = KindOfKernel(*known);
    }
    return at->second;
  }

  /// By the innermost range that names a pass: "dispatch(F)".
  CollectiveKind KindOfRange(size_t kernel) const {
    const auto* const around = run_.joined().SurroundingsOf(static_cast<parse::WorkIndex>(kernel));
    CollectiveKind kind = CollectiveKind::kUnknown;
    if (around == nullptr) return kind;
    for (const uint32_t range : run_.joined().RangesOf(*around, parse::Around::kPaths)) {
      const std::string_view work =
          parse::WorkNamedBy(trace_.strings.View(trace_.ranges[range].text));
      if (!work.empty()) kind = KindOfCollective(work);
    }
    return kind;
  }

  void AddHost(const HostCollectives::Call& host) {
    const Range& range = trace_.ranges[host.timed];
    if (!run_.SelectsHost(range.start_ns)) return;
    CollectiveFacts facts = hosts_.FactsOf(host);
    if (facts.kind == CollectiveKind::kUnknown || facts.kind == CollectiveKind::kWait) return;
    CollectiveCall& call = calls_.emplace_back();
    call.facts = facts;
    call.start_ns = range.start_ns;
    call.end_ns = range.end_ns;
    call.time = host.on_host ? CollectiveTime::kHost : CollectiveTime::kEnqueue;
    if (host.on_host) call.latency_ns = LengthOf({range.start_ns, range.end_ns});
    call.step = NumberOf(run_.steps().OfHost(range.start_ns));
  }

  std::optional<int64_t> NumberOf(size_t step) const {
    return step == Steps::kNone ? std::nullopt : std::optional(run_.steps().all()[step].number);
  }

  const Run& run_;
  const Trace& trace_;
  std::span<const DeviceEvent> events_;
  HostCollectives hosts_;
  std::optional<ComputeTime> compute_;
  std::vector<bool> asked_;  // By host call: it has a kernel.
  std::unordered_map<size_t, CollectiveFacts> facts_;
  std::unordered_map<StringId, CollectiveKind> kinds_;
  std::vector<CollectiveCall> calls_;
};

}  // namespace

std::vector<CollectiveCall> FindCollectives(const Run& run) { return Finder(run).Find(); }

}  // namespace oplens::prof
