#include "parse/join/thread_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/team.h"
#include "base/threads.h"

namespace oplens::parse {
namespace {

/// From so many on, threads share them.
constexpr size_t kRangesOfThreads = size_t{32} << 10;

/// Outer ranges precede those that they enclose.
bool RangeBefore(const Range& a, const Range& b) {
  return std::tie(a.start_ns, b.end_ns) < std::tie(b.start_ns, a.end_ns);
}

/// Groups the ranges by thread, keeping their order. Ranges are the largest part of many traces:
/// those of the thread with most stay in place, only the others are copied.
void GroupByThread(const std::vector<size_t>& bounds, Trace* trace) {
  std::vector<Range>* const ranges = &trace->ranges;
  const auto by_thread = [&](const Range& a, const Range& b) {
    return trace->ThreadOf(a) < trace->ThreadOf(b);
  };
  if (std::is_sorted(ranges->begin(), ranges->end(), by_thread)) return;
  const auto size_of = [&](size_t thread) { return bounds[thread + 1] - bounds[thread]; };
  size_t largest = 0;
  for (size_t thread = 1; thread + 1 < bounds.size(); ++thread) {
    if (size_of(thread) > size_of(largest)) largest = thread;
  }
  // Positions of the others, as if the largest thread had none.
  std::vector<size_t> next(bounds.begin(), bounds.end() - 1);
  for (size_t thread = largest + 1; thread < next.size(); ++thread)
    next[thread] -= size_of(largest);
  std::vector<Range> others(ranges->size() - size_of(largest));
  size_t kept = 0;
  for (const Range& range : *ranges) {
    const ThreadIndex thread = trace->ThreadOf(range);
    if (thread == largest) {
      (*ranges)[kept++] = range;
    } else {
      others[next[thread]++] = range;
    }
  }
  const auto at = [](auto first, size_t n) { return first + static_cast<std::ptrdiff_t>(n); };
  if (bounds[largest] > 0) {
    std::move_backward(ranges->begin(), at(ranges->begin(), kept),
                       at(ranges->begin(), bounds[largest + 1]));
  }
  const auto split = at(others.begin(), bounds[largest]);
  std::copy(others.begin(), split, ranges->begin());
  std::copy(split, others.end(), at(ranges->begin(), bounds[largest + 1]));
}

void Count(const Trace& trace, Reason reason, const Range& range, Diagnostics* diagnostics) {
  if (!diagnostics->KeepsExample(reason)) return diagnostics->CountMany(reason, 1);
  diagnostics->Count(reason, fmt::format("\"{}\"", trace.strings.View(range.text).substr(0, 60)));
}

}  // namespace

ThreadRanges::ThreadRanges(Trace* trace, const std::function<void()>& beside)
    : bounds_(trace->threads.size() + 1, 0) {
  const size_t others =
      trace->ranges.size() < kRangesOfThreads ? 0 : static_cast<size_t>(ThreadLimit()) - 1;
  Team one(std::min<size_t>(others, 1));
  one.Begin(1, [&](size_t) { beside(); });
  for (const Range& range : trace->ranges) ++bounds_[trace->ThreadOf(range) + 1];
  for (size_t thread = 1; thread < bounds_.size(); ++thread) bounds_[thread] += bounds_[thread - 1];
  GroupByThread(bounds_, trace);
  Team team(std::min(std::max<size_t>(thread_count(), 1) - 1, others));
  team.Each(thread_count(), [&](size_t thread) {
    const auto at = [&](size_t range) {
      return trace->ranges.begin() + static_cast<std::ptrdiff_t>(range);
    };
    const auto first = at(BeginOf(thread));
    const auto last = at(EndOf(thread));
    if (!std::is_sorted(first, last, RangeBefore)) std::stable_sort(first, last, RangeBefore);
  });
  one.Join();
}

LeakedRanges::LeakedRanges(const Trace& trace, const ThreadRanges& threads, RangeTexts* texts,
                           Diagnostics* diagnostics)
    : since_(threads.thread_count(), kNeverClosed) {
  std::vector<uint32_t> open_count(trace.strings.size(), 0);  // By text, of one thread.
  for (size_t thread = 0; thread < threads.thread_count(); ++thread) {
    const std::span ranges(trace.ranges.data() + threads.BeginOf(thread),
                           trace.ranges.data() + threads.EndOf(thread));
    bool any = false;
    for (const Range& range : ranges) {
      if (!range.open()) continue;
      ++open_count[range.text];
      any = true;
    }
    if (!any) continue;
    Mark(trace, threads.BeginOf(thread), threads.EndOf(thread), open_count, texts, diagnostics);
    for (const Range& range : ranges) open_count[range.text] = 0;
  }
}

void LeakedRanges::Mark(const Trace& trace, size_t begin, size_t end,
                        std::span<const uint32_t> open_count, RangeTexts* texts,
                        Diagnostics* diagnostics) {
  for (size_t i = begin; i < end; ++i) {
    const Range& range = trace.ranges[i];
    if (!range.open()) continue;
    if (open_count[range.text] > kMaxOpenOfOneText) {
      leaked_.resize(trace.ranges.size(), false);
      leaked_[i] = true;
      int64_t& since = since_[trace.ThreadOf(range)];
      since = std::min(since, range.start_ns);
      Count(trace, Reason::kLeakedRange, range, diagnostics);
    } else {
      texts->MarkOpen(range.text);
      Count(trace, Reason::kOpenRange, range, diagnostics);
    }
  }
}

}  // namespace oplens::parse
