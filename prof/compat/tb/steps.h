#ifndef OPLENS_PROF_COMPAT_TB_STEPS_H_
#define OPLENS_PROF_COMPAT_TB_STEPS_H_

#include <span>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/views/common/step_times.h"

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

/// When each class of TimeClass ran. By the rules of the TensorBoard plugin communication is what
/// the ranges named after a collective ("nccl:all_reduce") and their shadows on the GPU span, and
/// the kernels that have the external id of one (Trace::torch_events); other kernels are compute,
/// other shadows kCpu, and calls of the driver do not count.
ClassIntervals TbClassesOf(const Run& run);

/// Exposed and hidden are those of compute and communication, each without and with the other;
/// without any kernel what the host ran takes the place of compute. A flaw is kept: a class after
/// which nothing of any step is left does not take its time from those that follow.
std::vector<StepTimes> TbTimesOf(std::span<const Step> steps, const ClassIntervals& classes);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TB_STEPS_H_
