#include "record/cupti_advice.h"

#include <fmt/format.h>

#include <string_view>

namespace oplens::record {
namespace {

struct Advice {
  int result;  ///< CUptiResult
  const char* text;
};

constexpr char kOneProfiler[] =
    "another profiler is attached to the program, and CUPTI serves one: record without it";
constexpr char kNotOnThisGpu[] = "CUPTI cannot record on this kind of GPU or system: use another";

constexpr Advice kAdvice[] = {
    {7, "CUPTI is in another profiler's use, or the driver is too old for it: update the driver"},
    {8, "CUPTI had no memory: leave it some"},
    {15,
     "CUPTI does not fit the driver: name the one of the CUDA version that nvidia-smi shows with "
     "OPLENS_CUPTI"},
    {23, kOneProfiler},
    {27, kNotOnThisGpu},
    {33, kNotOnThisGpu},
    {35,
     "the driver lets administrators only see GPU activity: set its module option "
     "NVreg_RestrictProfilingToAdminUsers=0, or run as root or with CAP_SYS_ADMIN"},
    {36, kOneProfiler},
    {39, kOneProfiler},
    {40, "the hypervisor does not allow it: ask for profiling to be enabled for this virtual GPU"},
    {41, "the GPU is in confidential computing mode, which forbids it: leave that mode"},
    {42, kNotOnThisGpu},
    {43, kNotOnThisGpu},
    {44, kNotOnThisGpu},
    {45, kNotOnThisGpu},
    {999,
     "the driver did not answer CUPTI: see whether nvidia-smi works, and name the CUPTI of its "
     "CUDA "
     "version with OPLENS_CUPTI"},
};

constexpr char kGetCupti[] =
    "install the CUPTI of the CUDA version that nvidia-smi shows, 11.1 or newer, or name it with "
    "OPLENS_CUPTI";

std::string_view AdviceFor(int result) {
  for (const Advice& advice : kAdvice) {
    if (advice.result == result) return advice.text;
  }
  return kGetCupti;
}

}  // namespace

std::string CuptiAdvice(const ProcessSummary& process) {
  if (process.cupti_result != 0) {
    return fmt::format("no GPU activity was recorded: {}: {} ({}); {}", process.cupti_step,
                       process.cupti_message, process.cupti_result,
                       AdviceFor(process.cupti_result));
  }
  if (process.cupti_version != 0) {
    return fmt::format("no GPU activity was recorded: CUPTI {} is {}; {}", process.cupti_version,
                       process.cupti_message, kGetCupti);
  }
  return fmt::format("no GPU activity was recorded: {} {}; {}", process.cupti_step,
                     process.cupti_message, kGetCupti);
}

}  // namespace oplens::record
