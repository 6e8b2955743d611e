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

namespace oplens::prof {

class Partial;

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
/// at least three calls set them right.
///
/// The transfer needs no clocks: no rank can end a collective before the last one has come, so that
/// who came last ran it without waiting; with k of n ranks at hand it is at least that long.
///
/// Processes that have different ranks match together and find the same, whichever has which: each
/// folds its ranks into one meeting a collective, and meetings that are one meet in the process
/// that their key's hash chooses (CollectiveRounds):
///
///     counts of what is alike, by key      -> which keys are even
///     meetings: latency, ranks, first end  -> transfer, and how much later each rank ended
///     clocks are fitted here, a rank at a time
///     starts by the clock of the first     -> who came last, and what it did before
///
/// A rank is whole in one process. O(n log n) in the calls here: 4 bytes a call, 190 a meeting
/// where calls are numbered, else 110.
class CollectiveMatches {
 public:
  /// Of all ranks. `set` must outlive this object.
  explicit CollectiveMatches(const CollectiveSet& set);
  /// Of those that this process has. Throws Error where a rank is in two processes.
  CollectiveMatches(const CollectiveSet& set, Exchange* exchange);

  /// Ranks that are here.
  size_t rank_count() const { return ranks_.size(); }
  /// The calls of a rank, by their order here, by start. They point into this object and the set.
  std::vector<CollectiveRow> RowsOf(size_t rank) const;

 private:
  static constexpr uint32_t kNoMeeting = UINT32_MAX;

  /// What is alike on the ranks.
  struct Tally {
    uint32_t ranks = 0;
    uint32_t each = 0;  // Calls of a rank.
    bool uneven = false;

    void Merge(const Tally& other);
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->ranks, &self->each, &self->uneven);
    }
  };
  /// One call on all ranks.
  struct Meeting {
    int64_t shortest_ns = INT64_MAX;  // Latency.
    int64_t first_end_ns = 0;         // On the first rank whose latency is known:
    int64_t first_latency_ns = 0;
    int64_t first_clock_ns = 0;
    uint32_t first_rank = UINT32_MAX;
    uint32_t ranks = 0;
    uint32_t timed = 0;  // Ranks of known latency.
    bool has_clock = false;

    void Merge(const Meeting& other);
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->shortest_ns, &self->first_end_ns, &self->first_latency_ns,
                    &self->first_clock_ns, &self->first_rank, &self->ranks, &self->timed,
                    &self->has_clock);
    }
  };
  /// When the ranks of a meeting came, by the clock of its first.
  struct Arrivals {
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    int64_t before_last_ns = INT64_MIN;
    uint32_t last_rank = UINT32_MAX;
    BeforeCall last;  // On that rank; its work is a place in works_.
    uint32_t ranks = 0;
    bool apart = false;  // It is no meeting.

    void Merge(const Arrivals& other);
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->first_ns, &self->last_ns, &self->before_last_ns, &self->last_rank,
                    &self->last.work, &self->last.idle_permille, &self->ranks, &self->apart);
    }
  };
  /// A key, and what the ranks here have of it.
  struct Alike {
    CollectiveKey key;
    Tally tally;
    uint32_t count = 0;           // Of the rank at hand.
    uint32_t first = kNoMeeting;  // Meetings, in their order.
    uint32_t last = kNoMeeting;   // Of the rank at hand.
  };
  /// The clock of a rank by calls of a group.
  struct GroupClock {
    uint32_t group = 0;
    uint32_t first_rank = 0;
    bool same_clock = false;  // Both files tell what their clocks mean.
    ClockFit fit;

    auto key() const { return std::tie(group, first_rank, same_clock); }
  };
  struct Rank {
    const std::string* name = nullptr;
    const std::vector<CollectiveSet::Recording>* recordings = nullptr;
    uint32_t number = 0;             // Among all.
    size_t first_call = 0;           // In meeting_of_.
    std::vector<GroupClock> clocks;  // By key.
  };
  void ListRanks(Exchange* exchange);
  void ListWorks(Exchange* exchange);
  /// The calls of a rank by start, without what other ranks say.
  std::vector<CollectiveRow> CallsOf(const Rank& rank) const;
  /// What a call is matched by; nullopt for one that can be on no other rank.
  static std::optional<CollectiveKey> KeyOf(const CollectiveRow& row);
  void Gather(Rank* rank);
  /// Where a key is in alike_, new or not.
  uint32_t PlaceOf(const CollectiveKey& key);
  uint32_t NextMeeting(uint32_t place);
  /// Brings together what is even, what it met, and when; of all processes.
  void Count(Exchange* exchange);
  void Meet(Exchange* exchange);
  template <typename List>
  static void MergeMet(std::span<const uint32_t> met, CollectiveRounds* rounds, List* of);
  void SetClocks(const std::vector<CollectiveRow>& rows, Rank* rank) const;
  void Arrive(const std::vector<CollectiveRow>& rows, const Rank& rank);
  bool IsUneven(const Alike& alike) const;
  /// Whether what is alike is found on several ranks, as often on each.
  bool IsMet(const Alike& alike) const;
  /// The meeting of a call, where it waits or is waited for; else null.
  const Meeting* MeetingOf(const CollectiveRow& row, uint32_t meeting) const;
  /// How much later than on the first rank it ended, by the clocks of the files.
  static ClockLag LagOf(const CollectiveRow& row, const Meeting& meeting);
  static const GroupClock* ClockOf(const Rank& rank, const CollectiveRow& row,
                                   const Meeting& meeting);
  /// The start by the clock of the first rank's file.
  static std::optional<int64_t> ArrivalOf(const Rank& rank, const CollectiveRow& row,
                                          const Meeting& meeting);
  CollectiveShare ShareOf(const Rank& rank, const CollectiveRow& row, uint32_t meeting) const;

  const CollectiveSet& set_;
  std::vector<std::string> names_;         // Of all ranks, in their order.
  std::vector<WorkName> works_;            // Before calls of any rank, in their order.
  std::vector<uint32_t> places_of_works_;  // In works_, by number in the set.
  std::vector<Rank> ranks_;
  std::vector<uint32_t> meeting_of_;  // By call.
  std::deque<Alike> alike_;           // Grows without a copy, as what is by meeting.
  EntryIndex places_;                 // In alike_, by key.
  // By meeting:
  std::deque<Meeting> meetings_;
  std::vector<uint32_t> alike_of_;
  std::vector<uint32_t> next_;  // That is alike; kNoMeeting behind the last.
  std::vector<Arrivals> arrivals_;
};

/// Gives partials the calls of collectives of all ranks, rank by rank: Partial::AddCalls.
void GiveCalls(const CollectiveMatches& matches, std::span<Partial* const> partials);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVES_COLLECTIVE_MATCHES_H_
