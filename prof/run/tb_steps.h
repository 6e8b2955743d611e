#ifndef OPLENS_PROF_RUN_TB_STEPS_H_
#define OPLENS_PROF_RUN_TB_STEPS_H_

#include <span>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "prof/run/device_work.h"
#include "prof/run/step.h"

namespace oplens::prof {

/// The API calls that the TensorBoard plugin does not see: those of the driver.
LeftOutCalls TensorBoardLeftOut(const Trace& trace);

/// The steps of a trace by the rules of the TensorBoard plugin (torch_tb_profiler 0.4.3): ranges
/// ProfilerStep#N of the host and, as further steps, their shadows on the GPU; without any one step
/// 0, from the first operator to the last. What a call of the driver launched is launched by
/// nothing. Steps at the end that the recording cut are left out.
std::vector<Step> TensorBoardSteps(const Trace& trace, const DeviceWork& work);

/// Whether the plugin knows a range as a collective, by its name.
bool IsTensorBoardCollective(std::string_view name);

/// For each of `events`, places in Trace::torch_events, the kernel that it is; UINT32_MAX where it
/// is none that the trace has.
std::vector<uint32_t> KernelsOfEvents(const Trace& trace, std::span<const uint32_t> events);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_TB_STEPS_H_
