#ifndef OPLENS_PROF_RUN_PATH_TREE_H_
#define OPLENS_PROF_RUN_PATH_TREE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/hash.h"
#include "base/id_map.h"
#include "prof/run/text_numbers.h"

namespace oplens::prof {

/// Paths of texts, outermost first, each identified by a number: a tree that shares common
/// beginnings, so that no path is stored as a text per user. 40 bytes per path.
class PathTree {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kRoot = 0;  ///< The empty path.
  /// Deeper paths are cut, and beyond kMaxPaths a new path becomes its parent (endless nesting).
  static constexpr uint32_t kMaxDepth = 256;
  static constexpr size_t kMaxPaths = size_t{1} << 20;

  struct Node {
    uint32_t parent = kNone;  ///< Less than its own number; kNone for the root.
    uint32_t text = 0;        ///< For TextOf.
    uint32_t depth = 0;       ///< Number of texts.
  };

  PathTree() : nodes_(1) {}

  /// The number of a text.
  uint32_t NumberOf(std::string_view text) { return texts_.NumberOf(text); }
  std::string_view TextOf(uint32_t path) const { return texts_.TextOf(nodes_[path].text); }

  /// The path extended by one text; created if new.
  uint32_t ChildOf(uint32_t path, uint32_t text);
  /// As ChildOf, but kNone if there is none.
  uint32_t FindChild(uint32_t path, uint32_t text) const {
    return places_.Find(PairKey(path, text));
  }
  std::span<const Node> nodes() const { return nodes_; }
  /// Adds the paths of another tree under `front`; returns their numbers here.
  std::vector<uint32_t> Take(const PathTree& other, uint32_t front = kRoot);

  void Save(ByteWriter* bytes) const;
  /// Adds the paths of a saved tree; returns their numbers here.
  std::vector<uint32_t> Load(ByteReader* bytes);

 private:
  TextNumbers texts_;
  std::vector<Node> nodes_;
  IdMap places_;  // By parent and text.
};

/// Order for printing: parents before children, siblings by `before(a, b)`. `parents`: index of
/// each member's parent, less than its own, or PathTree::kNone. O(n log n), no recursion.
template <typename Before>
std::vector<uint32_t> TreeOrder(std::span<const uint32_t> parents, Before before) {
  std::vector<uint32_t> members(parents.size());
  for (uint32_t i = 0; i < members.size(); ++i) members[i] = i;
  // Siblings together, each group in reverse, for use as a stack. The roots come last.
  std::stable_sort(members.begin(), members.end(), [&](uint32_t a, uint32_t b) {
    return parents[a] != parents[b] ? parents[a] < parents[b] : before(b, a);
  });
  std::vector<uint32_t> first(parents.size() + 1, 0);  // Of each one's children; then the end.
  size_t next = 0;
  for (uint32_t parent = 0; parent < parents.size(); ++parent) {
    first[parent] = static_cast<uint32_t>(next);
    while (next < members.size() && parents[members[next]] == parent) ++next;
  }
  first[parents.size()] = static_cast<uint32_t>(next);
  const auto at = [&](size_t place) { return members.begin() + static_cast<ptrdiff_t>(place); };
  std::vector<uint32_t> waiting(at(next), members.end());
  std::vector<uint32_t> order;
  order.reserve(parents.size());
  while (!waiting.empty()) {
    const uint32_t member = waiting.back();
    waiting.pop_back();
    order.push_back(member);
    waiting.insert(waiting.end(), at(first[member]), at(first[member + 1]));
  }
  return order;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_PATH_TREE_H_
