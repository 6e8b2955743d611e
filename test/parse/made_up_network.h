#ifndef OPLENS_TEST_PARSE_MADE_UP_NETWORK_H_
#define OPLENS_TEST_PARSE_MADE_UP_NETWORK_H_

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

/// One call of an op, and the kernels that it launches.
struct MadeUpCall {
  std::string layer;
  std::string op;
  int64_t size = 1;  ///< Of its tensor: what tells apart calls of one op.
  std::vector<std::string> kernels;
  std::vector<std::string> backward_kernels = {};
  int32_t stream = 7;
};

/// What each kernel is, by its row id.
struct MadeUpTruth {
  std::string call;  ///< Of a kernel in a node: that of the forward op.
  std::string layer;
  bool backward = false;
  int64_t launch_ns = 0;
};

/// A program that trains: a loop of steps, each of calls forward on one thread, their nodes
/// backward on another, and whatever is in `optimizer` at the end. The GPU is slow: it lags behind
/// the host by more than a step.
class MadeUpNetwork {
 public:
  using Step = std::function<std::vector<MadeUpCall>(int step)>;

  static Trace Record(int steps, const Step& forward, std::map<int64_t, MadeUpTruth>* truth) {
    MadeUpNetwork network(truth);
    for (int step = 0; step < steps; ++step) network.Run(step, forward(step));
    return std::move(network.trace_);
  }

 private:
  explicit MadeUpNetwork(std::map<int64_t, MadeUpTruth>* truth) : truth_(*truth) {
    trace_.family = Family::kKineto;
    trace_.threads = {{10, 100}, {10, 200}};
  }

  static std::string CallText(const MadeUpCall& call) {
    return fmt::format(
        "{{'mod': 'torch', 'op': '{}', 'args': [{{'name': '', 'type': 'tensor', 'shape': ({},), "
        "'dtype': 'float32'}}]}}",
        call.op, call.size);
  }

  void Add(RangeKind kind, int64_t start, int64_t end, const std::string& text,
           ThreadIndex thread) {
    Range& range = trace_.ranges.emplace_back();
    range.start_ns = start;
    range.end_ns = end;
    range.text = trace_.strings.Intern(text);
    range.SetThread(thread);
    range.kind = kind;
  }

  Operator* AddOperator(int64_t start, int64_t end, const std::string& name, ThreadIndex thread) {
    Add(RangeKind::kOperator, start, end, name, thread);
    return &MakeOperator(trace_.ranges.back().text, &trace_.ranges.back(), &trace_);
  }

  void Launch(const MadeUpCall& call, const std::string& name, ThreadIndex thread, bool backward) {
    constexpr int64_t kKernelNs = 1000;
    const int64_t id = ++correlation_;
    Kernel& kernel = trace_.kernels.emplace_back();
    int64_t& gpu_ns = gpu_ns_[call.stream];
    gpu_ns = std::max(gpu_ns, now_ + 5) + 10;
    kernel.start_ns = gpu_ns;
    gpu_ns += kKernelNs;
    kernel.end_ns = gpu_ns;
    kernel.correlation_id = kernel.row_id = id;
    kernel.name = trace_.strings.Intern(name);
    kernel.stream_id = call.stream;
    kernel.shape = trace_.shapes.Add({.grid = {1, 1, 1}, .block = {1, 1, 1}});
    kernel.launch = static_cast<LaunchIndex>(trace_.launches.size());
    trace_.launches.push_back(
        {now_, now_ + 1, id, thread, trace_.strings.Intern("cudaLaunchKernel")});
    truth_[id] = {CallText(call), call.layer, backward, now_};
    now_ += 2;
  }

  void Run(int step, const std::vector<MadeUpCall>& calls) {
    const int64_t start = now_;
    now_ += 10;
    std::vector<int64_t> numbers;
    for (const MadeUpCall& call : calls) {
      const int64_t begin = now_;
      now_ += 10;
      for (const std::string& kernel : call.kernels) Launch(call, kernel, 0, false);
      now_ += 2;
      Operator* op = AddOperator(begin + 2, now_, "aten::" + call.op, 0);
      op->call = trace_.strings.Intern(CallText(call));
      numbers.push_back(op->sequence = ++sequence_);
      now_ += 2;
      Add(RangeKind::kModule, begin, now_, call.layer, 0);
      now_ += 2;
    }
    for (size_t i = calls.size(); i-- > 0;) {
      if (calls[i].backward_kernels.empty()) continue;
      const int64_t begin = now_;
      now_ += 2;
      for (const std::string& kernel : calls[i].backward_kernels) Launch(calls[i], kernel, 1, true);
      std::string node = calls[i].op + "Backward0";
      node.front() = static_cast<char>(node.front() - 'a' + 'A');
      Operator* op = AddOperator(begin, now_, node, 1);
      op->backward = true;
      op->sequence = numbers[i];
      now_ += 2;
    }
    now_ += 10;
    Add(RangeKind::kStep, start, now_, fmt::format("ProfilerStep#{}", step), 0);
    now_ += 2;
  }

  Trace trace_;
  std::map<int64_t, MadeUpTruth>& truth_;
  std::map<int32_t, int64_t> gpu_ns_;
  int64_t now_ = 1000;
  int64_t correlation_ = 0;
  int64_t sequence_ = 0;
};

/// Removes what tells of launches whose times `hidden` names: calls, and what the host began then.
template <typename Hidden>
void Hide(const Hidden& hidden, Trace* trace) {
  for (Kernel& kernel : trace->kernels) {
    if (kernel.launch != kNoLaunch && hidden(trace->launches[kernel.launch].start_ns)) {
      kernel.launch = kNoLaunch;
    }
  }
  std::erase_if(trace->ranges, [&](const Range& range) { return hidden(range.start_ns); });
}

/// The same, but one launch of a graph stands for all of a stretch; steps stay.
template <typename Hidden>
void ReplaceByGraphs(const Hidden& hidden, Trace* trace) {
  LaunchIndex graph = kNoLaunch;
  int64_t last_ns = 0;
  std::vector<LaunchIndex> replaced(trace->launches.size(), kNoLaunch);
  const size_t count = trace->launches.size();
  for (LaunchIndex i = 0; i < count; ++i) {
    const LaunchCall call = trace->launches[i];
    if (!hidden(call.start_ns)) {
      graph = kNoLaunch;
      continue;
    }
    // A gap parts two steps.
    if (graph == kNoLaunch || call.start_ns - last_ns > 20) {
      graph = static_cast<LaunchIndex>(trace->launches.size());
      trace->launches.push_back({call.start_ns, call.start_ns + 1, int64_t{1} << 40 | i,
                                 call.thread, trace->strings.Intern("cudaGraphLaunch")});
    }
    last_ns = call.start_ns;
    replaced[i] = graph;
  }
  for (Kernel& kernel : trace->kernels) {
    if (kernel.launch >= count || replaced[kernel.launch] == kNoLaunch) continue;
    kernel.launch = replaced[kernel.launch];
    kernel.graph = true;
  }
  std::erase_if(trace->ranges, [&](const Range& range) {
    return range.kind != RangeKind::kStep && hidden(range.start_ns);
  });
}

}  // namespace oplens::parse

#endif  // OPLENS_TEST_PARSE_MADE_UP_NETWORK_H_
