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

/// What process 0 knows of an input, besides the findings of the views.
struct InputFacts {
  size_t place = 0;
  std::string problem = {};                        ///< Why it was not read; "": it was.
  std::unique_ptr<prof::Findings> told = nullptr;  ///< Without `summary`; null: not read.
  bool from_summary = false;                       ///< ReadInput::from_summary.
};

/// Collective. On process 0, returns the facts of all inputs by place; on the others, nothing.
std::vector<InputFacts> GatherFacts(World* world, const std::vector<ReadInput>& own);

/// Collective. Names the ranks of each input of this process, by index in `own`, as one process
/// reading all inputs in order would.
std::vector<std::vector<std::string>> NamesOfRanks(World* world, const prof::Inputs& inputs,
                                                   const std::vector<ReadInput>& own);

/// Collective. On process 0, returns the merged findings of all processes, one partial per plan,
/// with the calls of collectives matched across ranks; on the others, nothing. Merges pairwise, in
/// a fixed tree of processes. `names`: of NamesOfRanks().
std::vector<std::unique_ptr<prof::Partial>> MergeAll(
    World* world, const prof::FindOptions& find, const prof::Inputs& inputs,
    const std::vector<ReadInput>& own, const std::vector<std::vector<std::string>>& names);

}  // namespace oplens::mpi

#endif  // OPLENS_MPI_MERGE_RANKS_H_
