#ifndef OPLENS_PROF_VIEWS_MEMORY_MEMORY_OP_RUN_H_
#define OPLENS_PROF_VIEWS_MEMORY_MEMORY_OP_RUN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/id_map.h"
#include "base/sums.h"
#include "prof/run/memory_life.h"
#include "prof/run/steps.h"
#include "prof/views/calls/call_groups.h"
#include "prof/views/calls/call_places.h"

namespace oplens::prof {

class Run;

/// What calls took and gave back.
struct MemoryChange {
  Balance increase_bytes;  ///< Taken less given back.
  Sum allocations;
  Sum allocated_bytes;

  static constexpr std::tuple kMembers{&MemoryChange::increase_bytes, &MemoryChange::allocations,
                                       &MemoryChange::allocated_bytes};
  void Add(const MemoryChange& other) { MergeMembers(this, other); }
  void Add(const MemoryEvent& event);
};

/// What the calls of one operator did with the memory of one device from one source.
struct MemoryOpSums {
  Sum calls;  ///< Whatever they did.
  MemoryChange self;
  MemoryChange total;  ///< With calls inside; one inside another of the same row adds nothing.
  Balance peak_bytes;
  Balance leaked_bytes;
  // Whether that is known: not where no addresses are told, or there are no steps.
  Any peak_known;
  Any leaks_known;

  static constexpr std::tuple kMembers{&MemoryOpSums::calls,        &MemoryOpSums::self,
                                       &MemoryOpSums::total,        &MemoryOpSums::peak_bytes,
                                       &MemoryOpSums::leaked_bytes, &MemoryOpSums::peak_known,
                                       &MemoryOpSums::leaks_known};
};

/// The operators of one rank by what they did with memory. O(n log n + P C) for n memory events,
/// C calls and P pools of memory, of which there are few.
class MemoryOpRun {
 public:
  /// `run` must outlive this object.
  MemoryOpRun(const Run& run, const std::vector<OperatorKey>& by);

  /// A row: calls that are alike in what they are called and split by.
  struct Row {
    enum class Kind : uint8_t {
      kCalls,
      kNoCall,  ///< Of events that happened in no call.
      kUntold,  ///< Memory whose allocation the file does not hold.
    };
    Kind kind = Kind::kCalls;
    uint32_t group = 0;  ///< Of calls.
    size_t step = Steps::kNone;
    int64_t calls = 0;
  };
  /// The texts of a row of calls: the name and those of the keys, those of step and rank left out.
  std::vector<std::string_view> TextsOf(const Row& row) const;

  /// Gives f(row, sums) the sums of each row that the memory of a pool has to do with.
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
  /// The row of what was done at a moment in a call; kNone: in none.
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
  std::vector<bool> outermost_;      // By call: no call of its row is around it.
  // Of the pool at hand.
  std::vector<MemoryOpSums> sums_;    // By row.
  std::vector<bool> touched_;         // By row.
  std::vector<MemoryChange> inside_;  // By call: its own, then with calls inside.
  std::vector<bool> changed_;         // By call: whether there is such.
  bool pairs_ = false;                // Whether it is known what became of all pieces.
};

constexpr size_t WordCountOf(MemoryOpRun::Row::Kind) { return 3; }

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_MEMORY_OP_RUN_H_
