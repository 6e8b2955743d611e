#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_RANK_VARIABLES_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_RANK_VARIABLES_H_

#include <cstddef>

// Environment variables by which launchers tell a process its place in a distributed run; stored by
// recorders, looked up by readers. C++17.

namespace oplens::markers {

/// What a variable means; all values are non-negative numbers.
enum RankFact : std::size_t {
  kRank,
  kWorldSize,
  kLocalRank,  ///< Among the processes of the node.
  kNode,
  kStep,  ///< No value; if it is missing, the others do not belong to a process of a run.
  kRankFactCount,
};

/// One row per launcher, inner launchers first: `srun` may start one `torchrun` per node. nullptr:
/// no such variable. An sbatch script has SLURM_PROCID, but is not in a step.
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
