#include "ops/gpu/latency_why.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"

namespace oplens::ops {
namespace {

constexpr int64_t kShortKernelNs = 10'000;

bool HasFewBlocks(const LatencyCase& kernel) {
  const Dim3& grid = kernel.grid;
  if (kernel.gpu == nullptr || grid.x <= 0 || grid.y <= 0 || grid.z <= 0) return false;
  const auto blocks = (Checked(grid.x) * grid.y * grid.z).Value();
  return blocks && *blocks < kernel.gpu->multiprocessors;
}

/// Each wave takes as long as a full one.
bool WouldFillItsRoof(const LatencyCase& kernel) {
  if (!kernel.waves || *kernel.waves <= 1) return false;
  const double share = std::max(kernel.roofline->percent_of_math.value_or(0),
                                kernel.roofline->percent_of_dram.value_or(0));
  return share * std::ceil(*kernel.waves) / *kernel.waves >= kLeastRoofPct;
}

}  // namespace

LatencyWhy LatencyWhyOf(const LatencyCase& kernel) {
  if (kernel.roofline->bound != Bound::kLatency) return LatencyWhy::kUnknown;
  if (HasFewBlocks(kernel)) return LatencyWhy::kFewBlocks;
  if (WouldFillItsRoof(kernel)) return LatencyWhy::kTail;
  const bool is_short = kernel.duration_ns && *kernel.duration_ns < kShortKernelNs;
  return is_short ? LatencyWhy::kShort : LatencyWhy::kUnknown;
}

std::string_view LatencyWhyWord(LatencyWhy why) {
  switch (why) {
    case LatencyWhy::kFewBlocks:
      return "few-blocks";
    case LatencyWhy::kTail:
      return "tail";
    case LatencyWhy::kShort:
      return "short";
    case LatencyWhy::kUnknown:
      break;
  }
  return "";
}

}  // namespace oplens::ops
