#ifndef OPLENS_PROF_VIEWS_STRAGGLER_RANKS_H_
#define OPLENS_PROF_VIEWS_STRAGGLER_RANKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "prof/run/text_numbers.h"
#include "prof/views/collective_row.h"
#include "prof/views/rank_groups.h"
#include "prof/views/rank_order.h"
#include "prof/views/straggler_verdict.h"
#include "prof/views/straggler_work.h"

namespace oplens::prof {

class Run;

/// What ranks computed, what they waited, and for whom.
///
/// Memory of a rank: 8 bytes a time of StragglerWork, at most kMostTimes, and its process groups.
class StragglerRanks {
 public:
  /// Of the calls of a rank that were found on other ranks.
  struct Sums {
    int64_t calls = 0;
    int64_t wait_ns = 0;
    int64_t placed_calls = 0;             ///< Of which it is known who came last.
    int64_t last_calls = 0;               ///< Of these the ones for which it did.
    int64_t idle_permille = 0;            ///< Sum of BeforeCall::idle_permille of these.
    std::map<WorkPlace, int64_t> before;  ///< How many of these each place came before.

    /// The place that came before most; of equal ones the first by text.
    std::optional<WorkPlace> MostBefore(const TextNumbers& texts) const;
  };
  /// What is shown of a rank.
  struct Row {
    const std::string* rank = nullptr;
    const Sums* sums = nullptr;
    int64_t caused_ns = 0;  ///< What others waited in calls for which it came last.
    StragglerFinding finding;
    double step_ns = 0;  ///< Mean time of its whole steps.
  };

  void Add(const Run& run, StragglerWork work);
  /// False where the rank is not there.
  bool AddCalls(std::span<const CollectiveRow> calls);
  void Merge(const StragglerRanks& other);
  /// docs/summary_format.md.
  void Save(ByteWriter* bytes) const;
  /// Into one that is empty.
  void Load(ByteReader* bytes);

  /// By rank.
  std::vector<Row> Rows() const;
  size_t size() const { return ranks_.size(); }
  TextNumbers* texts() { return &texts_; }
  const TextNumbers& text_numbers() const { return texts_; }

 private:
  struct Rank {
    std::vector<StragglerWork> works;  // Of each profile.
    RankGroups groups;
    Sums sums;
  };

  /// Numbers of texts of another become those here.
  WorkPlace Renumber(const TextNumbers& from, WorkPlace place);
  void Renumber(const TextNumbers& from, StragglerWork* work);
  void AddTo(Sums* sums, const Sums& more, const TextNumbers& from);
  /// Who came last, and what it did before.
  void AddLast(const CollectiveRow& row, Sums* sums);
  void AddWaits(std::span<const CollectiveRow> calls, StragglerWork* work, Sums* sums);

  std::map<std::string, Rank, RankBefore> ranks_;
  std::map<std::string, int64_t> caused_ns_;  // By rank that came last, of those that are here.
  TextNumbers texts_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STRAGGLER_RANKS_H_
