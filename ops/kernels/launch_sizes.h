#ifndef OPLENS_OPS_KERNELS_LAUNCH_SIZES_H_
#define OPLENS_OPS_KERNELS_LAUNCH_SIZES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
    kNone,      ///< No size; FLOPs may still be known to be 0.
    kElements,  ///< Elements of the output, or of the input of a reduction.
    kProduct,   ///< Of matrices: m, n and, if a ProductChain found it, k.
    kTiles,     ///< Some extents of attention or a convolution, in `params` alone.
  };
  Kind kind = Kind::kNone;
  Bounds elements;        ///< kElements.
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

/// "7" or "5..8".
std::string BoundsText(const Bounds& bounds);

/// What a kernel's name says of how it is launched; the same for all launches of the name.
struct LaunchRule {
  LaunchSizes::Kind kind = LaunchSizes::Kind::kNone;
  bool does_no_flops = false;  ///< Only moves, fills or serves another kernel: 0 whatever its size.
  std::string dtype;           ///< As in params; empty: unknown.
  /// kElements: elements of a thread; the grid is ceil(n / (threads * per_thread)).
  Bounds per_thread;
  Bounds per_thread_on_amd;  ///< The same where blocks are of the size used on AMD GPUs.
  /// kElements, kTiles: threads of a block as compiled; 0: any. Another block tells nothing.
  int64_t threads = 0;
  /// kElements: work of an element of n.
  std::optional<ElementWork> flops, bytes;
  int64_t most_bytes_beside = 0;  ///< kElements: bytes that an operand of one element may add.
  /// kElements: what the kernels beside it make of the tensor that it writes.
  enum class Written : uint8_t {
    kAny,
    kActivation,    ///< The next product takes it.
    kReluGradient,  ///< The next gradient of a norm takes it.
    kSum,           ///< Of two tensors; the norm before it gave one of them.
    kUnrelated,     ///< A constant, or a count to which a number is added.
  };
  Written written = Written::kAny;
  /// Norms and reductions, whose grid does not show their size: the neighbour in the stream that
  /// does. `flops` is the work of an element.
  enum class Neighbour : uint8_t {
    kNone,
    kLast,      ///< It reads what the last elementwise kernel wrote.
    kGradient,  ///< The same, if that is the gradient of an activation.
    kNext,      ///< The next kernel, an activation or a sum, is of its size.
    kRows,      ///< A block has a row; one of both neighbours is of its size.
  };
  Neighbour neighbour = Neighbour::kNone;
  /// kProduct: which blocks compute which tiles of tile_m x tile_n, in the terms of params.
  enum class Tiling : uint8_t {
    kNone,
    kPlain,     ///< x along M, y along N.
    kSwizzled,  ///< CUTLASS: up to 8 tiles along M share an x; x grows by as much.
  };
  Tiling tiling = Tiling::kNone;
  int64_t tile_m = 0, tile_n = 0;
  bool takes_rows = false;  ///< kProduct: its right factor (N x K) is stored in rows of K.
  bool is_fp32 = false;     ///< kProduct: without Tensor Cores, so that time goes with FLOPs.
  /// kTiles: an extent of the op. The grid has its tiles, or the name says it.
  struct Extent {
    enum class Axis : uint8_t { kNone, kX, kY, kZ };
    std::string_view word;  ///< In params: "Sq", "N*P*Q".
    Axis axis = Axis::kNone;
    int64_t tile = 0;
    Bounds fixed = {};  ///< kNone.
  };
  std::vector<Extent> extents;
  bool z_is_split = false;   ///< kTiles: z are parts of a sum.
  bool sums_splits = false;  ///< Sums what the z blocks of the product before it computed.
  int64_t left_bytes = 0, right_bytes = 0,
          result_bytes = 0;  ///< kProduct: of an element; 0: unknown.

  /// Whether the kernels beside it may tell more (ops::ChainedKernelsOf).
  bool may_be_chained() const {
    return kind == LaunchSizes::Kind::kProduct || neighbour != Neighbour::kNone;
  }
};

/// Reads a full name, demangled or not. `family`: KernelFamilyOf(kernel_name). Linear in the name;
/// never throws.
LaunchRule LaunchRuleOf(std::string_view kernel_name, const NamedFamily& family);
LaunchRule LaunchRuleOf(std::string_view kernel_name);

/// Applies a rule to a launch. Nothing is said of a grid or block that is unknown, empty or out of
/// range, or of sizes that overflow.
LaunchSizes SizesOfLaunch(const LaunchRule& rule, const Dim3& grid, const Dim3& block);

/// Only `elements`, without the rest; nullopt if they are not told.
std::optional<Bounds> ElementsOfLaunch(const LaunchRule& rule, const Dim3& grid, const Dim3& block);

/// Both.
LaunchSizes SizesOfLaunch(std::string_view kernel_name, const Dim3& grid, const Dim3& block);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_KERNELS_LAUNCH_SIZES_H_
