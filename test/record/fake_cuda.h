#ifndef OPLENS_TEST_RECORD_FAKE_CUDA_H_
#define OPLENS_TEST_RECORD_FAKE_CUDA_H_

#include <stdint.h>

// A libcuda.so.1 that stands in for the CUDA driver and for CUPTI, so that all that happens between
// them and the recorder can be tested without a GPU. Programs link it; the recorder loads it as
// CUPTI (OPLENS_CUPTI). "Kernels" take the time that they are said to take, and nothing happens.
//
// Environment:
//   FAKE_CUPTI_FAIL     FUNCTION=CODE: that function of CUPTI fails with that result
//                       (cuptiActivityEnable/KIND=CODE for one kind)
//   FAKE_CUPTI_VERSION  what cuptiGetVersion says; below 130000, kernel records are those of 12.0
//   FAKE_CUPTI_HOLD     so many full buffers are kept until CUPTI is flushed
//   FAKE_CUPTI_STUCK    no flush of CUPTI comes back
//   FAKE_CUPTI_CLOCK    own: CUPTI has no callback for timestamps, and a clock that is 1 s ahead

#if defined(__cplusplus)
extern "C" {
#endif

/// Initialises the "driver": loads the library that CUDA_INJECTION64_PATH names and calls its
/// InitializeInjection, as the driver does. Returns 0, or -1 when there is none.
int fake_cuda_init(void);

/// cudaLaunchKernel: an API call of the runtime, and a kernel that starts behind it; one of a
/// negative duration never ends, and what is launched after it never starts. Returns the
/// correlation id.
uint32_t fake_cuda_launch(const char* name, int grid, int block, int64_t duration_ns);

/// cudaMemcpyAsync, host to device, and cudaMemsetAsync.
uint32_t fake_cuda_copy(uint64_t bytes);
uint32_t fake_cuda_set(uint64_t bytes);
/// cudaDeviceSynchronize.
uint32_t fake_cuda_synchronize(void);

/// cudaProfilerStart and Stop.
void fake_cuda_profiler(int start);

/// Adds a kernel to the graph that is being captured; returns the node.
void* fake_cuda_capture(const char* name);
/// Instantiates the captured graph. fake_cuda_replay() then launches all of its kernels with one
/// call.
void fake_cuda_instantiate(void);
uint32_t fake_cuda_replay(void);

/// Delivers an activity record, made by hand, as it is.
void fake_cupti_deliver(const void* record, uint64_t size);
/// How often CUPTI gave out all that it had.
uint32_t fake_cupti_flushes(void);

#if defined(__cplusplus)
}
#endif

#endif  // OPLENS_TEST_RECORD_FAKE_CUDA_H_
