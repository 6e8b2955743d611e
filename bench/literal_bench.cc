// How fast the texts of a profile are read: record lines, op calls, marker texts. Watch the bytes
// per second of lines, and the time of one short marker text.

#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

#include "parse/model/kernel_record.h"
#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"

namespace {

using oplens::ClassifyMarker;
using oplens::KernelRecord;
using oplens::ParseOpCall;
using oplens::RecordReader;

constexpr std::string_view kOpText =
    "{'mod': 'torch.nn.functional', 'op': 'linear', 'args': [{'name': '', 'type': 'tensor', "
    "'shape': (35, 20, 200), 'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': (800, "
    "200), "
    "'dtype': 'float32'}, {'name': '', 'type': 'tensor', 'shape': (800,), 'dtype': 'float32'}]}";

constexpr std::string_view kTraceText =
    "{'traceMarker': ['/home/user/train.py:319', '/home/user/train.py:261', "
    "'/opt/lib/python3.8/site-packages/torch/nn/modules/module.py:722', '/home/user/net.py:106']}";

constexpr std::string_view kKernelName =
    "void at::native::elementwise_kernel<512, 1, at::native::gpu_kernel_impl<at::native::"
    "AddFunctor<float> >(at::TensorIterator&, at::native::AddFunctor<float> "
    "const&)::{lambda(int)#1}>"
    "(int, at::native::gpu_kernel_impl<at::native::AddFunctor<float> >(at::TensorIterator&, "
    "at::native::AddFunctor<float> const&)::{lambda(int)#1})";

/// A line of the usual length, about 1.8 kB, with the texts in double quotes as Python writes them.
std::string PythonLine() {
  std::string line =
      "{'kShortName': 'elementwise_kernel', 'kDuration': 3168, 'layer': ['encoder.2.attn'], "
      "'trace': ['train.py:319', 'train.py:261', 'net.py:106'], 'reprMarkers': [], 'marker': [\"";
  line.append(kOpText).append("\", \"").append(kOpText);
  line +=
      "\"], 'seqMarker': ['aten::linear, seq = 66', 'aten::addmm, seq = 66'], 'seqId': [66], "
      "'subSeqId': 0, 'altSeqId': [65], 'dir': 'fprop', 'mod': ['torch.nn.functional', 'Tensor'], "
      "'op': ['linear', '__matmul__'], 'tid': 3940300608, 'device': 0, 'stream': 7, "
      "'grid': (274, 1, 1), 'block': (512, 1, 1), 'kLongName': '";
  line.append(kKernelName);
  line +=
      "', 'kStart': 1600000000123456789, 'kEnd': 1600000000123459957, 'corrId': 4711, 'pid': "
      "31337, "
      "'context': 1, 'registers': 32, 'staticSharedMemory': 0, 'dynamicSharedMemory': 16384, "
      "'launch': 'cudaLaunchKernel', 'launchStart': 1600000000123400000, "
      "'launchEnd': 1600000000123408000, 'deviceName': 'Tesla V100-SXM2-16GB', 'range': ['epoch "
      "1', "
      "'step 12'], 'rangeCut': 0, 'markerStart': [1600000000123390000, 1600000000123391000], "
      "'reason': []}";
  return line;
}

/// The same line with every text in single quotes, so that each inner quote is an escape.
std::string EscapedLine() {
  const std::string python = PythonLine();
  std::string line;
  bool inside = false;
  for (const char c : python) {
    if (c == '"') {
      inside = !inside;
      line += '\'';
    } else {
      if (inside && c == '\'') line += '\\';
      line += c;
    }
  }
  return line;
}

void CountBytes(benchmark::State& state, std::string_view text) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) *
                          static_cast<int64_t>(text.size()));
}

void ReadLine(benchmark::State& state, const std::string& line) {
  RecordReader reader;
  KernelRecord record;
  std::string error;
  for (auto _ : state) {
    if (!reader.Read(line, &record, &error)) state.SkipWithError(error.c_str());
    benchmark::DoNotOptimize(record);
  }
  CountBytes(state, line);
}
void BM_RecordReaderPython(benchmark::State& state) { ReadLine(state, PythonLine()); }
BENCHMARK(BM_RecordReaderPython);
void BM_RecordReaderEscaped(benchmark::State& state) { ReadLine(state, EscapedLine()); }
BENCHMARK(BM_RecordReaderEscaped);

void BM_ParseOpCall(benchmark::State& state) {
  std::string error;
  for (auto _ : state) {
    auto call = ParseOpCall(kOpText, &error);
    if (!call) state.SkipWithError(error.c_str());
    benchmark::DoNotOptimize(call);
  }
  CountBytes(state, kOpText);
}
BENCHMARK(BM_ParseOpCall);

void Classify(benchmark::State& state, std::string_view text) {
  for (auto _ : state) {
    auto marker = ClassifyMarker(text);
    benchmark::DoNotOptimize(marker);
  }
  CountBytes(state, text);
}
BENCHMARK_CAPTURE(Classify, seq, "aten::addmm, seq = 123456");
BENCHMARK_CAPTURE(Classify, seq_op_id, "AddmmBackward0, seq = 123456, op_id = 654321");
BENCHMARK_CAPTURE(
    Classify, seq_sizes,
    "aten::addmm, seq = 13, op_id = 42, sizes = [[800], [700, 200], [200, 800], [], []]");
BENCHMARK_CAPTURE(Classify, op, kOpText);
BENCHMARK_CAPTURE(Classify, trace, kTraceText);
BENCHMARK_CAPTURE(Classify, free_text, "Optimizer.step#SGD.step");

}  // namespace
