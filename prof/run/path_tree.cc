#include "prof/run/path_tree.h"

namespace oplens::prof {

uint32_t PathTree::ChildOf(uint32_t path, uint32_t text) {
  const uint32_t depth = nodes_[path].depth;
  if (depth >= kMaxDepth || nodes_.size() >= kMaxPaths) {
    const uint32_t known = FindChild(path, text);
    return known == kNone ? path : known;
  }
  const auto next = static_cast<uint32_t>(nodes_.size());
  const uint32_t child = places_.FindOrInsert(PairKey(path, text), next);
  if (child == next) nodes_.push_back({path, text, depth + 1});
  return child;
}

std::vector<uint32_t> PathTree::Take(const PathTree& other, uint32_t front) {
  std::vector<uint32_t> numbers = {front};
  numbers.reserve(other.nodes_.size());
  for (uint32_t i = 1; i < other.nodes_.size(); ++i) {
    numbers.push_back(ChildOf(numbers[other.nodes_[i].parent], NumberOf(other.TextOf(i))));
  }
  return numbers;
}

void PathTree::Save(ByteWriter* bytes) const {
  bytes->Number(nodes_.size() - 1);
  for (uint32_t path = 1; path < nodes_.size(); ++path) {
    bytes->Number(path - nodes_[path].parent);
    bytes->Text(TextOf(path));
  }
}

std::vector<uint32_t> PathTree::Load(ByteReader* bytes) {
  const size_t count = bytes->Size(2);
  std::vector<uint32_t> numbers = {kRoot};
  for (size_t path = 1; path <= count; ++path) {
    const uint64_t back = bytes->Number();
    bytes->Check(back >= 1 && back <= path, "a path is in one that does not come before it");
    numbers.push_back(ChildOf(numbers[path - back], NumberOf(bytes->Text())));
  }
  return numbers;
}

}  // namespace oplens::prof
