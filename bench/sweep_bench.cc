// How fast ranges and launches of one thread are joined: the sweep alone, and the whole correlation
// of a made-up training step, by nesting depth.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "parse/join/range_sweep.h"
#include "parse/records/kernel_records.h"

namespace {

using oplens::Diagnostics;
using oplens::KernelRecord;
using oplens::Trace;
using oplens::parse::KernelRecords;
using oplens::parse::OpenRanges;

/// `launches` launches, each inside four ranges of its own, all inside `depth` more.
void BM_Sweep(benchmark::State& state) {
  const int64_t depth = state.range(0);
  constexpr int64_t kLaunches = 10000;
  uint64_t enclosing = 0;
  for (auto _ : state) {
    OpenRanges open;
    for (int64_t d = 0; d < depth; ++d) {
      open.Push(static_cast<uint32_t>(d), d, kLaunches * 20 - d, 5);
    }
    for (int64_t i = 0; i < kLaunches; ++i) {
      const int64_t at = depth + i * 10;
      for (uint32_t r = 0; r < 4; ++r) open.Push(r, at, at + 8 - r, r);
      open.MoveTo(at + 1, at + 2);
      for (size_t lane = 0; lane < 4; ++lane) enclosing += open.CountOf(lane);
    }
  }
  benchmark::DoNotOptimize(enclosing);
  state.SetItemsProcessed(state.iterations() * kLaunches);
}
BENCHMARK(BM_Sweep)->Arg(0)->Arg(32)->Arg(256)->Arg(4096);

Trace MakeTrace(int64_t kernels, int64_t depth) {
  Trace trace;
  trace.threads = {{1, 1}};
  const auto range = [&](int64_t start, int64_t end, const std::string& text) {
    trace.ranges.push_back(oplens::Range{start, end, trace.strings.Intern(text)});
  };
  for (int64_t d = 0; d < depth; ++d)
    range(d, kernels * 20 + 2 * depth - d, fmt::format("depth {}", d));
  const oplens::StringId name = trace.strings.Intern("volta_sgemm_128x64_nt");
  for (int64_t i = 0; i < kernels; ++i) {
    const int64_t at = depth + i * 10;
    range(at, at + 8, "{'traceMarker': ['train.py:10', 'net.py:20']}");
    range(at + 1, at + 7,
          "{'mod': 'torch', 'op': 'mm', 'args': [{'name': '', 'type': 'int', 'value': 1}]}");
    range(at + 2, at + 6, fmt::format("mm, seq = {}", i));
    oplens::Kernel& kernel = trace.kernels.emplace_back();
    kernel.start_ns = at + 5;
    kernel.end_ns = at + 9;
    kernel.correlation_id = i;
    kernel.name = name;
    kernel.launch = static_cast<oplens::LaunchIndex>(i);
    trace.launches.push_back({at + 3, at + 4, i, 0, name});
  }
  return trace;
}

void BM_Correlate(benchmark::State& state) {
  constexpr int64_t kKernels = 10000;
  for (auto _ : state) {
    state.PauseTiming();
    Trace trace = MakeTrace(kKernels, state.range(0));
    Diagnostics diagnostics;
    state.ResumeTiming();
    const KernelRecords records(&trace, {}, &diagnostics);
    benchmark::DoNotOptimize(records.kernel_count());
  }
  state.SetItemsProcessed(state.iterations() * kKernels);
}
BENCHMARK(BM_Correlate)->Arg(0)->Arg(256);

/// Records and their dict lines, the other half of the program.
void BM_WriteDict(benchmark::State& state) {
  constexpr int64_t kKernels = 10000;
  Trace trace = MakeTrace(kKernels, state.range(0));
  Diagnostics diagnostics;
  const KernelRecords records(&trace, {}, &diagnostics);
  KernelRecord record;
  std::string out;
  int64_t bytes = 0;
  for (auto _ : state) {
    for (size_t i = 0; i < records.kernel_count(); ++i) {
      out.clear();
      records.RecordOf(i, &record);
      AppendDictLine(record, &out);
      bytes += static_cast<int64_t>(out.size());
    }
  }
  state.SetItemsProcessed(state.iterations() * kKernels);
  state.SetBytesProcessed(bytes);
}
BENCHMARK(BM_WriteDict)->Arg(0)->Arg(256);

}  // namespace
