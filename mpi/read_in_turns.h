#ifndef OPLENS_MPI_READ_IN_TURNS_H_
#define OPLENS_MPI_READ_IN_TURNS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mpi/world.h"
#include "prof/findings.h"
#include "prof/rank_summaries.h"

namespace oplens::mpi {

/// The result of reading an input.
struct ReadInput {
  size_t place = 0;  ///< Index among the waiting inputs.
  std::unique_ptr<prof::Findings> findings;
  std::string problem = {};   ///< Why `findings` is null.
  bool from_summary = false;  ///< From a summary: only what views found.
};

/// How to read inputs.
struct ReadingPlan {
  prof::RankSummaryPlan rank;
  std::vector<std::string> summaries;  ///< The summary file of each input; empty: none are kept.
};

/// The places of the waiting inputs by descending file size; ties in their order.
std::vector<size_t> LargestFirst(const prof::Inputs& inputs);

/// Collective. Each process repeatedly takes the largest input that no process has begun and reads
/// it in a forked process. An up-to-date summary is read instead of its input; otherwise one is
/// written as soon as the input is done. `order`: of LargestFirst(), the same everywhere. `begun`
/// (may be null) is called with the number of inputs begun by all. Returns the inputs of this
/// process, by place.
std::vector<ReadInput> ReadInTurns(World* world, prof::Inputs* inputs, const ReadingPlan& plan,
                                   const std::vector<size_t>& order,
                                   const std::function<void(size_t begun)>& begun);

}  // namespace oplens::mpi

#endif  // OPLENS_MPI_READ_IN_TURNS_H_
