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

/// What became of an input.
struct ReadInput {
  size_t place = 0;  ///< Among those that wait.
  std::unique_ptr<prof::Findings> findings;
  std::string problem = {};   ///< Why there are none.
  bool from_summary = false;  ///< They hold only what views found: it was read before.
};

/// How inputs are read.
struct ReadingPlan {
  prof::RankSummaryPlan rank;          ///< What is looked for, and
  std::vector<std::string> summaries;  ///< the file of each input for it; empty: none is kept.
};

/// The places of inputs that wait, the largest file first; of equal ones in their order.
std::vector<size_t> LargestFirst(const prof::Inputs& inputs);

/// All: each process reads one input after the other, each in a process of its own, and always the
/// largest that none has begun. A summary that is up to date is read in the place of its input,
/// others are written as soon as they are done. `order`: LargestFirst(), the same on all. `begun`,
/// which may be null: called with the number of inputs that were begun by all. Answers those of
/// this process, by place.
std::vector<ReadInput> ReadInTurns(World* world, prof::Inputs* inputs, const ReadingPlan& plan,
                                   const std::vector<size_t>& order,
                                   const std::function<void(size_t begun)>& begun);

}  // namespace oplens::mpi

#endif  // OPLENS_MPI_READ_IN_TURNS_H_
