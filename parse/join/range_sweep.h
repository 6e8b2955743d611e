#ifndef OPLENS_PARSE_JOIN_RANGE_SWEEP_H_
#define OPLENS_PARSE_JOIN_RANGE_SWEEP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

/// The ranges of one thread that enclose the current launch call, separately by kind ("lane"),
/// outermost first.
///
/// A range that nests in those that are open costs O(1) to open and close: a stack has its end. One
/// that crosses them (start/end ranges may) costs O(log d) with d open ranges: a heap has its end.
/// A lane is a linked list; moving on costs one more step per range that ends within the call.
/// Reading one lane does not touch the others: hundreds of open free-text ranges cost nothing if
/// only ops are read.
class OpenRanges {
 public:
  static constexpr size_t kMaxLanes = 12;

  void Clear();

  /// Opens a range. Ranges must come in order of start, and before launches that start later than
  /// they do. `range` is the caller's index.
  void Push(uint32_t range, int64_t start_ns, int64_t end_ns, size_t lane);

  /// Moves on to a launch from `start_ns` to `end_ns`: removes the ranges that ended before it,
  /// hides those that end within it. Starts must not descend.
  void MoveTo(int64_t start_ns, int64_t end_ns);

  /// Number of ranges of a lane that enclose the launch.
  size_t CountOf(size_t lane) const { return lanes_[lane].count - lanes_[lane].hidden; }

  /// Calls f(range index) for a lane's enclosing ranges, outermost first, while f returns true.
  template <typename F>
  void ForEach(size_t lane, F f) const {
    for (uint32_t i = lanes_[lane].first; i != kNone; i = nodes_[i].next) {
      if (!nodes_[i].hidden && !f(nodes_[i].range)) return;
    }
  }

  /// Calls f(range index) for the first `outermost` and the last `innermost` enclosing ranges of a
  /// lane, outermost first, each once. Returns the number of ranges between them.
  template <typename F>
  size_t ForEachOfEnds(size_t lane, size_t outermost, size_t innermost, F f) const {
    const size_t count = CountOf(lane);
    const size_t first = count <= outermost + innermost ? count : outermost;
    size_t met = 0;
    if (first > 0) {
      ForEach(lane, [&](uint32_t range) {
        f(range);
        return ++met < first;
      });
    }
    if (first == count) return 0;
    std::vector<uint32_t> inner;
    for (uint32_t i = lanes_[lane].last; inner.size() < innermost; i = nodes_[i].previous) {
      if (!nodes_[i].hidden) inner.push_back(nodes_[i].range);
    }
    for (size_t i = inner.size(); i-- > 0;) f(inner[i]);
    return count - outermost - innermost;
  }

  /// The innermost enclosing range of a lane, or kNone.
  uint32_t Innermost(size_t lane) const {
    uint32_t i = lanes_[lane].last;
    while (i != kNone && nodes_[i].hidden) i = nodes_[i].previous;
    return i == kNone ? kNone : nodes_[i].range;
  }

  int64_t start_ns() const { return start_ns_; }  ///< Start of the last MoveTo.

  /// Changes whenever the set of enclosing ranges may have changed.
  uint64_t version() const { return version_; }

  static constexpr uint32_t kNone = UINT32_MAX;

 private:
  struct Node {
    uint32_t range = 0;
    uint32_t previous = kNone;
    uint32_t next = kNone;
    uint8_t lane = 0;
    bool hidden = false;
  };
  struct Lane {
    uint32_t first = kNone;
    uint32_t last = kNone;
    size_t count = 0;
    size_t hidden = 0;
  };
  using End = std::pair<int64_t, uint32_t>;  // end_ns, node

  void Remove(uint32_t node);
  void Hide(uint32_t node);
  void Unhide();
  void HideBelow(size_t heap_index, int64_t end_ns);

  std::array<Lane, kMaxLanes> lanes_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> free_nodes_;
  // Without never-closed ranges.
  std::vector<End> nested_;      // Ends do not ascend.
  std::vector<End> crossing_;    // Min-heap.
  std::vector<uint32_t> ended_;  // Nodes that no later launch is in.
  std::vector<uint32_t> hidden_nodes_;
  uint64_t version_ = 1;
  // Of the last MoveTo.
  uint64_t moved_version_ = 0;
  int64_t start_ns_ = 0;
  int64_t end_ns_ = 0;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_RANGE_SWEEP_H_
