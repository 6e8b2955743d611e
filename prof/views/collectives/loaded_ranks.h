#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_LOADED_RANKS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_LOADED_RANKS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "prof/verdicts/culprits.h"
#include "prof/views/collectives/collective_notes.h"
#include "prof/views/collectives/group_kinds.h"
#include "prof/views/collectives/load_maker.h"
#include "prof/views/collectives/rank_groups.h"
#include "prof/views/common/grouped_partial.h"

namespace oplens::prof {

/// The ranks of a run with what each has of its own, for views that judge them (JudgeRanks()).
class LoadedRanks {
 public:
  /// `view`: a literal; its notes begin with it.
  explicit LoadedRanks(std::string_view view) : view_(view), notes_(view) {}

  // Those of Partial:
  void Begin(const Run* run);
  void Add(const PricedKernel& kernel) {
    if (maker_) maker_->Add(kernel);
  }
  void End(const Run* run);
  std::vector<std::string> Notes() const;

  /// Takes the calls of a rank. Returns whether the rank is here.
  bool AddCalls(std::span<const CollectiveRow> calls);

  /// One entry per profile, by rank; whatever the order of merging. Valid until the next change.
  std::vector<CulpritRank> Ranks() const;

 private:
  struct Rank {
    RankGroups groups;
    std::vector<RankLoad> loads;  ///< By profile.
  };

  std::string_view view_;
  std::map<RankName, Rank> ranks_;
  GroupKinds kinds_;
  CollectiveNotes call_notes_;
  ViewNotes notes_;
  std::optional<LoadMaker> maker_;  // Of the current run.

 public:
  static constexpr std::tuple kMembers{&LoadedRanks::ranks_, &LoadedRanks::kinds_,
                                       &LoadedRanks::call_notes_, &LoadedRanks::notes_};
};

/// A partial of `Own`, whose first member is its LoadedRanks. `columns`: of its rows.
template <typename Own, const auto& columns>
class LoadedPartial : public MemberPartial<Own, columns> {
 public:
  explicit LoadedPartial(std::string_view view) : loaded_(view) {}

  void Begin(const Run* run) override { loaded_.Begin(run); }
  void Add(const PricedKernel& kernel) override { loaded_.Add(kernel); }
  void End(const Run* run) override { loaded_.End(run); }
  void AddCalls(std::span<const CollectiveRow> calls) override { loaded_.AddCalls(calls); }
  std::vector<std::string> Notes() const override { return loaded_.Notes(); }

 protected:
  LoadedRanks loaded_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_LOADED_RANKS_H_
