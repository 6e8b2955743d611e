#ifndef OPLENS_PARSE_JOIN_FORWARD_BACKWARD_H_
#define OPLENS_PARSE_JOIN_FORWARD_BACKWARD_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parse/join/node_run.h"
#include "parse/join/range_roles.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Numbers of some ranges, 0 for the others: 1.5 bits per range plus 4 bytes per number.
class SparseNumbers {
 public:
  SparseNumbers() = default;
  /// Pairs of a range, below `ranges`, and a number, from 1; the least number of a range counts.
  SparseNumbers(size_t ranges, const std::vector<std::pair<uint32_t, uint32_t>>& numbers)
      : words_(ranges / kBits + 1, 0), before_(words_.size(), 0) {
    for (const auto& [range, number] : numbers) {
      words_[range / kBits] |= uint64_t{1} << range % kBits;
    }
    uint32_t count = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      before_[i] = count;
      count += static_cast<uint32_t>(std::popcount(words_[i]));
    }
    numbers_.assign(count, 0);
    for (const auto& [range, number] : numbers) {
      uint32_t& own = numbers_[PlaceOf(range)];
      if (own == 0 || number < own) own = number;
    }
  }

  uint32_t Of(size_t range) const {
    if (words_.empty()) return 0;
    const uint64_t word = words_[range / kBits];
    const uint64_t bit = uint64_t{1} << range % kBits;
    if ((word & bit) == 0) return 0;
    return numbers_[PlaceOf(range)];
  }

 private:
  static constexpr size_t kBits = 64;

  /// Of a range that has one.
  size_t PlaceOf(size_t range) const {
    const uint64_t bit = uint64_t{1} << range % kBits;
    const auto earlier = std::popcount(words_[range / kBits] & (bit - 1));
    return before_[range / kBits] + static_cast<uint32_t>(earlier);
  }

  std::vector<uint64_t> words_;   // A bit per range.
  std::vector<uint32_t> before_;  // How many have one before each word.
  std::vector<uint32_t> numbers_;
};

/// Decides which forward op made each node of the backward pass, for records, arrows of timelines,
/// `--check` and prices. Rules: docs/correlation.md, "Forward op of a node".
///
/// From the file:
///
///     |- mm, h 7 -|          |- MmBackward0, fh 7 -|         its call, as nvtx_annotate marked it
///     |- mm, seq 5 -| ~~~~~> |- MmBackward0, seq 5 -|        the profiler's arrow: its thread
///     |- mm, seq 5, tid 1 -| |- MmBackward0, seq 5, ftid 1 -|   the number of its thread
///
/// Else, among ops with the node's number, in its process, begun before it, the last with a fitting
/// name:
///
///     |- size, seq 5 -|  |- mm, seq 5 -|  |- MmBackward0 -|  mm: the counter stands still until
///                                                            a node is made
///     |- mm, seq 5 -|  (next iteration)  |- mm, seq 5 -|  |- MmBackward0 -|     the second
///     |- f, seq 5 -------|                                   f: no name fits a function of the
///     |  |- mul, seq 5 -| |     |- FooBackward, seq 5 -|     user; the outermost around the last
///     |- to, seq 5 -|           |- CppNode<F>, seq 5 -|      none: its op has no number
///     |- mm, seq 5 -| thread a
///     |- mm, seq 5 -| thread b  |- MmBackward0, seq 5 -|     none: several threads have one
///
/// If an op is inside one that nvtx_annotate marked, its node belongs to the marked op.
///
/// O(R + N log N) for R ranges and N nodes and ops with their numbers, most of it shared by up to
/// ThreadLimit() threads; memory: a bit per range and 4 bytes per node and op, meanwhile 4 bytes
/// per range and about 100 per node and op.
class ForwardBackward {
 public:
  /// All must outlive this object.
  ForwardBackward(const Trace& trace, const ThreadRanges& threads, const LeakedRanges& leaks,
                  const StepContexts& contexts, const RangeRoles& roles);

  /// Returns the number, from 1, of a forward op that made a node; else 0.
  uint32_t NumberOf(size_t range) const {
    return contexts_.ContextOf(range) == StepContext::kNode ? 0 : links_.Of(range);
  }
  /// Returns the forward op of a node's range; node 0 if it has none.
  NodeRun RunOf(size_t range) const {
    if (contexts_.ContextOf(range) != StepContext::kNode) return {};
    const uint32_t link = links_.Of(range);
    return link == 0 ? NodeRun() : runs_[link - 1];
  }
  /// Number of forward ops that made nodes; they are numbered from 1 to this.
  uint32_t count() const { return static_cast<uint32_t>(forwards_.size()); }
  /// Range of the forward op with that number.
  uint32_t ForwardOf(uint32_t number) const { return forwards_[number - 1]; }
  /// Call of a gradient function in a node of that op (see gradient_hints.h); kNoRange: none.
  uint32_t GradientCallOf(uint32_t number) const {
    return number > gradient_calls_.size() ? kNoRange : gradient_calls_[number - 1];
  }

  /// Returns the arrows to draw: from each forward op to the runs of its nodes, and arrows of the
  /// file that lead to no node with a number.
  std::vector<ForwardBackwardLink> Arrows(const Trace& trace) const;

 private:
  class Matcher;

  const StepContexts& contexts_;
  SparseNumbers links_;  // By range: for a node, 1 + index into runs_; else the number.
  std::vector<NodeRun> runs_;
  std::vector<uint32_t> forwards_;                 // By number - 1; ranges.
  std::vector<uint32_t> gradient_calls_;           // By number - 1, up to the last that has one.
  std::vector<ForwardBackwardLink> other_arrows_;  // From the file, to no node with a number.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_FORWARD_BACKWARD_H_
