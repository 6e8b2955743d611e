#ifndef OPLENS_PARSE_JOIN_CALL_TREE_H_
#define OPLENS_PARSE_JOIN_CALL_TREE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;

/// The host operators and backward nodes of a trace as a tree a thread, with the time that each
/// took on the host. The parent of a call is the innermost that encloses the whole of it; calls
/// that cross it are no children. What a call spent itself is its time without that in which any
/// child ran:
///
///     |- linear ------------|      total 20, itself 20 - (5 + 8) = 7
///        |- t -| |- addmm --|      5 and 8
///
/// Open and leaked ranges are left out, and those that only repeat the one around them. For views
/// only. O(R); 32 bytes a call.
class CallTree {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Call {
    uint32_t range = 0;
    uint32_t parent = kNone;  ///< Index in the list of its thread, less than its own.
    int64_t total_ns = 0;     ///< INT64_MAX where it is more.
    int64_t self_ns = 0;
  };

  explicit CallTree(const Joined& joined);

  /// The calls of a thread in the order of their starts, parents before children.
  std::span<const Call> Of(ThreadIndex thread) const {
    return {calls_.data() + bounds_[thread], bounds_[thread + 1] - bounds_[thread]};
  }
  /// The calls of all threads, one thread after the other, which is the order of their ranges.
  std::span<const Call> all() const { return calls_; }
  /// Where those of a thread begin in all().
  size_t BeginOf(ThreadIndex thread) const { return bounds_[thread]; }

 private:
  std::vector<Call> calls_;
  std::vector<size_t> bounds_;  // By thread; one more at the end.
};

/// Whether a range is a call of an operator or a backward node that stands in the tree.
bool IsHostCall(const Joined& joined, uint32_t range);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_CALL_TREE_H_
