#ifndef OPLENS_PARSE_JOIN_CALL_TREE_H_
#define OPLENS_PARSE_JOIN_CALL_TREE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;

/// The host operators and backward nodes of a trace as one tree per thread, with their host times.
/// The parent of a call is the innermost call that encloses it entirely; crossing calls are no
/// children. Self time is the total without the times in which any child ran:
///
///     |- linear ------------|      total 20, itself 20 - (5 + 8) = 7
///        |- t -| |- addmm --|      5 and 8
///
/// Excludes open and leaked ranges, and ranges that only repeat the one around them. Used only by
/// views. O(R); 32 bytes per call.
class CallTree {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Call {
    uint32_t range = 0;
    uint32_t parent = kNone;  ///< Index in the list of its thread, less than its own.
    int64_t total_ns = 0;     ///< Saturates at INT64_MAX.
    int64_t self_ns = 0;
  };

  explicit CallTree(const Joined& joined);

  /// The calls of a thread in order of start, parents before children.
  std::span<const Call> Of(ThreadIndex thread) const {
    return {calls_.data() + bounds_[thread], bounds_[thread + 1] - bounds_[thread]};
  }
  /// The calls of all threads, thread by thread, i.e. in the order of their ranges.
  std::span<const Call> all() const { return calls_; }
  /// Index in all() of a thread's first call.
  size_t BeginOf(ThreadIndex thread) const { return bounds_[thread]; }

 private:
  std::vector<Call> calls_;
  std::vector<size_t> bounds_;  // By thread; one more at the end.
};

/// Whether a range is a call of an operator or a backward node in the tree.
bool IsHostCall(const Joined& joined, uint32_t range);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_CALL_TREE_H_
