#include "prof/run/memory_owners.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/saturating.h"
#include "parse/join/joined.h"
#include "parse/join/range_sweep.h"

namespace oplens::prof {
namespace {

struct MemoryOwnersMoment {
  ThreadIndex thread = 0;
  int64_t time_ns = 0;
  uint32_t event = 0;
};

/// By thread and time; without those on no thread.
std::vector<MemoryOwnersMoment> MomentsOf(const Trace& trace) {
  std::vector<MemoryOwnersMoment> moments;
  moments.reserve(trace.memory_events.size());
  for (uint32_t i = 0; i < trace.memory_events.size(); ++i) {
    const MemoryEvent& event = trace.memory_events[i];
    const bool by_call =
        event.launch < trace.launches.size() && trace.launches[event.launch].thread == event.thread;
    const int64_t time_ns = by_call ? trace.launches[event.launch].start_ns : event.time_ns;
    if (event.thread < trace.threads.size()) moments.push_back({event.thread, time_ns, i});
  }
  std::sort(
      moments.begin(), moments.end(), [](const MemoryOwnersMoment& a, const MemoryOwnersMoment& b) {
        return std::tie(a.thread, a.time_ns, a.event) < std::tie(b.thread, b.time_ns, b.event);
      });
  return moments;
}

}  // namespace

std::vector<uint32_t> MemoryOwners(const parse::Joined& joined, const parse::CallTree& calls) {
  const Trace& trace = joined.trace();
  std::vector<uint32_t> owners(trace.memory_events.size(), parse::CallTree::kNone);
  const std::span<const parse::CallTree::Call> all = calls.all();
  const auto range_of = [&](size_t call) -> const Range& { return trace.ranges[all[call].range]; };
  parse::OpenRanges open;
  const MemoryOwnersMoment* before = nullptr;
  size_t next = 0;
  size_t end = 0;
  const std::vector<MemoryOwnersMoment> moments = MomentsOf(trace);
  for (const MemoryOwnersMoment& moment : moments) {
    if (before == nullptr || before->thread != moment.thread) {
      open.Clear();
      next = calls.BeginOf(moment.thread);
      end = next + calls.Of(moment.thread).size();
    }
    before = &moment;
    for (; next < end && range_of(next).start_ns <= moment.time_ns; ++next) {
      open.Push(static_cast<uint32_t>(next), range_of(next).end_ns, 0);
    }
    // A call that ends at this moment is over.
    open.MoveTo(moment.time_ns, SaturatingSum(moment.time_ns, 1));
    owners[moment.event] = open.Innermost(0);
  }
  return owners;
}

}  // namespace oplens::prof
