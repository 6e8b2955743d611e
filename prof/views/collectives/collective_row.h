#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_ROW_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_ROW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/saturating.h"
#include "prof/views/collectives/collective_set.h"

namespace oplens::prof {

/// How a call was found on other ranks.
enum class CollectiveMatch : uint8_t {
  kNone,
  kAlone,     ///< Its group is this rank.
  kSequence,  ///< By the number in its group.
  kOrder,     ///< By its place among those of its group that are alike.
};
constexpr size_t WordCountOf(CollectiveMatch) { return 4; }

/// Why a call was found on no other rank.
enum class CollectiveLoss : uint8_t {
  kNone,    ///< It was found, no other rank has it, or nothing says what to look for.
  kUneven,  ///< Its ranks have different counts of what is alike.
  kApart,   ///< Those in its place ran at another time.
};
constexpr size_t WordCountOf(CollectiveLoss) { return 3; }

/// What a call's other ranks say of it.
struct CollectiveShare {
  /// The shortest latency of all ranks: what the transfer took for the one that came last. -1: not
  /// known.
  int64_t transfer_ns = -1;
  /// How far the clock of this rank is ahead of that of the first rank of the call when the call
  /// ended, by the moments in which calls of this group ended on both (FitClock); where both files
  /// tell what their clocks mean.
  std::optional<int64_t> clock_ns;
  /// How much later than on the first rank it ended, clocks set right.
  std::optional<int64_t> residual_ns;
  /// How much later it began than on the rank that came first, clocks set right; nullopt where that
  /// is known of fewer than two ranks, or not of this one.
  std::optional<int64_t> arrival_ns;
  /// The rank that came last, of those of which that is known (of several the first in their
  /// order); null where arrival_ns is not known on any.
  const std::string* last_rank = nullptr;
  /// What its GPUs mostly did since its call before; null: nothing, or it is not known.
  const WorkName* last_work = nullptr;
  int32_t last_idle_permille = -1;  ///< How long of that time they did nothing; -1: not known.
  /// How much later it came than the one before it; the same.
  std::optional<int64_t> last_by_ns;
  uint32_t ranks = 1;  ///< That have the call.
  CollectiveMatch match = CollectiveMatch::kNone;
  CollectiveLoss loss = CollectiveLoss::kNone;
};

/// One call of a rank with what is known of it. What it points to belongs to who made it.
struct CollectiveRow {
  const std::string* rank = nullptr;
  const CollectiveSet::Recording* recording = nullptr;
  const CollectiveGroup* group = nullptr;
  const WorkName* work = nullptr;  ///< CollectiveSet::WorkBefore.
  CollectiveSet::Call call;
  CollectiveShare share;

  std::optional<int64_t> step() const {
    if (call.step == CollectiveSet::kNoStep) return std::nullopt;
    return recording->steps[call.step];
  }
  /// Whether no rank of which that is known came later.
  bool came_last() const { return share.last_rank != nullptr && *share.last_rank == *rank; }
  /// -1: not known.
  int64_t wait_ns() const {
    return share.transfer_ns < 0 || call.latency_ns < 0 ? -1 : call.latency_ns - share.transfer_ns;
  }
  /// How far its start is from the first event of its profile.
  int64_t since_ns() const { return SaturatingDifference(call.start_ns, recording->origin_ns); }
  /// Ranks of its group: as recorded; where no group is recorded, those of the run, where all have
  /// the call. -1: not known.
  int64_t group_size() const {
    if (group->size > 0) return group->size;
    const bool whole = !group->known() && share.match != CollectiveMatch::kNone &&
                       recording->world_size == int64_t{share.ranks};
    return whole ? recording->world_size : -1;
  }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_ROW_H_
