#include "prof/run/host_activity.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "ops/kernels/communication.h"
#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/waiting_calls.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"

namespace oplens::prof {
namespace {

constexpr size_t kTagged = static_cast<size_t>(HostDoing::kOther);

enum TextKind : uint8_t { kUnasked, kPlain, kLoader, kCollective };

TextKind HostActivityKindOf(std::string_view text) {
  if (IsDataLoaderRange(text)) return kLoader;
  return ops::IsCommunicationRange(text) ? kCollective : kPlain;
}

/// Adds to intervals ordered by start; most of a thread's ranges lie within an earlier one.
void PushHostActivity(int64_t start_ns, int64_t end_ns, std::vector<Interval>* list) {
  if (!list->empty() && end_ns <= list->back().end_ns && start_ns >= list->back().start_ns) return;
  list->push_back({start_ns, end_ns});
}

}  // namespace

TaggedTimes::TaggedTimes(std::vector<IntervalSet> sets) {
  while (!sets.empty() && sets.back().empty()) sets.pop_back();
  IntervalSet taken;
  for (size_t tag = 0; tag < sets.size(); ++tag) {
    if (sets[tag].empty()) continue;
    const bool last = tag + 1 == sets.size();
    if (stretches_.empty()) {
      // Most often the only one: no copy is needed.
      if (!last) taken = sets[tag];
      stretches_ = std::move(sets[tag]).Take();
      tags_.assign(stretches_.size(), static_cast<uint8_t>(tag));
      continue;
    }
    const IntervalSet left = sets[tag].Difference(taken);
    // From the back, in place: of a thread there may be several for each kernel.
    size_t from = stretches_.size();
    size_t to = from + left.intervals().size();
    // No larger than needed.
    stretches_.reserve(to);
    stretches_.resize(to);
    tags_.reserve(to);
    tags_.resize(to);
    for (auto next = left.intervals().rbegin(); next != left.intervals().rend(); ++next) {
      while (from > 0 && stretches_[from - 1].start_ns > next->start_ns) {
        stretches_[--to] = stretches_[--from];
        tags_[to] = tags_[from];
      }
      stretches_[--to] = *next;
      tags_[to] = static_cast<uint8_t>(tag);
    }
    sets[tag] = {};
    if (!last) taken = taken.Union(left);
  }
}

size_t TaggedTimes::FirstAfter(int64_t time_ns, size_t last) const {
  constexpr size_t kNear = 8;
  size_t from = std::min(last, stretches_.size());
  if (from > 0 && stretches_[from - 1].end_ns > time_ns) from = 0;
  const size_t near = std::min(from + kNear, stretches_.size());
  if (near == stretches_.size() || stretches_[near].end_ns > time_ns) {
    while (from < near && stretches_[from].end_ns <= time_ns) ++from;
    return from;
  }
  const auto found =
      std::partition_point(stretches_.begin() + static_cast<std::ptrdiff_t>(near), stretches_.end(),
                           [&](const Interval& stretch) { return stretch.end_ns <= time_ns; });
  return static_cast<size_t>(found - stretches_.begin());
}

HostActivity::HostActivity(const parse::Joined& joined, const DeviceWork& work)
    : joined_(joined),
      threads_(joined.trace().threads.size() + 1),
      texts_(joined.trace().strings.size(), kUnasked) {
  const Trace& trace = joined.trace();
  std::vector<bool> copies(trace.launches.size());
  for (const DeviceEvent& event : work.events()) {
    if (event.work != WorkClass::kCopy || !IsPageable(trace.copies[event.index])) continue;
    const LaunchIndex launch = work.LaunchOf(event);
    if (launch != kNoLaunch) copies[launch] = true;
  }
  enum : uint8_t { kUnknown, kGoesOn, kWaits };
  std::vector<uint8_t> waits(trace.strings.size(), kUnknown);
  for (LaunchIndex i = 0; i < trace.launches.size(); ++i) {
    const LaunchCall& call = trace.launches[i];
    uint8_t& known = waits[call.api];
    if (known == kUnknown) known = IsWaitingCall(trace.strings.View(call.api)) ? kWaits : kGoesOn;
    HostDoing doing = HostDoing::kApiCall;
    if (copies[i]) {
      doing = HostDoing::kPageableCopy;
    } else if (known == kWaits) {
      doing = HostDoing::kWaiting;
    } else if (LengthOf({call.start_ns, call.end_ns}) < kLongCallNs) {
      continue;
    }
    threads_[std::min<size_t>(call.thread, threads_.size() - 1)].calls.push_back({i, doing});
  }
}

HostActivity::Thread& HostActivity::Of(ThreadIndex thread) {
  Thread& found = threads_[std::min<size_t>(thread, threads_.size() - 1)];
  found.once.Do([&] {
    const std::lock_guard lock(mutex_);
    Find(thread, &found);
  });
  return found;
}

LaunchIndex HostActivity::CallAt(ThreadIndex thread, int64_t time_ns) {
  constexpr std::ptrdiff_t kMostNested = 8;
  const std::vector<LaunchCall>& launches = joined_.trace().launches;
  const std::vector<Call>& calls = Of(thread).calls;
  const auto after = std::upper_bound(
      calls.begin(), calls.end(), time_ns,
      [&](int64_t time, const Call& call) { return time < launches[call.index].start_ns; });
  LaunchIndex outermost = kNoLaunch;
  for (auto call = after; call != calls.begin() && after - call < kMostNested;) {
    --call;
    if (time_ns < launches[call->index].end_ns) outermost = call->index;
  }
  return outermost;
}

void HostActivity::Find(ThreadIndex thread, Thread* found) {
  const std::vector<LaunchCall>& launches = joined_.trace().launches;
  std::stable_sort(found->calls.begin(), found->calls.end(), [&](const Call& a, const Call& b) {
    return launches[a.index].start_ns < launches[b.index].start_ns;
  });
  std::array<std::vector<Interval>, kTagged> lists;
  for (const Call& call : found->calls) {
    lists[static_cast<size_t>(call.doing)].push_back(
        {launches[call.index].start_ns, launches[call.index].end_ns});
  }
  const parse::ThreadRanges& threads = joined_.threads();
  if (thread < threads.thread_count()) {
    const size_t end = threads.EndOf(thread);
    for (size_t i = threads.BeginOf(thread); i < end; ++i) {
      const Range& range = joined_.trace().ranges[i];
      // Within an operator, only higher priorities matter.
      const std::optional<HostDoing> doing = DoingOf(static_cast<uint32_t>(i));
      if (doing)
        PushHostActivity(range.start_ns, range.end_ns, &lists[static_cast<size_t>(*doing)]);
    }
  }
  std::vector<IntervalSet> sets;
  for (std::vector<Interval>& list : lists) sets.emplace_back(std::move(list));
  found->times = TaggedTimes(std::move(sets));
}

std::optional<HostDoing> HostActivity::DoingOf(uint32_t index) {
  const Range& range = joined_.trace().ranges[index];
  if (range.open() || range.kind == RangeKind::kFrame || range.kind == RangeKind::kModule ||
      range.kind == RangeKind::kStep || joined_.leaks().Has(index)) {
    return std::nullopt;
  }
  uint8_t& known = texts_[range.text];
  if (known == kUnasked) known = HostActivityKindOf(joined_.trace().strings.View(range.text));
  if (known == kLoader) return HostDoing::kDataLoader;
  if (known == kCollective) return HostDoing::kCommunication;
  return parse::IsHostCall(joined_, index) ? std::optional(HostDoing::kOperator) : std::nullopt;
}

}  // namespace oplens::prof
