// Programs that annotate themselves, for tests that need a process of their own.
//
//   annotated_program COMMAND     exit code 0, or 1 and a line on stdout that says what is wrong

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <thread>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/schedule.h"

namespace {

using oplens::annotate::Action;
using oplens::annotate::DType;
using oplens::annotate::ForwardLink;
using oplens::annotate::Phase;
using oplens::annotate::ScopedBackward;
using oplens::annotate::ScopedForward;
using oplens::annotate::ScopedIteration;
using oplens::annotate::ScopedLayer;
using oplens::annotate::ScopedOp;
using oplens::annotate::ScopedPhase;
using oplens::annotate::ScopedRange;
using oplens::annotate::ScopedTrace;
using oplens::annotate::Tensor;

enum class BackwardThread { kSame, kOther };

/// A step of training: a linear layer and an activation, their backward nodes, on another thread as
/// PyTorch has it or not, and an update of the weights.
void TrainStep(int64_t number, BackwardThread thread) {
  const ScopedIteration step(number);
  ForwardLink linear;
  ForwardLink activation;
  {
    const ScopedPhase phase(Phase::kForward);
    const ScopedLayer net("net");
    {
      const ScopedLayer layer("fc1");
      const ScopedForward op({"torch", "addmm", "net.py", 20}, Tensor({64}, DType::kFloat16),
                             Tensor({32, 128}, DType::kFloat16),
                             Tensor({128, 64}, DType::kFloat16));
      linear = op.link();
    }
    const ScopedLayer layer("act");
    const ScopedForward op({"torch", "relu", "net.py", 21}, Tensor({32, 64}, DType::kFloat16));
    activation = op.link();
  }
  const auto run_backward = [&] {
    const ScopedPhase phase(Phase::kBackward);
    { const ScopedBackward node("ReluBackward0", activation); }
    { const ScopedBackward node("AddmmBackward0", linear); }
  };
  if (thread == BackwardThread::kOther) {
    std::thread(run_backward).join();
  } else {
    run_backward();
  }
  const ScopedPhase phase(Phase::kOptimizer);
  const ScopedOp update({"Tensor", "__iadd__", "train.py", 9}, Tensor({64, 128}, DType::kFloat32),
                        Tensor({64, 128}, DType::kFloat32));
}

int Train() {
  for (int64_t number = 0; number < 2; ++number) TrainStep(number, BackwardThread::kOther);
  return 0;
}

int TrainOnOneThread() {
  for (int64_t number = 0; number < 2; ++number) TrainStep(number, BackwardThread::kSame);
  return 0;
}

/// Names and values that readers have stumbled over, each in an op of its own.
int OddValues() {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string long_text(100'000, '\xc3');
  const char* const frames[] = {"/x/modules/optim/args_types.py:1", "it's \"quoted\"\\.py:2"};
  const ScopedLayer layer("model.op.args.type: 'x'\n");
  const ScopedTrace trace(frames, 2);
  { const ScopedOp op({"it's", "a \"name\"\n", nullptr, 0}, "\\'\"\t\x01", nullptr); }
  { const ScopedOp op({"torch", "floats", nullptr, 0}, infinity, -infinity, std::nan(""), 1e-300); }
  { const ScopedOp op({"torch", "ints", nullptr, 0}, kMax, -kMax - 1, true); }
  {
    const ScopedOp op({"torch", "tensors", nullptr, 0}, Tensor({}, DType::kFloat32),
                      Tensor({0, 3}, DType::kFloat32), Tensor(nullptr, 1, DType::kFloat32),
                      Tensor({kMax, kMax}, DType::kUnknown));
  }
  { const ScopedOp op({"torch", "long", nullptr, 0}, long_text, 1); }
  {
    const ScopedOp op({"torch", "lists", nullptr, 0}, Tensor({1}, DType::kFloat32).InList(1),
                      Tensor({2}, DType::kFloat32).InList(1), Tensor({3}, DType::kInt64).InList(2));
  }
  ForwardLink link;
  {
    const ScopedForward op({"mod", "op_args_type=1, {x}", nullptr, 0});
    link = op.link();
  }
  { const ScopedBackward node("mod::op_args_type, seq = 7", link); }
  return 0;
}

#define EXPECT(condition)                                 \
  do {                                                    \
    if (!(condition)) {                                   \
      std::printf("line %d: %s\n", __LINE__, #condition); \
      return 1;                                           \
    }                                                     \
  } while (false)

/// Nobody listens: every call answers "nothing".
int WithoutTool() {
  EXPECT(!oplens::annotate::Enabled());
  EXPECT(oplens_enabled() == 0);
  oplens_start();
  EXPECT(oplens_enabled() == 0);
  TrainStep(0, BackwardThread::kOther);
  const ScopedForward op({"torch", "mm"}, Tensor({1}, DType::kFloat32));
  EXPECT(op.link().seq == -1 && op.link().thread == 0);
  oplens_link link = {1, 1};
  EXPECT(oplens_op_begin("torch", "mm", nullptr, 0) == 0);
  EXPECT(oplens_forward_begin("torch", "mm", nullptr, 3, &link) == 0);
  EXPECT(link.seq == -1 && link.thread == 0);
  EXPECT(oplens_backward_begin("MmBackward0", link) == 0);
  EXPECT(oplens_layer_begin("net") == 0);
  EXPECT(oplens_trace_begin(nullptr, 1) == 0);
  EXPECT(oplens_iteration_begin(1) == 0);
  EXPECT(oplens_phase_begin(OPLENS_FORWARD) == 0);
  EXPECT(oplens_range_begin("text") == 0);
  oplens_end(0);
  oplens_end(uint64_t{1} << 32 | 1);
  oplens_stop();
  EXPECT(oplens_enabled() == 0);
  return 0;
}

int OffUntilStart() {
  setenv("OPLENS_ANNOTATE", "x,off", 1);
  EXPECT(!oplens::annotate::Enabled());
  { const ScopedRange range("unseen"); }
  oplens::annotate::Start();
  EXPECT(oplens::annotate::Enabled());
  const ScopedRange range("seen");
  return 0;
}

int Errno() {
  errno = 77;
  EXPECT(oplens_enabled() == (std::getenv("NVTX_INJECTION64_PATH") != nullptr ? 1 : 0));
  EXPECT(errno == 77);
  oplens_start();
  EXPECT(errno == 77);
  TrainStep(0, BackwardThread::kOther);
  errno = 77;  // A thread was made.
  { const ScopedForward op({"torch", "new name"}); }
  EXPECT(errno == 77);
  oplens_stop();
  EXPECT(errno == 77);
  return 0;
}

int g_profiler_starts = 0;
int g_profiler_stops = 0;

int CudaProfiler() {
  oplens_start();
  EXPECT(g_profiler_starts == 1 && g_profiler_stops == 0);
  oplens_stop();
  EXPECT(g_profiler_starts == 1 && g_profiler_stops == 1);
  return 0;
}

/// The profiler is started and stopped as torch.profiler does by the same schedule, callbacks are
/// made without a tool too, and cycles are numbered over all schedules of a process.
int ScheduleSwitchesProfiler() {
  using oplens::annotate::Schedule;
  Schedule plan;
  plan.wait = 1;
  plan.warmup = 1;
  plan.active = 2;
  plan.repeat = 1;
  int64_t told = 0;
  oplens::annotate::ScheduledCapture capture(plan, [&](int64_t cycle) { told = cycle; });
  EXPECT(g_profiler_starts == 0 && g_profiler_stops == 0);
  capture.Step();  // Warms up.
  EXPECT(g_profiler_starts == 0 && g_profiler_stops == 0);
  capture.Step();
  EXPECT(g_profiler_starts == 1 && g_profiler_stops == 0);
  capture.Step();
  EXPECT(g_profiler_starts == 1 && g_profiler_stops == 0 && told == 0);
  capture.Step();
  EXPECT(g_profiler_starts == 1 && g_profiler_stops == 1 && told == 1);
  capture.Stop();
  capture.Stop();
  capture.Step();
  EXPECT(g_profiler_starts == 1 && g_profiler_stops == 1 && capture.step_number() == 4);
  {
    oplens::annotate::ScheduledCapture always([](int64_t) { return Action::kRecord; },
                                              [&](int64_t cycle) { told = cycle; });
    EXPECT(g_profiler_starts == 2 && told == 1 && always.cycle() == 2);
  }
  EXPECT(g_profiler_stops == 2 && told == 2);
  return 0;
}

/// Emits when the process ends, from objects that were made before and after the library's.
struct EmitsAtExit {
  ~EmitsAtExit() { const ScopedForward op({"torch", "at exit"}, Tensor({1}, DType::kFloat32)); }
};

int Exit() {
  static EmitsAtExit before;
  { const ScopedRange range("range"); }
  static EmitsAtExit after;
  static std::atomic<bool> emits{false};
  std::thread([] {
    for (;;) {
      { const ScopedForward op({"torch", "daemon"}); }
      emits.store(true);
      emits.notify_one();
      std::this_thread::yield();
    }
  }).detach();
  emits.wait(false);
  return 0;
}

struct Command {
  std::string_view word;
  int (*run)();
};

constexpr Command kCommands[] = {
    {"train", Train},
    {"train-on-one-thread", TrainOnOneThread},
    {"odd", OddValues},
    {"without-tool", WithoutTool},
    {"off-until-start", OffUntilStart},
    {"errno", Errno},
    {"cuda-profiler", CudaProfiler},
    {"schedule", ScheduleSwitchesProfiler},
    {"exit", Exit},
};

}  // namespace

// In the place of the CUDA runtime, as if the program had linked it.
extern "C" {
__attribute__((visibility("default"))) int cudaProfilerStart() {
  ++g_profiler_starts;
  return 0;
}
__attribute__((visibility("default"))) int cudaProfilerStop() {
  ++g_profiler_stops;
  return 0;
}
}

int main(int argc, char** argv) {
  const std::string_view command = argc == 2 ? argv[1] : "";
  for (const Command& known : kCommands) {
    if (command == known.word) return known.run();
  }
  std::printf("unknown command\n");
  return 1;
}
