#include "parse/join/launched_work.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/saturating.h"
#include "parse/join/joined.h"
#include "parse/join/launch_sweep.h"
#include "parse/join/range_sweep.h"
#include "parse/join/thread_ranges.h"

namespace oplens::parse {
namespace {

using Sum = LaunchedWork::Sum;

void Add(const Sum& more, Sum* sum) {
  sum->kernels += more.kernels;
  SaturatingAdd(&sum->kernel_ns, more.kernel_ns);
}

Sum SumOf(const Kernel& kernel) {
  const bool has_time = kernel.timed() && kernel.end_ns > kernel.start_ns;
  return {1, has_time ? SaturatingDifference(kernel.end_ns, kernel.start_ns) : 0};
}

/// Sums over the ends of a list that grows (a Fenwick tree).
class TailSums {
 public:
  explicit TailSums(size_t size) : sums_(size + 1) {}
  void AddAt(size_t place, const Sum& sum) {
    for (size_t i = sums_.size() - 1 - place; i < sums_.size(); i += i & (~i + 1)) {
      Add(sum, &sums_[i]);
    }
  }
  /// Of the places from `place` on.
  Sum From(size_t place) const {
    Sum sum;
    for (size_t i = sums_.size() - 1 - place; i > 0; i -= i & (~i + 1)) Add(sums_[i], &sum);
    return sum;
  }

 private:
  std::vector<Sum> sums_;  // [0] is not used.
};

}  // namespace

LaunchedWork::LaunchedWork(const Joined& joined)
    : joined_(joined),
      bounds_(joined.trace().ranges.size() + 1, 0),
      all_(joined.trace().ranges.size()) {
  FindInnermost();
  for (size_t thread = 0; thread < joined.threads().thread_count(); ++thread) {
    SumInside(static_cast<ThreadIndex>(thread));
  }
}

void LaunchedWork::FindInnermost() {
  const Trace& trace = joined_.trace();
  std::vector<std::pair<uint32_t, WorkIndex>> found;  // Range and work.
  OpenRanges open;
  for (size_t thread = 0; thread < joined_.threads().thread_count(); ++thread) {
    open.Clear();
    size_t next = joined_.threads().BeginOf(thread);
    for (const WorkIndex work : joined_.work().Of(static_cast<ThreadIndex>(thread))) {
      const LaunchCall& call = trace.launches[joined_.work().OriginOf(work)];
      for (; next < joined_.threads().EndOf(thread) && trace.ranges[next].start_ns <= call.start_ns;
           ++next) {
        if (joined_.leaks().Has(next)) continue;
        open.Push(static_cast<uint32_t>(next), trace.ranges[next].end_ns, 0);
      }
      open.MoveTo(call.start_ns, ComparedEnd(call, trace.clock_resolution_ns));
      const uint32_t range = open.Innermost(0);
      if (range != OpenRanges::kNone) found.emplace_back(range, work);
    }
  }
  for (const auto& [range, work] : found) ++bounds_[range + 1];
  std::partial_sum(bounds_.begin(), bounds_.end(), bounds_.begin());
  work_.resize(found.size());
  std::vector<size_t> next = bounds_;
  for (const auto& [range, work] : found) work_[next[range]++] = work;
}

// The calls within a range are those that start no earlier and end no later: going on by ends, all
// that ended so far are known, and of these the ones from the range's start on count.
void LaunchedWork::SumInside(ThreadIndex thread) {
  struct Call {
    int64_t start_ns;
    int64_t end_ns;
    Sum sum;
  };
  const Trace& trace = joined_.trace();
  std::vector<Call> calls;
  for (const WorkIndex work : joined_.work().Of(thread)) {
    if (!joined_.work().IsKernel(work)) continue;
    const LaunchCall& call = trace.launches[joined_.work().OriginOf(work)];
    const int64_t end_ns = std::max(call.start_ns, ComparedEnd(call, trace.clock_resolution_ns));
    calls.push_back({call.start_ns, end_ns, SumOf(trace.kernels[work])});
  }
  if (calls.empty()) return;
  std::vector<uint32_t> by_end(calls.size());
  std::iota(by_end.begin(), by_end.end(), 0U);
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](uint32_t a, uint32_t b) { return calls[a].end_ns < calls[b].end_ns; });
  std::vector<uint32_t> ranges;
  for (size_t i = joined_.threads().BeginOf(thread); i < joined_.threads().EndOf(thread); ++i) {
    if (!joined_.leaks().Has(i)) ranges.push_back(static_cast<uint32_t>(i));
  }
  std::stable_sort(ranges.begin(), ranges.end(), [&](uint32_t a, uint32_t b) {
    return trace.ranges[a].end_ns < trace.ranges[b].end_ns;
  });
  TailSums ended(calls.size());
  size_t next = 0;
  for (const uint32_t index : ranges) {
    const Range& range = trace.ranges[index];
    for (; next < by_end.size() && calls[by_end[next]].end_ns <= range.end_ns; ++next) {
      ended.AddAt(by_end[next], calls[by_end[next]].sum);
    }
    const auto first =
        std::lower_bound(calls.begin(), calls.end(), range.start_ns,
                         [](const Call& call, int64_t start) { return call.start_ns < start; });
    all_[index] = ended.From(static_cast<size_t>(first - calls.begin()));
  }
}

LaunchedWork::Sum LaunchedWork::SelfOf(uint32_t range) const {
  Sum sum;
  for (const WorkIndex work : WorkOf(range)) {
    if (joined_.work().IsKernel(work)) Add(SumOf(joined_.trace().kernels[work]), &sum);
  }
  return sum;
}

}  // namespace oplens::parse
