#ifndef OPLENS_PARSE_JOIN_THREAD_RANGES_H_
#define OPLENS_PARSE_JOIN_THREAD_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "parse/join/range_texts.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// More ranges of one text than this open on a thread count as leaked and are ignored.
inline constexpr uint32_t kMaxOpenOfOneText = 8;

/// The positions of each thread's ranges after sorting. All parts of the join use these indices.
class ThreadRanges {
 public:
  /// Sorts the ranges of `trace`: by thread, start, outer before inner; equal ones stay in order.
  /// O(R log R), O(R) if already sorted. Temporarily copies the ranges of all threads but the
  /// largest, and half of those of a thread that are not sorted. `beside`: what another thread may
  /// do meanwhile; it must not read ranges.
  explicit ThreadRanges(
      Trace* trace, const std::function<void()>& beside = [] {});

  size_t thread_count() const { return bounds_.size() - 1; }
  size_t BeginOf(size_t thread) const { return bounds_[thread]; }
  size_t EndOf(size_t thread) const { return bounds_[thread + 1]; }

 private:
  std::vector<size_t> bounds_;  // By thread; one more at the end.
};

/// Ranges that a program opens again and again without closing: they say nothing about what
/// follows. More than kMaxOpenOfOneText of one text on a thread are leaked.
class LeakedRanges {
 public:
  /// Counts open and leaked ranges in `diagnostics`, and has `texts` prepare the display of open
  /// ones. Every text of a range must be classified.
  LeakedRanges(const Trace& trace, const ThreadRanges& threads, RangeTexts* texts,
               Diagnostics* diagnostics);

  bool Has(size_t range) const { return !leaked_.empty() && leaked_[range]; }
  /// Start of the first on a thread; kNeverClosed if it has none.
  int64_t SinceOn(size_t thread) const { return since_[thread]; }

 private:
  /// Ranges of a thread; `open_count`: its open ranges, by text.
  void Mark(const Trace& trace, size_t begin, size_t end, std::span<const uint32_t> open_count,
            RangeTexts* texts, Diagnostics* diagnostics);

  std::vector<bool> leaked_;    // By range; empty if none leaked.
  std::vector<int64_t> since_;  // By thread.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_THREAD_RANGES_H_
