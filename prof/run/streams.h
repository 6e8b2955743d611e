#ifndef OPLENS_PROF_RUN_STREAMS_H_
#define OPLENS_PROF_RUN_STREAMS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::prof {

/// The timed kernels of each stream (process, GPU, stream), as indices of Trace::kernels in order
/// of start.
inline std::vector<std::vector<uint32_t>> KernelsOfStreams(const Trace& trace) {
  std::map<std::tuple<int32_t, int32_t, int32_t>, std::vector<uint32_t>> streams;
  std::vector<uint32_t>* last = nullptr;
  const Kernel* of_last = nullptr;
  for (uint32_t i = 0; i < trace.kernels.size(); ++i) {
    const Kernel& kernel = trace.kernels[i];
    if (!kernel.timed()) continue;
    const bool same = of_last != nullptr && of_last->process_id == kernel.process_id &&
                      of_last->device_id == kernel.device_id &&
                      of_last->stream_id == kernel.stream_id;
    if (!same) last = &streams[{kernel.process_id, kernel.device_id, kernel.stream_id}];
    of_last = &kernel;
    last->push_back(i);
  }
  std::vector<std::vector<uint32_t>> all;
  for (auto& [key, stream] : streams) {
    const auto earlier = [&](uint32_t a, uint32_t b) {
      return trace.kernels[a].start_ns < trace.kernels[b].start_ns;
    };
    if (!std::is_sorted(stream.begin(), stream.end(), earlier)) {
      std::stable_sort(stream.begin(), stream.end(), earlier);
    }
    all.push_back(std::move(stream));
  }
  return all;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STREAMS_H_
