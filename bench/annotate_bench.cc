// What a range costs, as a ratio to the bare push/pop pair in the same process. Start it in the
// three situations of bench/annotate.sh: without a tool, with one that takes texts, with one that
// takes payloads.
#include <benchmark/benchmark.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <ctime>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/emitter.h"

namespace {

using namespace oplens::annotate;

/// Two clock readings: what any recorder pays for a pair.
void Clock(benchmark::State& state) {
  for (auto _ : state) {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    benchmark::DoNotOptimize(time);
    clock_gettime(CLOCK_MONOTONIC, &time);
    benchmark::DoNotOptimize(time);
  }
}
BENCHMARK(Clock)->ThreadRange(1, 16)->UseRealTime()->MeasureProcessCPUTime();

void BarePair(benchmark::State& state) {
  for (auto _ : state) {
    nvtxRangePushA("aten::addmm");
    nvtxRangePop();
  }
}
BENCHMARK(BarePair)->ThreadRange(1, 16)->UseRealTime()->MeasureProcessCPUTime();

/// Extents that the compiler does not know.
int64_t g_extents[3][2] = {{64, 128}, {128, 256}, {64, 256}};

void OpOfThreeTensors(benchmark::State& state) {
  int64_t(*extents)[2] = g_extents;
  benchmark::DoNotOptimize(extents);
  for (auto _ : state) {
    ScopedOp op({"torch", "addmm"}, Tensor(extents[0], 2, DType::kFloat32),
                Tensor(extents[1], 2, DType::kFloat32), Tensor(extents[2], 2, DType::kFloat32));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(OpOfThreeTensors)->ThreadRange(1, 16)->UseRealTime()->MeasureProcessCPUTime();

void ForwardAndBackward(benchmark::State& state) {
  for (auto _ : state) {
    ForwardLink link;
    {
      ScopedForward op({"torch", "addmm"}, Tensor(g_extents[0], 2, DType::kFloat32),
                       Tensor(g_extents[1], 2, DType::kFloat32),
                       Tensor(g_extents[2], 2, DType::kFloat32));
      link = op.link();
    }
    ScopedBackward node("AddmmBackward0", link);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(ForwardAndBackward)->UseRealTime()->MeasureProcessCPUTime();

void Layer(benchmark::State& state) {
  for (auto _ : state) {
    ScopedLayer layer("encoder");
    benchmark::ClobberMemory();
  }
}
BENCHMARK(Layer)->UseRealTime()->MeasureProcessCPUTime();

const char* ModeWord() {
  switch (EmissionMode()) {
    case Mode::kText:
      return "text";
    case Mode::kPayload:
      return "payload";
    case Mode::kOff:
      break;
  }
  return "no tool";
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::fprintf(stderr, "mode: %s\n", ModeWord());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
