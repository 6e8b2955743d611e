#ifndef OPLENS_PROF_VIEWS_GPU_LAUNCH_H_
#define OPLENS_PROF_VIEWS_GPU_LAUNCH_H_

#include <optional>

#include "ops/gpu/gpu.h"
#include "parse/model/trace.h"

namespace oplens::prof {

/// Blocks of a kernel's grid per multiprocessor: as recorded, else from the grid. `gpu` may be
/// null: only what is recorded.
std::optional<double> BlocksPerSm(const Trace& trace, const Kernel& kernel, const ops::Gpu* gpu);

/// Theoretical occupancy in percent: as recorded, else by registers, shared memory and block.
std::optional<double> TheoreticalOccupancyPct(const Trace& trace, const Kernel& kernel,
                                              const ops::Gpu* gpu);

/// Estimated achieved occupancy in percent: as recorded, else as Kineto estimates it: the
/// theoretical one, at most the warps of the grid per multiprocessor over the most possible.
std::optional<double> AchievedOccupancyPct(const Trace& trace, const Kernel& kernel,
                                           const ops::Gpu* gpu);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_GPU_LAUNCH_H_
