#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_RANK_GROUPS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_RANK_GROUPS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "prof/views/collectives/collective_row.h"
#include "prof/views/collectives/process_groups.h"

namespace oplens::prof {

/// A short text that identifies a group (a collision is unlikely): lists of ranks may be long.
std::string GroupIdentity(const CollectiveGroup& group);

/// A process group as one of its ranks knows it.
struct RankGroup {
  GroupShape shape;
  int64_t place = -1;                    ///< Of the rank in the group, from 0; -1: unknown.
  uint8_t uses = 0;                      ///< Bits of GroupUse.
  GroupKind told = GroupKind::kUnknown;  ///< By its description.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->shape, &self->place, &self->uses, &self->told);
  }
  void Merge(const RankGroup& other);
};

/// The process groups of a rank: those that its file lists, and those of its collectives.
class RankGroups {
 public:
  /// A group with its kind, from a description (`told`) or inferred.
  struct Found {
    const std::string* name = nullptr;
    const RankGroup* group = nullptr;
    GroupKind kind = GroupKind::kUnknown;
    bool told = false;
  };

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->world_size_, &self->groups_);
  }

  void Add(const Trace& trace);
  void AddCalls(std::span<const CollectiveRow> calls);
  void Merge(const RankGroups& other);

  /// The largest group of a kind, of equal ones the first by name; nullopt if there is none.
  std::optional<Found> Of(GroupKind kind) const;
  /// The rank's pipeline stage, from 0.
  std::optional<int64_t> Stage() const;
  /// The rank's place in its groups: "data 3/8, tensor 0/2"; "" if unknown.
  std::string Place() const;
  /// The source of Place(): "told", "inferred" (at least partly), "".
  std::string_view PlaceSource() const;

 private:
  Found FoundOf(const std::string& name, const RankGroup& group) const;

  int64_t world_size_ = -1;
  std::map<std::string, RankGroup> groups_;  // By name, or by their ranks if unnamed.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_RANK_GROUPS_H_
