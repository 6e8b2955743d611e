#ifndef OPLENS_OPS_KERNELS_LAUNCH_SIZES_H_
#define OPLENS_OPS_KERNELS_LAUNCH_SIZES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ops/kernels/kernel_family.h"
#include "parse/model/dim3.h"

namespace oplens::ops {

/// low <= value <= high.
struct Bounds {
  int64_t low = 0;
  int64_t high = 0;
  bool exact() const { return low == high; }
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// What the name and the launch of a kernel tell of the sizes it worked on. All of it is inferred:
/// the kernel did no more than `high` and no less than `low`, if its library launches as recorded
/// kernels of the same name did (docs/costs.md, "Sizes from the launch").
struct LaunchSizes {
  enum class Kind : uint8_t {
    kNone,         ///< No size; FLOPs may still be known to be 0.
    kElements,     ///< Elements of the output, or of the input of a reduction.
    kProduct,      ///< Of matrices: m, n and, if a ProductChain found it, k.
    kRows,         ///< A norm, a softmax or the like: `rows` rows of unknown or bounded length.
    kAttention,    ///< Reserved.
    kConvolution,  ///< Reserved.
  };
  Kind kind = Kind::kNone;
  Bounds elements;        ///< kElements; kRows: all elements, {0, 0} if unknown.
  Bounds rows;            ///< kRows.
  Bounds m, n, k, batch;  ///< kProduct, as in PricedOp::params; k.high == 0: unknown.
  /// Printable, without blanks: "n=65537..66048,fp32", "M=3969..4096,N=4096,K=1024,bf16".
  std::string params;
  /// Work in the conventions of PricedOp; nullopt: not told. An estimate lies within its bounds,
  /// and is absent where the bounds are further apart than kWidestEstimate.
  std::optional<Bounds> flops;
  std::optional<int64_t> flops_estimate;
  bool is_mma = false;  ///< The FLOPs are those of products.
  std::optional<Bounds> bytes;
  std::optional<int64_t> bytes_estimate;
};

/// The highest ratio of a value's bounds for which one number is said.
inline constexpr int64_t kWidestEstimate = 2;

/// FLOPs or bytes of one element.
struct ElementWork {
  Bounds bounds;
  std::optional<int64_t> estimate;  ///< nullopt: any within the bounds.
};

/// What a kernel's name says of how it is launched; the same for all launches of the name.
struct LaunchRule {
  LaunchSizes::Kind kind = LaunchSizes::Kind::kNone;
  bool does_no_flops = false;  ///< Only moves, fills or serves another kernel: 0 whatever its size.
  std::string dtype;           ///< As in params; empty: unknown.
  /// kElements: elements of a thread; the grid is ceil(n / (threads * per_thread)).
  Bounds per_thread;
  Bounds per_thread_on_amd;  ///< The same where blocks are of the size used on AMD GPUs.
  /// kElements: threads of a block as compiled; 0: any. Another block tells nothing.
  int64_t threads = 0;
  /// kElements: work of an element of n.
  std::optional<ElementWork> flops, bytes;
  int64_t most_bytes_beside = 0;  ///< kElements: bytes that an operand of one element may add.
  /// kProduct: of a block, in the terms of params (M, N); 0: unknown.
  int64_t tile_m = 0, tile_n = 0;
};

/// Reads a full name, demangled or not. Linear in the name; never throws.
LaunchRule LaunchRuleOf(std::string_view kernel_name);

/// Applies a rule to a launch. Nothing is said of a grid or block that is unknown, empty or out of
/// range, or of sizes that overflow.
LaunchSizes SizesOfLaunch(const LaunchRule& rule, const Dim3& grid, const Dim3& block);

/// Both.
LaunchSizes SizesOfLaunch(std::string_view kernel_name, const Dim3& grid, const Dim3& block);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_LAUNCH_SIZES_H_
