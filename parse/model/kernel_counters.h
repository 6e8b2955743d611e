#ifndef OPLENS_PARSE_MODEL_KERNEL_COUNTERS_H_
#define OPLENS_PARSE_MODEL_KERNEL_COUNTERS_H_

#include <cstdint>
#include <optional>

namespace oplens {

/// What the hardware counted while one kernel ran; nullopt: not counted (docs/formats.md, "Hardware
/// counters").
struct KernelCounters {
  std::optional<int64_t> core_flops;    ///< fp32 and fp64 instructions of CUDA cores; an FMA is 2.
  std::optional<int64_t> tensor_flops;  ///< Of Tensor Cores, padding to tiles included.
  std::optional<int64_t> tensor_instructions;
  std::optional<int64_t> dram_bytes;  ///< Read and written.
  std::optional<int64_t> l2_bytes;    ///< Through the L2.
  std::optional<int64_t> duration_ns;
  std::optional<double> achieved_occupancy_pct;

  /// nullopt unless both kinds are known.
  std::optional<int64_t> flops() const {
    if (!core_flops || !tensor_flops) return std::nullopt;
    return *core_flops + *tensor_flops;
  }
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_KERNEL_COUNTERS_H_
