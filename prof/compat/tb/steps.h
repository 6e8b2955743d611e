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
#include "prof/run/step_times.h"

namespace oplens::prof {

/// API calls that the plugin does not see: those of the driver.
LeftOutCalls TensorBoardLeftOut(const Trace& trace);

/// The steps of a trace by the rules of the TensorBoard plugin (torch_tb_profiler 0.4.3): host
/// ranges ProfilerStep#N and, as further steps, their shadows on the GPU; without any, one step 0
/// from the first operator to the last. Work launched by driver calls has no launch. Truncated
/// steps at the end of the recording are left out.
std::vector<Step> TensorBoardSteps(const Trace& trace, const DeviceWork& work);

/// Whether the name of a range is a collective's to the plugin.
bool IsTensorBoardCollective(std::string_view name);

/// The kernel of each of `events`, indices in Trace::torch_events; UINT32_MAX if the trace has no
/// such kernel.
std::vector<uint32_t> KernelsOfEvents(const Trace& trace, std::span<const uint32_t> events);

/// When each TimeClass ran by the plugin's rules: communication is the time of ranges named after a
/// collective ("nccl:all_reduce"), of their shadows on the GPU, and of kernels with the external id
/// of one (Trace::torch_events); other kernels are compute, other shadows kCpu, and driver calls do
/// not count.
ClassIntervals TbClassesOf(const Run& run);

/// Sets exposed and hidden for compute and communication, each without and with the other; without
/// any kernel, host work takes the place of compute. Keeps a bug: once the classes so far fill all
/// steps, they no longer take time from later classes.
std::vector<StepTimes> TbTimesOf(std::span<const Step> steps, const ClassIntervals& classes);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_TB_STEPS_H_
