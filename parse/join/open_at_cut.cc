#include "parse/join/open_at_cut.h"

#include <algorithm>
#include <limits>

#include "base/team.h"

namespace oplens::parse {
namespace {

/// Blocks that are worth a thread.
constexpr size_t kBlocksOfPart = 64;

}  // namespace

OpenAtCut::OpenAtCut(const Trace& trace, const ThreadRanges& threads, const LeakedRanges& leaks)
    : trace_(trace),
      threads_(threads),
      leaks_(leaks),
      latest_ends_((trace.ranges.size() + kBlock - 1) / kBlock,
                   std::numeric_limits<int64_t>::min()) {
  const size_t blocks = latest_ends_.size();
  InParts(blocks, CountParts(blocks, kBlocksOfPart), [&](size_t, size_t begin, size_t end) {
    for (size_t block = begin; block < end; ++block) {
      int64_t latest_ns = std::numeric_limits<int64_t>::min();
      const size_t last = std::min(trace_.ranges.size(), (block + 1) * kBlock);
      for (size_t i = block * kBlock; i < last; ++i) {
        latest_ns = std::max(latest_ns, trace_.ranges[i].end_ns);
      }
      latest_ends_[block] = latest_ns;
    }
  });
}

size_t OpenAtCut::FirstAfter(ThreadIndex thread, int64_t time_ns) const {
  const auto at = [&](size_t i) { return trace_.ranges.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto first =
      std::partition_point(at(threads_.BeginOf(thread)), at(threads_.EndOf(thread)),
                           [&](const Range& range) { return range.start_ns <= time_ns; });
  return static_cast<size_t>(first - trace_.ranges.begin());
}

void OpenAtCut::MoveTo(ThreadIndex thread, size_t next, int64_t time_ns) {
  if (thread != thread_) {
    thread_ = thread;
    seen_ = threads_.BeginOf(thread);
    open_.clear();
  }
  std::erase_if(open_, [&](uint32_t range) { return trace_.ranges[range].end_ns < time_ns; });
  while (seen_ < next) {
    const bool whole_block = seen_ % kBlock == 0 && seen_ + kBlock <= next;
    if (whole_block && latest_ends_[seen_ / kBlock] < time_ns) {
      seen_ += kBlock;
      continue;
    }
    if (trace_.ranges[seen_].end_ns >= time_ns && !leaks_.Has(seen_)) {
      open_.push_back(static_cast<uint32_t>(seen_));
    }
    ++seen_;
  }
}

}  // namespace oplens::parse
