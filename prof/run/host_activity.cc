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
#include "prof/run/data_loader.h"

namespace oplens::prof {
namespace {

constexpr size_t kTagged = static_cast<size_t>(HostDoing::kOther);

enum TextKind : uint8_t { kUnasked, kPlain, kLoader, kCollective };

TextKind HostActivityKindOf(std::string_view text) {
  if (IsDataLoaderRange(text)) return kLoader;
  return ops::IsCommunicationRange(text) ? kCollective : kPlain;
}

/// Adds to intervals by their starts; most of a thread's ranges lie in one before them.
void PushHostActivity(int64_t start_ns, int64_t end_ns, std::vector<Interval>* list) {
  if (!list->empty() && end_ns <= list->back().end_ns && start_ns >= list->back().start_ns) return;
  list->push_back({start_ns, end_ns});
}

}  // namespace

HostActivity::HostActivity(const parse::Joined& joined)
    : joined_(joined),
      threads_(joined.trace().threads.size() + 1),
      texts_(joined.trace().strings.size(), kUnasked) {
  const Trace& trace = joined.trace();
  enum : uint8_t { kUnknown, kGoesOn, kWaits };
  std::vector<uint8_t> waits(trace.strings.size(), kUnknown);
  for (const LaunchCall& call : trace.launches) {
    Thread& thread = threads_[std::min<size_t>(call.thread, threads_.size() - 1)];
    thread.first_ns = std::min(thread.first_ns, call.start_ns);
    uint8_t& known = waits[call.api];
    if (known == kUnknown) known = IsWaitingCall(trace.strings.View(call.api)) ? kWaits : kGoesOn;
    if (known == kWaits) thread.waits.push_back({call.start_ns, call.end_ns});
  }
}

const HostActivity::Thread& HostActivity::Of(ThreadIndex thread) {
  Thread& found = threads_[std::min<size_t>(thread, threads_.size() - 1)];
  if (!found.known) Find(thread, &found);
  return found;
}

void HostActivity::Find(ThreadIndex thread, Thread* found) {
  found->known = true;
  std::array<std::vector<Interval>, kTagged> lists;
  lists[static_cast<size_t>(HostDoing::kWaiting)] = std::exchange(found->waits, {});
  const parse::ThreadRanges& threads = joined_.threads();
  if (thread < threads.thread_count()) {
    const size_t end = threads.EndOf(thread);
    for (size_t i = threads.BeginOf(thread); i < end; ++i) {
      const Range& range = joined_.trace().ranges[i];
      found->first_ns = std::min(found->first_ns, range.start_ns);
      // What lies in an operator is of no interest unless it goes before it.
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
