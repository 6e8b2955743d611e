#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_RANK_VARIABLES_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_RANK_VARIABLES_H_

#include <cstddef>

// The variables of the environment by which launchers tell a process its place in a distributed
// run: recorders write them down, readers look for them. C++17.

namespace oplens::markers {

/// What a variable tells; all are numbers that are not negative.
enum RankFact : std::size_t {
  kRank,
  kWorldSize,
  kLocalRank,  ///< Among the processes of the node.
  kNode,       ///< Number of the node.
  kStep,       ///< Tells nothing; where it is missing, the others are of no process of a run.
  kRankFactCount,
};

/// A launcher a line, that of a process before that which started it: `srun` may start a `torchrun`
/// a node. nullptr: it does not tell. A script of sbatch has SLURM_PROCID, but is of no step.
inline constexpr const char* kRankVariables[][kRankFactCount] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "GROUP_RANK", nullptr},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", nullptr,
     nullptr},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", nullptr, nullptr},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", nullptr, nullptr},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_STEP_ID"},
};
inline constexpr std::size_t kLauncherCount = sizeof kRankVariables / sizeof kRankVariables[0];

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_RANK_VARIABLES_H_
