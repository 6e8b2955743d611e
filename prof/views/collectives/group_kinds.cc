#include "prof/views/collectives/group_kinds.h"

#include <algorithm>
#include <limits>

namespace oplens::prof {

void GroupKinds::Add(const Trace& trace) {
  world_size_ = std::max(world_size_, trace.world_size);
  for (const ProcessGroup& listed : trace.process_groups) {
    const GroupKind told = KindOfDescription(trace.strings.View(listed.description));
    if (told == GroupKind::kUnknown) continue;
    GroupShape shape = ShapeOf(listed.ranks);
    if (listed.ranks.empty()) shape.size = std::max<int64_t>(-1, listed.size);
    told_[{std::string(trace.strings.View(listed.name)), shape}].insert(told);
  }
}

void GroupKinds::AddCalls(std::span<const CollectiveRow> calls) {
  std::map<const CollectiveGroup*, uint8_t> uses;
  for (const CollectiveRow& row : calls) {
    world_size_ = std::max(world_size_, row.recording->world_size);
    uint8_t& bits = uses[row.group];
    if (row.call.kind != CollectiveKind::kUnknown) bits |= UseOf(row.call.kind);
  }
  for (const auto& [group, bits] : uses) {
    if (group->known()) uses_[*group] |= bits;
  }
}

void GroupKinds::Merge(const GroupKinds& other) {
  world_size_ = std::max(world_size_, other.world_size_);
  for (const auto& [group, bits] : other.uses_) uses_[group] |= bits;
  for (const auto& [key, kinds] : other.told_) told_[key].insert(kinds.begin(), kinds.end());
}

GroupKind GroupKinds::Of(const CollectiveGroup& group) const {
  if (!group.known()) return GroupKind::kUnknown;
  GroupShape shape;
  shape.size = group.size;
  if (const auto ranks = RanksInText(group.ranks)) shape = ShapeOf(*ranks);
  const GroupKind told = DescribedKindOf(group, shape);
  if (told != GroupKind::kUnknown) return told;
  const auto used = uses_.find(group);
  return InferGroupKind(shape, world_size_, used == uses_.end() ? uint8_t{0} : used->second);
}

// Contradictory descriptions count as none.
GroupKind GroupKinds::DescribedKindOf(const CollectiveGroup& group, const GroupShape& shape) const {
  const auto only = [](const std::set<GroupKind>& kinds) {
    return kinds.size() == 1 ? *kinds.begin() : GroupKind::kUnknown;
  };
  const auto exact = told_.find({group.name, shape});
  if (exact != told_.end()) return only(exact->second);
  // Calls and listed groups without ranks are matched by name.
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  std::set<GroupKind> kinds;
  for (auto at = told_.lower_bound({group.name, GroupShape{kFirst, kFirst, kFirst}});
       at != told_.end() && at->first.first == group.name; ++at) {
    const GroupShape& listed = at->first.second;
    const bool other_ranks = shape.first >= 0 && listed.first >= 0;
    const bool other_size = shape.size >= 0 && listed.size >= 0 && shape.size != listed.size;
    if (!other_ranks && !other_size) kinds.insert(at->second.begin(), at->second.end());
  }
  return only(kinds);
}

}  // namespace oplens::prof
