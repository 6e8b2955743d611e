#include "examples/demo_profile.h"

#include <fmt/format.h>

#include <cstdint>

#include "examples/demo_kernels.h"
#include "examples/training_step.h"
#include "test/support/trace_script.h"

namespace oplens::examples {
namespace {

constexpr int64_t kProcess = 4242;
constexpr int64_t kMainThread = 3940300608;  // Above 2^31: the API tables store it as negative.
constexpr int64_t kAutogradThread = 452974336;
constexpr int64_t kStartNs = 1'600'000'000'000'000'000;

// The batch goes to the device: what a profile holds beside kernels.
void CopyBatch(test::HostThread* thread, test::NvprofBuilder* builder) {
  constexpr int64_t kMemcpyAsync = 41;
  constexpr int64_t kHostToDevice = 1;
  constexpr int64_t kPinned = 2;
  constexpr int64_t kDevice = 3;
  const int64_t correlation_id = thread->CallApi(kMemcpyAsync);
  builder->Add("MEMCPY", {{"copyKind", kHostToDevice},
                          {"srcKind", kPinned},
                          {"dstKind", kDevice},
                          {"flags", int64_t{1}},
                          {"bytes", int64_t{8192}},
                          {"start", thread->now_ns()},
                          {"end", thread->now_ns() + 2144},
                          {"contextId", int64_t{1}},
                          {"streamId", int64_t{7}},
                          {"correlationId", correlation_id}});
}

void Synchronize(test::HostThread* thread, test::NvprofBuilder* builder, int64_t device_free_ns) {
  constexpr int64_t kDeviceSynchronize = 165;
  constexpr int64_t kContext = 4;
  const int64_t start = thread->now_ns();
  const int64_t correlation_id = thread->CallApi(kDeviceSynchronize);
  thread->WaitUntil(device_free_ns);
  builder->Add("SYNCHRONIZATION", {{"type", kContext},
                                   {"start", start},
                                   {"end", thread->now_ns()},
                                   {"correlationId", correlation_id},
                                   {"contextId", int64_t{1}},
                                   {"cudaEventId", int64_t{-1}}});
}

void Play(test::NvprofBuilder* builder) {
  test::ScriptState state{.builder = builder, .process_id = kProcess};
  test::AddDevice(builder, kProcess);
  test::HostThread main(&state, kMainThread, kStartNs);
  test::HostThread autograd(&state, kAutogradThread, kStartNs);

  main.Instant("profile start");
  const test::ScriptRange epoch(&main, "epoch 0");
  int64_t seq = 101;
  for (int step = 0; step < 2; ++step) {
    if (step == 1) main.PushAndLeak("prefetch");
    const test::ScriptRange range(&main, fmt::format("step {}", step));
    CopyBatch(&main, builder);
    TrainingStep training(&main, &autograd, seq);
    training.Forward();
    training.Backward();
    if (step == 1) {
      // Its launch call is not in the profile, as happens when a buffer of the profiler overflows.
      const int64_t lost = state.next_correlation++;
      main.RunKernel({.name = kAllReduce,
                      .duration_ns = 86176,
                      .grid = {8, 1, 1},
                      .block = {256, 1, 1},
                      .registers = 80,
                      .stream = 21},
                     lost);
    }
    training.Optimizer();
    Synchronize(&main, builder, state.device_free_ns);
    seq = training.next_seq();
  }
}

}  // namespace

test::NvprofBuilder DemoProfile() {
  test::NvprofBuilder builder;
  Play(&builder);
  return builder;
}

test::NvprofOptions DemoOptions() { return {.page_size = 1024}; }

}  // namespace oplens::examples
