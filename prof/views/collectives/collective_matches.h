#ifndef OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_MATCHES_H_
#define OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_MATCHES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/entry_index.h"
#include "base/exchange.h"
#include "prof/views/collectives/clock_fit.h"
#include "prof/views/collectives/collective_rounds.h"
#include "prof/views/collectives/collective_row.h"
#include "prof/views/collectives/collective_set.h"
#include "prof/views/collectives/rank_clocks.h"

namespace oplens::prof {

class Partial;

/// Matches the calls of several ranks that are one collective:
///
///     rank 0   |-------------------|     latency 20   waits 12, transfers 8
///     rank 1               |-------|     latency  8   waits  0, transfers 8
///
/// Calls match by group and number in the group if recorded, otherwise by order among those of the
/// same group, kind, data type and size (all_to_all: of any size, since ranks send different ones),
/// and step if steps are numbered. If ranks have different counts of these, it is unknown which
/// call is missing, and none is matched. Sends and receives are matched where their peer is
/// recorded (CollectiveSet makes a group of sender and receiver), and in groups of two ranks.
///
/// Calls of recordings of different runs (RunsByTime) do not match.
///
/// If this matches calls that did not run at the same time on aligned clocks, none is matched. It
/// takes at least three calls to align clocks.
///
/// The transfer time needs no clocks: no rank can end a collective before the last one arrives, so
/// the last rank does not wait. With k of n ranks its shortest latency is an upper bound.
///
/// Processes that hold different ranks match together, with the same result for any distribution:
/// each folds its ranks into one meeting per collective, and equal meetings are merged in the
/// process that their key's hash chooses (CollectiveRounds):
///
///     counts of similar calls, by key      -> which keys are even
///     meetings: latency, ranks, first end  -> transfer, and how much later each rank ended
///     clocks of ranks                      -> those of any two, for calls that do not end at once
///     clocks are fitted here, per rank and group
///     starts by the clock of the first     -> which rank came last, and what it did before
///
/// Each rank must be in one process. O(n log n) in the local calls: 4 bytes per call, and 200 per
/// meeting if calls are numbered, otherwise 120.
class CollectiveMatches {
 public:
  /// Matches all ranks. `set` must outlive this object.
  explicit CollectiveMatches(const CollectiveSet& set);
  /// Matches this process's ranks with those of the others. Throws Error if a rank is in two
  /// processes.
  CollectiveMatches(const CollectiveSet& set, Exchange* exchange);

  size_t rank_count() const { return ranks_.size(); }
  /// The calls of the `rank`-th local rank, by start. They point into this object and the set.
  std::vector<CollectiveRow> RowsOf(size_t rank) const;

 private:
  static constexpr uint32_t kNoMeeting = UINT32_MAX;
  static constexpr size_t kLeastForClock = 3;  // Calls that align clocks.

  struct Tally {
    uint32_t ranks = 0;
    uint32_t each = 0;  // Calls per rank.
    bool uneven = false;

    void Merge(const Tally& other);
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->ranks, &self->each, &self->uneven);
    }
  };
  /// One collective: a call on all its ranks.
  struct Meeting {
    int64_t shortest_ns = INT64_MAX;  // Of latencies.
    int64_t id = INT64_MAX;           // CollectiveShare::match_id: the least of its calls' numbers.
    int64_t first_end_ns = 0;         // On the first rank of known latency:
    int64_t first_latency_ns = 0;
    int64_t first_clock_ns = 0;
    uint32_t first_rank = UINT32_MAX;
    uint32_t ranks = 0;
    uint32_t timed = 0;  // Ranks of known latency.
    bool has_clock = false;

    void Merge(const Meeting& other);
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->shortest_ns, &self->id, &self->first_end_ns, &self->first_latency_ns,
                    &self->first_clock_ns, &self->first_rank, &self->ranks, &self->timed,
                    &self->has_clock);
    }
  };
  /// When the ranks of a meeting arrived, by the clock of the first.
  struct Arrivals {
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    int64_t before_last_ns = INT64_MIN;
    uint32_t last_rank = UINT32_MAX;
    BeforeCall last;  // On the last rank; its work is an index in works_.
    uint32_t ranks = 0;
    bool apart = false;  // The calls are not one collective.

    void Merge(const Arrivals& other);
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->first_ns, &self->last_ns, &self->before_last_ns, &self->last_rank,
                    &self->last.work, &self->last.idle_permille, &self->ranks, &self->apart);
    }
  };
  /// A key, and the local ranks' calls of it.
  struct Alike {
    CollectiveKey key;
    Tally tally;
    uint32_t count = 0;           // Of the current rank.
    uint32_t first = kNoMeeting;  // Meetings, in order.
    uint32_t last = kNoMeeting;   // Of the current rank.
  };
  /// Clock of a rank, fitted to the calls of a group.
  struct GroupClock {
    uint32_t group = 0;
    uint32_t first_rank = 0;
    bool same_clock = false;  // Both files record what their clocks mean.
    ClockFit fit;

    auto key() const { return std::tie(group, first_rank, same_clock); }
  };
  struct Rank {
    const std::string* name = nullptr;
    const std::vector<CollectiveSet::Recording>* recordings = nullptr;
    uint32_t number = 0;             // Among all ranks.
    int64_t run = 0;                 // RunsByTime.
    size_t first_call = 0;           // Index in meeting_of_.
    int64_t calls_before = 0;        // Calls of the ranks before it, of all processes.
    std::vector<GroupClock> clocks;  // By key.
  };
  void ListRanks(Exchange* exchange);
  void ListRuns(Exchange* exchange);
  void ListWorks(Exchange* exchange);
  /// The calls of a rank by start, without their shares.
  std::vector<CollectiveRow> CallsOf(const Rank& rank) const;
  /// The key that a call is matched by; nullopt if no other rank can have the call.
  static std::optional<CollectiveKey> KeyOf(const CollectiveRow& row);
  void Gather(Rank* rank);
  /// Index of a key in alike_, added if new.
  uint32_t PlaceOf(const CollectiveKey& key);
  uint32_t NextMeeting(uint32_t place);
  void Count(Exchange* exchange);
  void Meet(Exchange* exchange);
  template <typename List>
  static void MergeMet(std::span<const uint32_t> met, CollectiveRounds* rounds, List* of);
  /// The clocks of all ranks, if calls of any need them that do not end at once.
  RankClocks ClocksOfAll(Exchange* exchange) const;
  /// How far the clock of a rank's file is ahead of others, by calls of its own that end at once.
  void AddClocksOf(const Rank& rank, std::vector<RankClock>* known) const;
  void SetClocks(const std::vector<CollectiveRow>& rows, const RankClocks& all, Rank* rank) const;
  void Arrive(const std::vector<CollectiveRow>& rows, const Rank& rank);
  bool IsUneven(const Alike& alike) const;
  /// Whether several ranks have these calls, in equal counts.
  bool IsMet(const Alike& alike) const;
  /// The meeting of a call that waits or is waited for; otherwise null.
  const Meeting* MeetingOf(const CollectiveRow& row, uint32_t meeting) const;
  /// How much later the call ended than on the first rank, by the clocks of the files.
  static ClockLag LagOf(const CollectiveRow& row, const Meeting& meeting);
  static const GroupClock* ClockOf(const Rank& rank, const CollectiveRow& row,
                                   const Meeting& meeting);
  /// Start by the clock of the first rank's file.
  static std::optional<int64_t> ArrivalOf(const Rank& rank, const CollectiveRow& row,
                                          const Meeting& meeting);
  CollectiveShare ShareOf(const Rank& rank, const CollectiveRow& row, uint32_t meeting) const;

  const CollectiveSet& set_;
  std::vector<std::string> names_;         // Of all ranks, in rank order.
  bool several_runs_ = false;              // By their times of day.
  bool any_all_to_all_ = false;            // Of the local ranks.
  std::vector<WorkName> works_;            // Before calls of any rank, in order.
  std::vector<uint32_t> places_of_works_;  // Index in works_, by number in the set.
  std::vector<Rank> ranks_;
  std::vector<uint32_t> meeting_of_;  // By call.
  std::deque<Alike> alike_;           // Grows without copying, as does what is by meeting.
  EntryIndex places_;                 // Index in alike_, by key.
  // By meeting:
  std::deque<Meeting> meetings_;
  std::vector<uint32_t> alike_of_;
  std::vector<uint32_t> next_;  // The next similar meeting; kNoMeeting after the last.
  std::vector<Arrivals> arrivals_;
};

/// Calls Partial::AddCalls of the partials with the collective calls of each rank.
void GiveCalls(const CollectiveMatches& matches, std::span<Partial* const> partials);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_MATCHES_H_
