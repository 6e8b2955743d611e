#ifndef OPLENS_PARSE_JOIN_THREAD_RANGES_H_
#define OPLENS_PARSE_JOIN_THREAD_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/join/range_texts.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// How many ranges of one text may stay open on a thread before they count as a leak and are left
/// out.
inline constexpr int64_t kMaxOpenOfOneText = 8;

/// Where the ranges of each thread stand, once they are sorted. The same numbers of ranges are used
/// wherever a trace is joined.
class ThreadRanges {
 public:
  /// Sorts the ranges of `trace`: those of a thread together, by start, outer before inner, equal
  /// ones in the order of their opening. O(R log R), O(R) where they are sorted already;
  /// meanwhile a copy of those that are not of the thread with most.
  explicit ThreadRanges(Trace* trace);

  size_t thread_count() const { return bounds_.size() - 1; }
  size_t BeginOf(size_t thread) const { return bounds_[thread]; }
  size_t EndOf(size_t thread) const { return bounds_[thread + 1]; }

 private:
  std::vector<size_t> bounds_;  // By thread; one more at the end.
};

/// Ranges that a program opens again and again and never closes: they prove nothing of what
/// follows. More than kMaxOpenOfOneText of one text on a thread are such.
class LeakedRanges {
 public:
  /// Counts open and leaked ranges in `diagnostics`, and has `texts` prepare what is shown of the
  /// open ones. Every text of a range is classified.
  LeakedRanges(const Trace& trace, const ThreadRanges& threads, RangeTexts* texts,
               Diagnostics* diagnostics);

  bool Has(size_t range) const { return !leaked_.empty() && leaked_[range]; }
  /// Start of the first on a thread; kNeverClosed when it has none.
  int64_t SinceOn(size_t thread) const { return since_[thread]; }

 private:
  void Mark(const Trace& trace, size_t begin, size_t end, RangeTexts* texts,
            Diagnostics* diagnostics);

  std::vector<bool> leaked_;    // By range; empty where nothing leaked.
  std::vector<int64_t> since_;  // By thread.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_THREAD_RANGES_H_
