#ifndef OPLENS_PROF_RUN_HOST_STEPS_H_
#define OPLENS_PROF_RUN_HOST_STEPS_H_

#include <vector>

#include "prof/run/steps.h"

namespace oplens::prof {

/// The ranges ProfilerStep#N of a trace, in any order.
std::vector<HostStep> StepsOfRanges(const Trace& trace);

/// The periods of the kernels (and replays of graphs) of the GPU that ran most of them: from the
/// first launch of a period to that of the next; of the last to the end of the last call that
/// launched something. Without launches, or where a launch is of two periods, the times are those
/// on the GPU. Empty where nothing repeats (FindRepetition).
std::vector<HostStep> StepsOfRepetition(const Trace& trace, const DeviceWork& work);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_HOST_STEPS_H_
