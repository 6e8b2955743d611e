#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_MATCHES_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_MATCHES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "prof/views/collective_row.h"
#include "prof/views/collective_set.h"

namespace oplens::prof {

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
/// O(n log n) in calls.
class CollectiveMatches {
 public:
  /// `set` must outlive this object.
  explicit CollectiveMatches(const CollectiveSet& set);

  size_t rank_count() const { return ends_.size(); }
  /// The calls of a rank, by their order, by start.
  std::span<const CollectiveRow> RowsOf(size_t rank) const;

 private:
  struct Entry;

  void AddRows(const CollectiveSet& set);
  /// What calls are matched by; those that can be on no other rank are left out.
  std::vector<Entry> Entries();
  void MatchRun(std::vector<Entry>::const_iterator begin, std::vector<Entry>::const_iterator end);
  void Lose(std::vector<Entry>::const_iterator begin, std::vector<Entry>::const_iterator end,
            CollectiveLoss loss);
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
  std::vector<size_t> ends_;        // By rank: behind its last row.
  std::vector<uint32_t> rank_of_;   // By row: which rank in their order.
  std::vector<uint32_t> first_of_;  // By row: the first row that is the same call.
  std::vector<EndLag> lags_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_MATCHES_H_
