// gpu_program SCENARIO: a program that uses the stand-in for CUDA, for tests of the recorder.
//
//   step      a step of two layers: kernels, a copy, a fill, a wait, on two threads
//   window    work before, between and after cudaProfilerStart and Stop
//   schedule  steps with a kernel and an allocation each, recorded in two cycles of two steps
//   graph     two ops captured into a graph, which is replayed twice
//   records   one activity record of every kind, each byte of it different
//   many N    N kernels in a range each
//   fork      a child calls CUDA, which it must not, and must not crash
//   unused    ranges only, without CUDA
//   endless   three kernels, of which the second never ends
//   stay      a hundred kernels; says "ready", and waits to be ended
//   leave HOW a hundred kernels, then without exit: HOW is _exit, exec or kill
//   forever FILE [MICROSECONDS]   a kernel in two ranges, again and again, with a pause; FILE holds
//             its Progress
#include <cupti.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "nvtx_annotate/schedule.h"
#include "test/record/fake_cuda.h"
#include "test/record/progress.h"

namespace {

using oplens::test::Progress;

struct Range {
  explicit Range(const char* text) { nvtxRangePushA(text); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

constexpr const char* kSgemm = "_Z9sgemm_runPfS_S_iii";
constexpr const char* kRelu = "_Z4reluPfi";

void Layer(const char* layer) {
  const Range outer(layer);
  {
    const Range op(
        "{'mod': 'torch.nn.functional', 'op': 'linear', 'args': [{'name': '', 'type': 'tensor', "
        "'shape': (64, 128), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': (256, "
        "128), 'dtype': 'float32'}]}");
    fake_cuda_launch(kSgemm, 8, 256, 20'000);
  }
  const Range op(
      "{'mod': 'torch.nn.functional', 'op': 'relu', 'args': [{'name': '', 'type': 'tensor', "
      "'shape': (64, 256), 'dtype': 'float32'}]}");
  fake_cuda_launch(kRelu, 64, 256, 5'000);
}

void Step() {
  fake_cuda_copy(4096);
  fake_cuda_set(1024);
  Layer("layer:first");
  std::thread other([] { Layer("layer:second"); });
  other.join();
  fake_cuda_launch("outside", 1, 1, 1000);
  fake_cuda_synchronize();
}

void Window() {
  const Range outer("whole run");
  {
    const Range range("before");
    fake_cuda_launch("before", 1, 1, 1000);
  }
  fake_cuda_profiler(1);
  {
    const Range range("between");
    fake_cuda_launch("between", 1, 1, 1000);
  }
  nvtxRangePushA("goes on");
  fake_cuda_profiler(0);
  nvtxRangePop();
  const Range range("after");
  fake_cuda_launch("after", 1, 1, 1000);
}

/// Steps 2 and 3, 6 and 7 are recorded. Each kernel runs longer than a step.
void Scheduled() {
  fake_cuda_launch("early", 1, 1, 1000);
  oplens::annotate::Schedule plan;
  plan.wait = plan.warmup = 1;
  plan.active = plan.repeat = 2;
  oplens::annotate::ScheduledCapture capture(
      plan, [](int64_t cycle) { std::printf("cycle %d\n", static_cast<int>(cycle)); });
  for (int i = 0; i < 10; ++i) {
    const std::string name = "step_" + std::to_string(i);
    {
      const Range range(name.c_str());
      fake_cuda_launch(name.c_str(), 1, 1, 20'000'000);
      oplens_memory(0x1000, i % 2 == 0 ? 512 : -512, i % 2 == 0 ? 512 : 0, 4096, 1, 0);
    }
    capture.Step();
  }
}

void Graph() {
  {
    const Range range("{'mod': 'torch', 'op': 'mm', 'args': []}");
    fake_cuda_capture(kSgemm);
  }
  {
    const Range range("{'mod': 'torch', 'op': 'relu', 'args': []}");
    fake_cuda_capture(kRelu);
  }
  fake_cuda_instantiate();
  const Range range("replay");
  fake_cuda_replay();
  fake_cuda_replay();
}

/// A record whose bytes all differ from their neighbours; numbers stay positive.
template <typename Record>
Record Filled(CUpti_ActivityKind kind) {
  Record record;
  unsigned char bytes[sizeof record];
  for (size_t i = 0; i < sizeof bytes; ++i) {
    bytes[i] =
        static_cast<unsigned char>((i * 37 + i / 8 * 19 + static_cast<size_t>(kind) * 11) % 61 + 1);
  }
  std::memcpy(&record, bytes, sizeof record);
  record.kind = kind;
  return record;
}

template <typename Record>
void Deliver(const Record& record) {
  fake_cupti_deliver(&record, sizeof record);
}

template <typename Record>
void DeliverFilled(CUpti_ActivityKind kind) {
  Deliver(Filled<Record>(kind));
}

template <typename Record>
void DeliverNamed(CUpti_ActivityKind kind, const char* name) {
  auto record = Filled<Record>(kind);
  record.name = name;
  Deliver(record);
}

void Records() {
  DeliverNamed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "a kernel");
  DeliverNamed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, nullptr);
  DeliverFilled<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  auto call = Filled<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
  call.threadId = 0xEADC3740;
  Deliver(call);
  DeliverFilled<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  DeliverFilled<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  DeliverFilled<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  DeliverFilled<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  auto wait = Filled<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  wait.cudaEventId = UINT32_MAX;
  Deliver(wait);
  DeliverFilled<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  DeliverFilled<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  DeliverNamed<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE, "a device");
  DeliverFilled<CUpti_ActivityDeviceAttribute>(CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE);
  DeliverFilled<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT);
  DeliverFilled<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
  auto name = Filled<CUpti_ActivityName>(CUPTI_ACTIVITY_KIND_NAME);
  name.objectKind = CUPTI_ACTIVITY_OBJECT_DEVICE;
  name.name = "a name";
  Deliver(name);
  DeliverFilled<CUpti_ActivityPcie>(CUPTI_ACTIVITY_KIND_PCIE);
  DeliverFilled<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  DeliverFilled<CUpti_ActivityUnifiedMemoryCounter3>(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  DeliverNamed<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2, "a pool");
  // Shorter, as an older CUPTI has it; and a kind that is not kept.
  auto old = Filled<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  old.name = "an old kernel";
  fake_cupti_deliver(&old, offsetof(CUpti_ActivityKernel10, clusterX));
  DeliverFilled<CUpti_ActivityPreemption>(CUPTI_ACTIVITY_KIND_PREEMPTION);
}

void Many(int count) {
  for (int i = 0; i < count; ++i) {
    const Range range("{'mod': 'torch', 'op': 'relu', 'args': []}");
    fake_cuda_launch(kRelu, 1, 32, 1000);
  }
}

int Fork() {
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 10'000; ++i) fake_cuda_launch(kRelu, 1, 32, 1000);
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 5;
}

void Hundred() {
  for (int i = 0; i < 100; ++i) fake_cuda_launch(kRelu, 1, 32, 1000);
}

void Endless() {
  fake_cuda_launch(kRelu, 1, 32, 1000);
  fake_cuda_launch("endless", 1, 32, -1);
  fake_cuda_launch(kRelu, 1, 32, 1000);
}

void Stay() {
  Hundred();
  std::puts("ready");
  std::fflush(stdout);
  while (true) pause();
}

int Leave(const std::string& how) {
  Hundred();
  if (how == "_exit") _exit(0);
  if (how == "kill") raise(SIGKILL);
  execl("/proc/self/exe", "gpu_program", "unused", nullptr);
  return 6;
}

/// The progress in FILE, which the test has made. Null: it cannot be mapped.
Progress* MapProgress(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Progress*>(memory);
}

int Forever(Progress* progress, unsigned pause_us) {
  progress->Tell(Progress::kReady);
  for (uint32_t seen = fake_cupti_flushes();;) {
    const int64_t before = progress->ranges.load();
    {
      const Range outer("outer");
      const Range inner("inner");
      fake_cuda_launch(kRelu, 1, 32, 1000);
    }
    progress->Tell(progress->ranges.fetch_add(2) + 2);
    if (pause_us > 0) usleep(pause_us);
    // A flush since the last look gave out what was launched before that one at least.
    if (const uint32_t flushes = fake_cupti_flushes(); flushes != seen) {
      seen = flushes;
      progress->flushed_ranges.store(before);
      if (before > 0) progress->Tell(Progress::kFlushed);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenario = argc > 1 ? argv[1] : "";
  if (scenario == "unused") {
    const Range range("only a range");
    return 0;
  }
  Progress* progress = nullptr;
  if (scenario == "forever") {
    progress = argc > 2 ? MapProgress(argv[2]) : nullptr;
    if (progress == nullptr) return 4;
    progress->process_id.store(getpid());
    progress->Tell(Progress::kBegun);
  }
  if (fake_cuda_init() != 0) {
    std::fprintf(stderr, "gpu_program: no injection library\n");
    return 3;
  }
  if (scenario == "step") Step();
  if (scenario == "window") Window();
  if (scenario == "schedule") Scheduled();
  if (scenario == "graph") Graph();
  if (scenario == "records") Records();
  if (scenario == "fork") return Fork();
  if (scenario == "endless") Endless();
  if (scenario == "stay") Stay();
  if (scenario == "leave" && argc > 2) return Leave(argv[2]);
  if (progress != nullptr) {
    return Forever(progress, argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 0);
  }
  if (scenario == "many" && argc > 2) Many(std::atoi(argv[2]));
  return 0;
}
