#ifndef OPLENS_TEST_RANKS_MADE_RANKS_H_
#define OPLENS_TEST_RANKS_MADE_RANKS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/views/common/view.h"
#include "test/views/made_run.h"

namespace oplens::test {

/// What is planted in a made-up run of several ranks, each of which trains and reduces gradients
/// twice a step. Times of kernels vary by 1 to 3 %, those of steps by 5 %, and each rank comes to
/// each collective a little late by chance.
struct Plant {
  int ranks = 4;
  int steps = 60;
  uint64_t seed = 0;
  // One rank is slow in one op, in all layers or one, from a step on.
  int slow_rank = -1;
  std::string slow_op = {};
  int slow_layer = -1;
  int slow_from = 0;
  double slow_times = 1.05;
  double late_share = 0;  ///< Of a step, by which it comes late without computing more.
  // The clock of one rank is ahead by so much, and goes so much too fast.
  int clock_rank = -1;
  int64_t clock_ahead_ns = 0;
  double clock_ppm = 0;
  // One rank did not record the last collectives.
  int cut_rank = -1;
  int cut_calls = 0;
  std::vector<int> group = {};  ///< Ranks that reduce once more a step, in a group of their own.
};

/// Whether a partial has the calls of collectives when it is saved.
enum class CallsGiven { kBefore, kAfter };

/// The run of a plant, as one trace a rank.
class MadeRanks {
 public:
  static constexpr int kLayers = 4;
  static constexpr std::string_view kOps[] = {"embed", "attention", "linear", "norm"};

  explicit MadeRanks(const Plant& plant);

  /// What a view finds in all ranks, with their calls of collectives.
  std::unique_ptr<prof::Partial> Find(std::string_view view) const;
  /// The same: what is found of each rank is saved, loaded again, and merged, the last rank first.
  std::unique_ptr<prof::Partial> FindSaved(std::string_view view, CallsGiven given) const;
  std::vector<ViewRow> Rows(std::string_view view) const { return RowsOf(*Find(view)); }

 private:
  /// What is known of a kernel besides its record.
  void Name(size_t rank, prof::PricedKernel* kernel) const;
  std::unique_ptr<prof::Partial> FindRank(const prof::View& view, size_t rank) const;
  prof::CollectiveSet Calls() const;

  std::vector<std::unique_ptr<MadeRun>> runs_;
  std::vector<std::vector<int>> layers_;  // By rank and kernel; -1: none.
};

}  // namespace oplens::test

#endif  // OPLENS_TEST_RANKS_MADE_RANKS_H_
