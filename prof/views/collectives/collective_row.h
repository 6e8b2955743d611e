#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_ROW_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_ROW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/saturating.h"
#include "prof/views/collectives/collective_set.h"

namespace oplens::prof {

enum class CollectiveMatch : uint8_t {
  kNone,
  kAlone,     ///< Its group has this rank only.
  kSequence,  ///< By its number in its group.
  kOrder,     ///< By its order among its group's similar calls.
};
constexpr size_t WordCountOf(CollectiveMatch) { return 4; }

/// Why a call was matched on no other rank.
enum class CollectiveLoss : uint8_t {
  kNone,    ///< It was matched, no other rank has it, or there is no key to match by.
  kUneven,  ///< Its ranks have different counts of similar calls.
  kApart,   ///< Its counterparts ran at another time.
};
constexpr size_t WordCountOf(CollectiveLoss) { return 3; }

/// What the other ranks add to a call.
struct CollectiveShare {
  /// Shortest latency of all ranks: the transfer time of the last rank to arrive. -1: unknown.
  int64_t transfer_ns = -1;
  /// How far this rank's clock was ahead of that of the call's first rank when the call ended,
  /// fitted to the ends of this group's calls (FitClock). Set only if both files record what their
  /// clocks mean.
  std::optional<int64_t> clock_ns;
  /// How much later than on the first rank it ended, on aligned clocks.
  std::optional<int64_t> residual_ns;
  /// How much later it began than on the earliest rank, on aligned clocks; nullopt if unknown for
  /// this rank or known for fewer than two.
  std::optional<int64_t> arrival_ns;
  /// The last rank to arrive, of those whose arrival is known (of several the first in rank order);
  /// null if arrival_ns is unknown on all ranks.
  const std::string* last_rank = nullptr;
  /// Main work of its GPUs since its previous call; null: none or unknown.
  const WorkName* last_work = nullptr;
  int32_t last_idle_permille = -1;  ///< Share of that time without work; -1: unknown.
  /// How much later than the last but one it arrived; set as arrival_ns is.
  std::optional<int64_t> last_by_ns;
  /// The same for all calls that are one collective, and for no other: the number of the first
  /// rank's call among all calls of the run, by rank and start, from 1. -1: matched on no other
  /// rank.
  int64_t match_id = -1;
  uint32_t ranks = 1;  ///< Number of ranks that have the call.
  CollectiveMatch match = CollectiveMatch::kNone;
  CollectiveLoss loss = CollectiveLoss::kNone;
};

/// One call of a rank and what is known of it. Pointers are owned by its creator.
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
  /// Whether no other rank of known arrival came later.
  bool came_last() const { return share.last_rank != nullptr && *share.last_rank == *rank; }
  /// -1: unknown.
  int64_t wait_ns() const {
    return share.transfer_ns < 0 || call.latency_ns < 0 ? -1 : call.latency_ns - share.transfer_ns;
  }
  /// From the first event of its profile to its start.
  int64_t since_ns() const { return SaturatingDifference(call.start_ns, recording->origin_ns); }
  /// Number of ranks of its group, as recorded; without a recorded group, of the run, if all its
  /// ranks have the call. -1: unknown.
  int64_t group_size() const {
    if (group->size > 0) return group->size;
    const bool whole = !group->known() && share.match != CollectiveMatch::kNone &&
                       recording->world_size == int64_t{share.ranks};
    return whole ? recording->world_size : -1;
  }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_ROW_H_
