#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_SET_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_SET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "prof/run/collective_calls.h"
#include "prof/run/run.h"
#include "prof/views/rank_order.h"

namespace oplens::prof {

/// A group of ranks as it is recorded.
struct CollectiveGroup {
  std::string name;   ///< "" where it is not recorded.
  std::string ranks;  ///< "[0, 1]"; the same.
  int64_t size = -1;  ///< -1: not known.

  bool known() const { return !name.empty() || !ranks.empty(); }
  friend auto operator<=>(const CollectiveGroup&, const CollectiveGroup&) = default;
};

/// The calls of collectives of some ranks: a small record a call. What belongs to what among ranks
/// is found when all are there (CollectiveMatches).
class CollectiveSet {
 public:
  static constexpr uint32_t kNoStep = UINT32_MAX;

  /// One call on one rank; -1 is not known.
  struct Call {
    int64_t start_ns = 0;  ///< On the file's clock, as the end.
    int64_t end_ns = 0;
    int64_t latency_ns = -1;
    int64_t exposed_ns = -1;
    int64_t size_bytes = -1;
    int64_t sequence = -1;
    uint32_t step = kNoStep;  ///< Place in Recording::steps.
    uint32_t group = 0;       ///< Place in groups().
    CollectiveKind kind = CollectiveKind::kUnknown;
    CollectiveTime time = CollectiveTime::kKernel;
    ops::DType dtype = ops::DType::kUnknown;
  };
  static_assert(sizeof(Call) <= 64);

  /// One profile of a rank.
  struct Recording {
    int64_t origin_ns = 0;        ///< Its first event.
    int64_t world_size = -1;      ///< -1: not known.
    bool numbered_steps = false;  ///< Its steps have numbers of their own, the same on all ranks.
    std::optional<int64_t> clock_offset_ns;
    std::vector<int64_t> steps;  ///< Numbers.
    std::vector<Call> calls;     ///< By start.
  };

  void Add(const Run& run);
  void Merge(const CollectiveSet& other);

  using Ranks = std::map<std::string, std::vector<Recording>, RankBefore>;
  const Ranks& ranks() const { return ranks_; }
  const CollectiveGroup& GroupOf(const Call& call) const { return *groups_[call.group]; }
  size_t group_count() const { return groups_.size(); }

 private:
  uint32_t PlaceOf(const CollectiveGroup& group);

  Ranks ranks_;
  std::map<CollectiveGroup, uint32_t> places_;
  std::vector<const CollectiveGroup*> groups_;  // Keys of `places_`.
};

/// How a call was found on other ranks.
enum class CollectiveMatch : uint8_t {
  kNone,
  kAlone,     ///< Its group is this rank.
  kSequence,  ///< By the number in its group.
  kOrder,     ///< By its place among those of its group that are alike.
};

/// What a call's other ranks say of it.
struct CollectiveShare {
  /// The shortest latency of all ranks: what the transfer took for the one that came last. -1: not
  /// known.
  int64_t transfer_ns = -1;
  /// How far the clock of this rank is ahead of that of the first rank of the call, by the moments
  /// in which calls of this group ended on both (the median); where both files tell what their
  /// clocks mean.
  std::optional<int64_t> clock_ns;
  /// How much later than on the first rank it ended, clocks set right by clock_ns.
  std::optional<int64_t> residual_ns;
  uint32_t ranks = 1;  ///< That have the call.
  CollectiveMatch match = CollectiveMatch::kNone;
};

/// One call with what is known of it, for who lists them.
struct CollectiveRow {
  const std::string* rank = nullptr;
  const CollectiveSet::Recording* recording = nullptr;
  const CollectiveSet::Call* call = nullptr;
  const CollectiveGroup* group = nullptr;
  CollectiveShare share;

  std::optional<int64_t> step() const {
    if (call->step == CollectiveSet::kNoStep) return std::nullopt;
    return recording->steps[call->step];
  }
  /// -1: not known.
  int64_t wait_ns() const {
    return share.transfer_ns < 0 || call->latency_ns < 0 ? -1
                                                         : call->latency_ns - share.transfer_ns;
  }
  /// Ranks of its group: as recorded; where no group is recorded, those of the run, where all have
  /// the call. -1: not known.
  int64_t group_size() const;
};

/// Finds the calls that are one on several ranks:
///
///     rank 0   |-------------------|     latency 20   waits 12, transfers 8
///     rank 1               |-------|     latency  8   waits  0, transfers 8
///
/// by group and number in the group where that is recorded, else by order among those of the same
/// group, kind, data type and size (all_to_all: of any size, ranks send different ones), and step
/// where steps are numbered. Where ranks have different counts of these, there is no telling which
/// is missing: none is matched. Sends and receives are matched in groups of two ranks only, since
/// whom they are for is not known.
///
/// Where that makes calls one that did not run at the same time, clocks set right, none is matched:
/// the median of at least three calls sets them right.
///
/// The transfer needs no clocks: no rank can end a collective before the last one has come, so that
/// who came last ran it without waiting; with k of n ranks at hand it is at least that long.
///
/// O(n log n) in calls; 80 bytes a call while it works.
class CollectiveMatches {
 public:
  /// `set` must outlive this object.
  explicit CollectiveMatches(const CollectiveSet& set);

  /// By rank, then start.
  const std::vector<CollectiveRow>& rows() const { return rows_; }
  /// Calls whose ranks have different counts of them.
  int64_t uneven() const { return uneven_; }
  /// Calls that order makes one with calls of another time.
  int64_t apart() const { return apart_; }
  /// Whether calls were matched of which no group is recorded.
  bool guessed_group() const { return guessed_group_; }

 private:
  struct Entry;

  void MatchRun(std::vector<Entry>::const_iterator begin, std::vector<Entry>::const_iterator end);
  void MatchOne(std::vector<Entry>::const_iterator begin, size_t ranks, size_t stride);
  void AlignClocks();
  void PartDistant();

  /// How much later a call ended than on the first rank that has it.
  struct EndLag {
    uint32_t group = 0;
    uint32_t first_rank = 0;
    uint32_t rank = 0;
    uint32_t row = 0;
    uint32_t first_row = 0;
    int64_t lag_ns = 0;
    bool same_clock = false;  ///< Both files tell what their clocks mean.

    /// Of lags with equal ones the median sets the clocks right.
    auto clocks() const { return std::tie(group, first_rank, rank, same_clock); }
    bool SameClocks(const EndLag& other) const { return clocks() == other.clocks(); }
  };

  std::vector<CollectiveRow> rows_;
  std::vector<uint32_t> rank_of_;   // By row: which rank in their order.
  std::vector<uint32_t> first_of_;  // By row: the first row that is the same call.
  std::vector<EndLag> lags_;
  int64_t uneven_ = 0;
  int64_t apart_ = 0;
  bool guessed_group_ = false;
};

/// What a reader of the matches must know.
std::vector<std::string> MatchNotes(const CollectiveSet& set, const CollectiveMatches& matches);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_SET_H_
