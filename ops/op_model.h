#ifndef OPLENS_OPS_OP_MODEL_H_
#define OPLENS_OPS_OP_MODEL_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "ops/dtype.h"
#include "parse/model/op_call.h"
#include "parse/model/phase.h"
#include "parse/model/reason.h"

namespace oplens::ops {

/// Exact work of one part of an op. 1 FMA = 2 FLOPs.
struct Work {
  Checked mma;  ///< FLOPs of matrix products, which can run on Tensor Cores.
  Checked vec;  ///< All other FLOPs, weighted per element as in docs/costs.md.
  Checked
      bytes;  ///< Ideal DRAM traffic: every distinct input read once, every output written once.
};

/// A dimension by its usual name.
struct NamedExtent {
  std::string_view name;  ///< "K", "C", "D"; static storage.
  int64_t extent = 0;
};

/// A part of an op that has its own kernels.
enum class Part : uint8_t {
  kForward,
  kBackward,  ///< The whole backward, if not split.
  kDgrad,     ///< Gradient of the data operand(s).
  kWgrad,     ///< Gradient of the weight.
  kBgrad,     ///< Gradient of the bias.
};

struct PartWork {
  Part part = Part::kForward;
  Work work;
  /// Sizes of this part, as PricedOp::params; empty: as the op.
  std::string params = {};
  /// Extents of this part's product, named as in `params`.
  std::vector<NamedExtent> extents = {};
  /// The share of work.bytes that a memset or zero-filling kernel writes before the main kernels.
  Checked zeros = {};
};

/// The central product of a matrix op, which decides Tensor Core use and the kernels of its
/// gradients. Row-major: Y[m,n] = A[m,k] B[k,n], `batch` times.
///  - linear: m rows of X, n outputs, k inputs;
///  - convolution, as an implicit GEMM of one group: m = N prod(P), n = K/groups,
///    k = C/groups prod(R); batch 1;
///  - attention: batch = B Hq, m = Sq, n = Sk, k = D;
///  - recurrent: the input product of the first layer.
struct MatrixProduct {
  enum class Kind : uint8_t { kGemm, kConvolution, kAttention, kRecurrent };
  Kind kind = Kind::kGemm;
  DType left = DType::kUnknown;    ///< Of A, X, Q.
  DType right = DType::kUnknown;   ///< Of B, W, K.
  DType output = DType::kUnknown;  ///< Of Y.
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t groups = 1;             ///< Convolution only.
  bool right_transposed = false;  ///< B is stored as [n,k], like the weight of linear.
  /// Extents whose alignment decides which kernels can run, named as in PricedOp::params. GEMM: n,
  /// m, k (M, N, K of the column-major product); convolution: C and K of one group; attention: D
  /// and Dv; recurrent: batch, input, hidden.
  std::vector<NamedExtent> extents;
  /// What identifies the call beside a product of matrices, by the keys of columns of kernels: of a
  /// convolution conv_n, conv_c, conv_h, conv_w, conv_k, conv_r, conv_s, conv_g; of attention
  /// batch, heads, sq, sk, head_dim and causal (0 or 1). Unknown ones are left out.
  std::vector<NamedExtent> sizes = {};
  std::vector<int64_t> stride = {};  ///< Convolution: one value per dimension; empty: unknown.
};

/// Role of an op, where it matters beyond the cost.
enum class OpClass : uint8_t { kCompute, kView, kOptimizer, kCollective };

/// Cost of an op call, whatever kernels compute it.
struct PricedOp {
  std::string params;  ///< Printable, without blanks: "M=33278,N=700,K=200,fp32".
  /// One part; for a gradient function (convolution_backward) one per gradient computed.
  std::vector<PartWork> forward;
  /// Empty: the backward has no model. Gradients that are views are one part without work.
  std::vector<PartWork> backward;
  bool matmul_like = false;              ///< Work.mma is nonzero unless a size is 0.
  std::optional<MatrixProduct> product;  ///< Matrix ops that one product describes.
  OpClass op_class = OpClass::kCompute;  ///< kView: the forward launches nothing.
  /// Work.vec counts weights (docs/costs.md), not operations prescribed by the formula.
  bool vec_estimated = true;
  /// Work.mma is an upper bound or a leading term.
  bool mma_estimated = false;
  /// The FLOPs are a bound: the call does not hold what decides their number (sequence lengths,
  /// rows per expert). `params` states the bound: "rows<=3552".
  bool flops_bounded = false;
  /// Bytes of the first tensor; set by PriceCall.
  std::optional<Checked> input_bytes;
  /// Bytes of all tensors that the call names; nullopt if a type is unknown. Set by PriceCall.
  std::optional<Checked> argument_bytes = {};
  /// False: the op's name does not say what it computes, and Work.vec is meaningless.
  bool flops_known = true;
  bool bytes_known = true;  ///< False: Work.bytes is meaningless; see `why_no_bytes`.
  Reason why_no_bytes = Reason::kUnknownDType;
  /// Ops that only move elements of one type: elements read and written. If no tensor has a known
  /// type, the kernel's name may give it.
  std::optional<Checked> moved_elements;
  /// Copies: bytes of the source by its shape; an expanded source has fewer.
  std::optional<Checked> source_bytes;
  /// Views that fall back to copying (reshape): bytes moved by a forward kernel under the op.
  /// Without kernels the call moves 0, as `forward` says.
  std::optional<Checked> bytes_if_copied;
};

/// The price of a call, or why there is none.
struct PriceResult {
  std::optional<PricedOp> price;
  Reason reason = Reason::kUnknownOp;  ///< Only valid without a price.
};

struct OpModel {
  /// Normalised names (NormalizeOpName) that this model prices.
  std::span<const std::string_view> names;
  /// Prices a call of the normalised op `op`. Pure, never throws; bad arguments give a reason.
  PriceResult (*price)(std::string_view op, const OpCall& call);
};

/// Strips prefixes, overloads and in-place marks and resolves aliases: "aten::add_.Tensor" and
/// "__iadd__" -> "add", "true_divide" -> "div" (docs/costs.md, section names).
std::string NormalizeOpName(std::string_view op);

/// nullptr without a model.
const OpModel* FindOpModel(std::string_view normalized_op);

/// All normalised names with a model, sorted.
std::vector<std::string_view> OpNames();

/// NormalizeOpName, FindOpModel and price in one; kUnknownOp without a model.
PriceResult PriceCall(const OpCall& call);

/// The gradient named by a function that computes just one: kDgrad for
/// "cudnn_convolution_backward_input"; nullopt for other functions.
std::optional<Part> PartOfFunction(std::string_view op);

/// "dgrad", "wgrad", "bgrad" or "".
std::string_view GradientWord(Part part);

/// The sizes to print for a kernel that computes `part`.
std::string_view ParamsOf(const PricedOp& op, Direction direction, Part part);

/// The extents behind ParamsOf() that matter to Tensor Cores; empty without a product, and for a
/// part that is none where the parts have products of their own.
std::span<const NamedExtent> ExtentsOf(const PricedOp& op, Direction direction, Part part);

/// A size of the call by the key of a column of kernels: m, n, k and batch of a product of matrices
/// whose `extents` (ExtentsOf) are its M, N and K; of other products MatrixProduct::sizes. nullopt:
/// the call has none of this key, or it is not known.
std::optional<int64_t> SizeNamed(const PricedOp& op, std::span<const NamedExtent> extents,
                                 std::string_view key);

/// Which factors of a part's product are stored transposed, in the terms of column-major BLAS:
/// "TN" for linear. "": not told by the op's definition, and for other products.
std::string_view LayoutOf(const PricedOp& op, Direction direction, Part part);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_OP_MODEL_H_
