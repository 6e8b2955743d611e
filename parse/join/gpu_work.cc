#include "parse/join/gpu_work.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace oplens::parse {
namespace {

bool ReplayBefore(const GraphReplay& a, const GraphReplay& b) {
  return std::tuple(a.start_ns, a.end_ns, a.graph_id) <
         std::tuple(b.start_ns, b.end_ns, b.graph_id);
}

/// Position in the file comes last: kernels of a graph on several streams may begin at once.
struct KernelBefore {
  const Trace& trace;

  bool operator()(const Kernel& a, const Kernel& b) const {
    const auto moment = [](const Kernel& kernel) {
      return std::tuple(!kernel.timed(), kernel.start_ns, kernel.correlation_id);
    };
    const auto facts = [&](const Kernel& kernel) {
      const KernelShape& shape = trace.ShapeOf(kernel);
      return std::tuple(kernel.end_ns, kernel.device_id, kernel.context_id, kernel.stream_id,
                        trace.strings.View(kernel.name), std::to_array(shape.grid),
                        std::to_array(shape.block), kernel.row_id);
    };
    if (moment(a) != moment(b)) return moment(a) < moment(b);
    return facts(a) < facts(b);
  }
};

}  // namespace

GpuWork::GpuWork(Trace* trace) : trace_(*trace), bounds_(trace->threads.size() + 1, 0) {
  const KernelBefore kernel_before{*trace};
  for (std::vector<Kernel>* const kernels : {&trace->kernels, &trace->captured}) {
    if (!std::is_sorted(kernels->begin(), kernels->end(), kernel_before)) {
      std::stable_sort(kernels->begin(), kernels->end(), kernel_before);
    }
  }
  std::stable_sort(trace->graph_replays.begin(), trace->graph_replays.end(), ReplayBefore);

  const auto for_each_launched = [&](auto f) {
    for (WorkIndex work = 0; work < count(); ++work) {
      const LaunchIndex origin = OriginOf(work);
      if (origin != kNoLaunch) f(work, trace_.launches[origin].thread);
    }
  };
  for_each_launched([&](WorkIndex, ThreadIndex thread) { ++bounds_[thread + 1]; });
  for (size_t thread = 1; thread < bounds_.size(); ++thread) bounds_[thread] += bounds_[thread - 1];
  by_thread_.resize(bounds_.back());
  std::vector<size_t> next = bounds_;
  for_each_launched([&](WorkIndex work, ThreadIndex thread) { by_thread_[next[thread]++] = work; });
  const auto start_of = [this](WorkIndex work) { return trace_.launches[OriginOf(work)].start_ns; };
  std::vector<std::pair<int64_t, WorkIndex>> starts;
  for (size_t thread = 0; thread + 1 < bounds_.size(); ++thread) {
    const std::span<WorkIndex> works(by_thread_.data() + bounds_[thread],
                                     bounds_[thread + 1] - bounds_[thread]);
    if (std::ranges::is_sorted(works, {}, start_of)) continue;
    // Times are looked up once: launches are far apart. Of equal ones, works ascend.
    starts.clear();
    for (const WorkIndex work : works) starts.emplace_back(start_of(work), work);
    std::sort(starts.begin(), starts.end());
    std::ranges::transform(starts, works.begin(), [](const auto& one) { return one.second; });
  }
}

}  // namespace oplens::parse
