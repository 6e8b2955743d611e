#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_MATCHES_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_MATCHES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "prof/views/collective_set.h"

namespace oplens::prof {

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
/// O(n log n) in calls; 80 bytes a call, and 110 more while it works.
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

  void AddRows(const CollectiveSet& set);
  /// What calls are matched by; those that can be on no other rank are left out.
  std::vector<Entry> Entries();
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

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_MATCHES_H_
