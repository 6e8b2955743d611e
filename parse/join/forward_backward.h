#ifndef OPLENS_PARSE_JOIN_FORWARD_BACKWARD_H_
#define OPLENS_PARSE_JOIN_FORWARD_BACKWARD_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parse/join/node_run.h"
#include "parse/join/range_roles.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Numbers of some ranges, 0 of all others: 1.5 bits a range, and 4 bytes a range that has one.
class SparseNumbers {
 public:
  SparseNumbers() = default;
  /// Pairs of a range, below `ranges`, and its number; of several of a range the least counts.
  SparseNumbers(size_t ranges, std::vector<std::pair<uint32_t, uint32_t>> numbers)
      : words_(ranges / kBits + 1, 0), before_(words_.size(), 0) {
    std::sort(numbers.begin(), numbers.end());
    numbers_.reserve(numbers.size());
    for (const auto& [range, number] : numbers) {
      const uint64_t bit = uint64_t{1} << range % kBits;
      if ((words_[range / kBits] & bit) != 0) continue;
      words_[range / kBits] |= bit;
      numbers_.push_back(number);
    }
    uint32_t count = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      before_[i] = count;
      count += static_cast<uint32_t>(std::popcount(words_[i]));
    }
  }

  uint32_t Of(size_t range) const {
    if (words_.empty()) return 0;
    const uint64_t word = words_[range / kBits];
    const uint64_t bit = uint64_t{1} << range % kBits;
    if ((word & bit) == 0) return 0;
    return numbers_[before_[range / kBits] +
                    static_cast<uint32_t>(std::popcount(word & (bit - 1)))];
  }

 private:
  static constexpr size_t kBits = 64;

  std::vector<uint64_t> words_;   // A bit a range.
  std::vector<uint32_t> before_;  // How many have one before each word.
  std::vector<uint32_t> numbers_;
};

/// Which forward op made each node of the backward pass. The one place that decides it: records,
/// arrows of timelines, `--check` and prices go by the numbers that it gives. Rules:
/// docs/correlation.md, "Forward op of a node".
///
/// The file says it:
///
///     |- mm, h 7 -|          |- MmBackward0, fh 7 -|         its call, as nvtx_annotate marked it
///     |- mm, seq 5 -| ~~~~~> |- MmBackward0, seq 5 -|        the profiler's arrow: its thread
///     |- mm, seq 5, tid 1 -| |- MmBackward0, seq 5, ftid 1 -|   the number of its thread
///
/// Of those with the node's number, in its process, begun before it, the last whose name fits:
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
/// The node of an op inside one that nvtx_annotate marked is the marked one's.
///
/// O(R + N log N) for R ranges and N nodes and ops with their numbers; a bit a range and some 40
/// bytes a node and op.
class ForwardBackward {
 public:
  /// All must outlive this object.
  ForwardBackward(const Trace& trace, const ThreadRanges& threads, const LeakedRanges& leaks,
                  const StepContexts& contexts, const RangeRoles& roles);

  /// Of a forward op that made a node: its number, from 1; else 0.
  uint32_t NumberOf(size_t range) const {
    return contexts_.ContextOf(range) == StepContext::kNode ? 0 : links_.Of(range);
  }
  /// Of the range of a node: its forward op; node 0 when it has none.
  NodeRun RunOf(size_t range) const {
    if (contexts_.ContextOf(range) != StepContext::kNode) return {};
    const uint32_t link = links_.Of(range);
    return link == 0 ? NodeRun() : runs_[link - 1];
  }
  /// How many forward ops made nodes; their numbers are 1 to this.
  uint32_t count() const { return static_cast<uint32_t>(forwards_.size()); }
  /// The range of the forward op of a number.
  uint32_t ForwardOf(uint32_t number) const { return forwards_[number - 1]; }
  /// The call of a gradient function in a node of the op of that number, kNoRange when there is
  /// none that tells anything (see gradient_hints.h).
  uint32_t GradientCallOf(uint32_t number) const {
    const auto call = gradient_calls_.find(number);
    return call == gradient_calls_.end() ? kNoRange : call->second;
  }

  /// The arrows to draw: from each forward op to the runs of its nodes, and those of the file that
  /// lead to no node with a number.
  std::vector<ForwardBackwardLink> Arrows(const Trace& trace) const;

 private:
  class Matcher;

  const StepContexts& contexts_;
  SparseNumbers links_;  // By range: of a node 1 + index into runs_, else the number.
  std::vector<NodeRun> runs_;
  std::vector<uint32_t> forwards_;                         // By number - 1; ranges.
  std::unordered_map<uint32_t, uint32_t> gradient_calls_;  // By number; ranges.
  std::vector<ForwardBackwardLink> other_arrows_;          // Of the file; to no node with a number.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_FORWARD_BACKWARD_H_
