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

/// A short text that is the same of equal groups, and of no others but by a rare chance: lists of
/// ranks may be long.
std::string GroupIdentity(const CollectiveGroup& group);

/// A process group as one of its ranks knows it.
struct RankGroup {
  GroupShape shape;
  int64_t place = -1;                    ///< Of the rank in it, from 0; -1: not known.
  uint8_t uses = 0;                      ///< Bits of GroupUse.
  GroupKind told = GroupKind::kUnknown;  ///< By its description.

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->shape, &self->place, &self->uses, &self->told);
  }
  void Merge(const RankGroup& other);
};

/// The process groups that a rank is in: those that its file lists, and those of its collectives.
class RankGroups {
 public:
  /// A group with its kind, and whether a description tells it; else it is inferred.
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

  /// Of those of a kind the largest, of equal ones the first by name; nullopt where there is none.
  std::optional<Found> Of(GroupKind kind) const;
  /// The stage of a pipeline that the rank is, from 0.
  std::optional<int64_t> Stage() const;
  /// Where the rank is in its groups: "data 3/8, tensor 0/2"; "" where nothing is known.
  std::string Place() const;
  /// By what that is known: "told", "inferred" (of some at least), "".
  std::string_view PlaceSource() const;

 private:
  Found FoundOf(const std::string& name, const RankGroup& group) const;

  int64_t world_size_ = -1;
  std::map<std::string, RankGroup> groups_;  // By name, or by their ranks where they have none.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_RANK_GROUPS_H_
