#include "prof/views/collective_groups.h"

namespace oplens::prof {

uint32_t CollectiveGroups::NumberOf(const CollectiveGroup& group) {
  const auto [at, fresh] = numbers_.try_emplace(group, static_cast<uint32_t>(groups_.size()));
  if (fresh) groups_.push_back(&at->first);
  return at->second;
}

std::vector<uint32_t> CollectiveGroups::Merge(const CollectiveGroups& other) {
  std::vector<uint32_t> numbers;
  numbers.reserve(other.size());
  for (const CollectiveGroup* group : other.groups_) numbers.push_back(NumberOf(*group));
  return numbers;
}

void CollectiveGroups::Save(ByteWriter* bytes) const {
  bytes->Number(groups_.size());
  for (const CollectiveGroup* group : groups_) bytes->Values(group);
}

std::vector<uint32_t> CollectiveGroups::Load(ByteReader* bytes) {
  std::vector<uint32_t> numbers;
  for (size_t left = bytes->Size(3); left > 0; --left) {
    CollectiveGroup group;
    bytes->Values(&group);
    numbers.push_back(NumberOf(group));
  }
  return numbers;
}

}  // namespace oplens::prof
