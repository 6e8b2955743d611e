#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_GROUP_KINDS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_GROUP_KINDS_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/byte_map.h"
#include "parse/model/trace.h"
#include "prof/views/collectives/collective_row.h"
#include "prof/views/collectives/process_groups.h"

namespace oplens::prof {

/// Kinds of a run's process groups, from what all its ranks record: a program's name for a group
/// takes precedence over the group's shape and use.
class GroupKinds {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->world_size_);
    TransferMap(bytes, &self->uses_,
                [self](const auto& group, uint8_t uses) { self->uses_[group] |= uses; });
    TransferMap(bytes, &self->told_, [self](const auto& group, const auto& kinds) {
      self->told_[group].insert(kinds.begin(), kinds.end());
    });
  }

  void Add(const Trace& trace);
  void AddCalls(std::span<const CollectiveRow> calls);
  void Merge(const GroupKinds& other);

  /// kUnknown for an unknown group.
  GroupKind Of(const CollectiveGroup& group) const;

 private:
  GroupKind DescribedKindOf(const CollectiveGroup& group, const GroupShape& shape) const;

  int64_t world_size_ = -1;
  std::map<CollectiveGroup, uint8_t> uses_;  // Bits of GroupUse.
  /// By name and shape: ranks may use one name for different groups.
  std::map<std::pair<std::string, GroupShape>, std::set<GroupKind>> told_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_GROUP_KINDS_H_
