#ifndef OPLENS_MPI_MERGE_RANKS_H_
#define OPLENS_MPI_MERGE_RANKS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mpi/read_in_turns.h"
#include "mpi/world.h"
#include "prof/views/view_plan.h"

namespace oplens::mpi {

/// What process 0 is told of an input, beside what the views found.
struct ToldInput {
  size_t place = 0;
  std::string problem = {};                        ///< Why it was not read, or
  std::unique_ptr<prof::Findings> told = nullptr;  ///< what there is to say, without `summary`.
  bool from_summary = false;                       ///< ReadInput::from_summary.
};

/// All: on process 0 those of all inputs, by place; on the others nothing.
std::vector<ToldInput> TellFirst(World* world, const std::vector<ReadInput>& own);

/// All: the names of the ranks of each input of this process, by its place in `own`: as one process
/// would name them that reads all inputs in their order.
std::vector<std::vector<std::string>> NamesOfRanks(World* world, const prof::Inputs& inputs,
                                                   const std::vector<ReadInput>& own);

/// All: what the views found in the inputs of all processes, a partial a plan, with the calls of
/// collectives matched over all ranks; on the processes but 0 nothing. Pairs of processes put
/// theirs together, then pairs of pairs, always the same ones. `names`: of NamesOfRanks().
std::vector<std::unique_ptr<prof::Partial>> MergeAll(
    World* world, const prof::FindOptions& find, const prof::Inputs& inputs,
    const std::vector<ReadInput>& own, const std::vector<std::vector<std::string>>& names);

}  // namespace oplens::mpi

#endif  // OPLENS_MPI_MERGE_RANKS_H_
