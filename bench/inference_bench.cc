// What it costs to tell the ops of kernels whose launches are not in the file: 50 steps of a
// network of equal layers, of which the first 30 % of the launches are hidden. Join: without
// telling them.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parse/join/inference.h"
#include "parse/join/joined.h"
#include "test/parse/made_up_network.h"

namespace {

using oplens::Diagnostics;
using oplens::Trace;
using oplens::parse::MadeUpCall;
using oplens::parse::MadeUpNetwork;

constexpr int kSteps = 50;

/// A step of about so many kernels: an embedding, layers of eight, a head.
std::vector<MadeUpCall> CallsOf(int64_t kernels) {
  std::vector<MadeUpCall> calls = {{"Embedding_0", "embedding", 9, {"gather"}, {"scatter"}}};
  for (int64_t i = 0; i < kernels / 8; ++i) {
    calls.push_back({fmt::format("Attention_{}", i), "bmm", 32, {"gemm", "softmax"}, {"gemm_b"}});
    calls.push_back({fmt::format("Mlp_{}", i), "mm", 32, {"gemm"}, {"gemm_b", "gemm_c"}});
    calls.push_back({fmt::format("Norm_{}", i), "norm", 64 + i % 7, {"norm"}, {"norm_b"}});
  }
  calls.push_back({"Head_0", "mm", 999, {"gemm_large"}, {"gemm_large_b"}});
  return calls;
}

Trace CutTrace(int64_t kernels) {
  std::map<int64_t, oplens::parse::MadeUpTruth> truth;
  const std::vector<MadeUpCall> calls = CallsOf(kernels / kSteps);
  Trace trace = MadeUpNetwork::Record(
      kSteps, [&](int) { return calls; }, &truth);
  const int64_t cut = trace.launches[trace.launches.size() * 3 / 10].start_ns;
  oplens::parse::Hide([cut](int64_t time_ns) { return time_ns < cut; }, &trace);
  return trace;
}

void Run(benchmark::State& state, bool repetition) {
  size_t said = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Trace trace = CutTrace(state.range(0));
    Diagnostics diagnostics;
    state.ResumeTiming();
    oplens::parse::JoinOptions options;
    options.evidence.repetition = repetition;
    const oplens::parse::Joined joined(&trace, options, &diagnostics);
    said = joined.inference().all().size();
    benchmark::DoNotOptimize(said);
  }
  state.counters["said"] = static_cast<double>(said);
  state.SetComplexityN(state.range(0));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_Join(benchmark::State& state) { Run(state, false); }
BENCHMARK(BM_Join)
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
void BM_JoinAndInfer(benchmark::State& state) { Run(state, true); }
BENCHMARK(BM_JoinAndInfer)
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace
