#ifndef OPLENS_PROF_VIEWS_MEMORY_MEMORY_OP_RUN_H_
#define OPLENS_PROF_VIEWS_MEMORY_MEMORY_OP_RUN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "base/sums.h"
#include "prof/run/memory_life.h"
#include "prof/run/steps.h"
#include "prof/views/calls/call_groups.h"
#include "prof/views/calls/call_places.h"

namespace oplens::prof {

class Run;

struct MemoryChange {
  Balance increase_bytes;  ///< Allocated - freed.
  Sum allocations;
  Sum allocated_bytes;

  void Add(const MemoryChange& other) { MergeMembers(this, other); }
  void Add(const MemoryEvent& event);
};

/// What the calls of one operator did with the memory of one device and source.
struct MemoryOpSums {
  Sum calls;  ///< Including those without memory.
  MemoryChange self;
  MemoryChange total;  ///< With nested calls; one inside a call of the same row adds nothing.
  Balance peak_bytes;
  Balance leaked_bytes;
  // False if no addresses are recorded, or there are no steps.
  Any peak_known;
  Any leaks_known;
};

/// The operators of one rank by their use of memory. O(n log n + P C) for n memory events, C calls
/// and P pools of memory (few).
class MemoryOpRun {
 public:
  /// `run` must outlive this object.
  MemoryOpRun(const Run& run, const std::vector<OperatorKey>& by);

  /// A row: calls of one name, split by `by`.
  struct Row {
    enum class Kind : uint8_t {
      kCalls,
      kNoCall,             ///< Events outside of calls.
      kTypesWithoutValue,  ///< Memory whose allocation is not in the file.
    };
    Kind kind = Kind::kCalls;
    uint32_t group = 0;  ///< For kCalls.
    size_t step = Steps::kNone;
    int64_t calls = 0;
  };
  /// The texts of a row of calls: the name, then its keys except step and rank.
  std::vector<std::string_view> TextsOf(const Row& row) const;

  /// Calls f(row, sums) for each row that uses the pool's memory.
  template <typename F>
  void Sum(const MemoryLife::Pool& pool, F f) {
    SumPool(pool);
    for (size_t i = 0; i < sums_.size(); ++i) {
      if (touched_[i]) f(rows_[i], sums_[i]);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void FindRows();
  uint32_t RowOf(int64_t group, size_t step, const Row& like);
  /// The row of a moment in a call; kNone for none.
  uint32_t RowAt(uint32_t call, int64_t time_ns);
  void SumPool(const MemoryLife::Pool& pool);
  void SumEvents(const MemoryLife::Pool& pool);
  void SumInside();
  void SumPieces(const MemoryLife::Pool& pool);
  MemoryOpSums& Touch(uint32_t row);

  const Run& run_;
  CallPlaces places_;
  CallGroups groups_;
  bool by_step_;
  std::vector<Row> rows_;
  IdMap row_of_;                     // By group and step.
  std::vector<uint32_t> call_rows_;  // By call.
  std::vector<bool> outermost_;      // By call: not inside a call of its row.
  // Of the current pool.
  std::vector<MemoryOpSums> sums_;    // By row.
  std::vector<bool> touched_;         // By row.
  std::vector<MemoryChange> inside_;  // By call: self, then total.
  std::vector<bool> changed_;         // By call: whether inside_ is set.
  bool pairs_ = false;                // Whether the fate of all blocks is known.
};

constexpr size_t WordCountOf(MemoryOpRun::Row::Kind) { return 3; }

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_MEMORY_OP_RUN_H_
