#ifndef OPLENS_TEST_TORCH_HEADERS_2_TORCH_CSRC_PROFILER_ORCHESTRATION_OBSERVER_H_
#define OPLENS_TEST_TORCH_HEADERS_2_TORCH_CSRC_PROFILER_ORCHESTRATION_OBSERVER_H_

#include <c10/core/Allocator.h>

namespace torch::profiler::impl {

enum class ActiveProfilerType { NONE = 0, LEGACY, KINETO, NVTX, ITT, PRIVATEUSE1 };
enum class ProfilerState { Disabled = 0, CPU, CUDA, NVTX };

struct ProfilerConfig {
  explicit ProfilerConfig(ProfilerState wanted) : state(wanted) {}
  ProfilerState state;
};

struct ProfilerStateBase : public c10::MemoryReportingInfoBase {
  explicit ProfilerStateBase(ProfilerConfig config) : config_(config) {}
  virtual ActiveProfilerType profilerType() = 0;

 protected:
  ProfilerConfig config_;
};

}  // namespace torch::profiler::impl

#endif  // OPLENS_TEST_TORCH_HEADERS_2_TORCH_CSRC_PROFILER_ORCHESTRATION_OBSERVER_H_
