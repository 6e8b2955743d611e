#ifndef OPLENS_OPS_GPU_LATENCY_WHY_H_
#define OPLENS_OPS_GPU_LATENCY_WHY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/gpu/gpu.h"
#include "ops/gpu/roofline.h"

namespace oplens::ops {

/// Why a kernel is at neither roof of its GPU (Bound::kLatency).
enum class LatencyWhy : uint8_t {
  kUnknown,    ///< Neither its grid nor its time tells it, or it is not bound by latency.
  kFewBlocks,  ///< Fewer blocks than multiprocessors: some of these have nothing to do.
  kTail,       ///< With a last wave as full as the others it would be at its roof.
  kShort,      ///< Below 10 us: launch and first loads take the time.
};

/// A kernel, its place under the roofs of its GPU and its launch.
struct LatencyCase {
  const Roofline* roofline = nullptr;
  const Gpu* gpu = nullptr;  ///< Null: not known.
  Dim3 grid;
  std::optional<double> waves;
  std::optional<int64_t> duration_ns;
};

/// The first of the reasons, in their order, that the numbers bear out.
LatencyWhy LatencyWhyOf(const LatencyCase& kernel);

/// "few-blocks", "tail", "short" or "".
std::string_view LatencyWhyWord(LatencyWhy why);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_GPU_LATENCY_WHY_H_
