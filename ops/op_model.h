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
  Checked mma;  ///< FLOPs of matrix products: what Tensor Cores can do.
  Checked vec;  ///< All other FLOPs; weights per element from docs/costs.md.
  Checked
      bytes;  ///< Ideal DRAM traffic: every distinct input read once, every output written once.
};

/// A dimension under the name that users know it by.
struct NamedExtent {
  std::string_view name;  ///< Of static storage: "K", "C", "D".
  int64_t extent = 0;
};

/// A part of an op that kernels of its own compute.
enum class Part : uint8_t {
  kForward,
  kBackward,  ///< The whole backward of an op that is not split further.
  kDgrad,     ///< Gradient of the data operand(s).
  kWgrad,     ///< Gradient of the weight.
  kBgrad,     ///< Gradient of the bias.
};

struct PartWork {
  Part part = Part::kForward;
  Work work;
  /// Sizes of what the part computes, as PricedOp::params; empty: those of the op.
  std::string params = {};
  /// Of the part's own product, under the names of `params`.
  std::vector<NamedExtent> extents = {};
  /// Of work.bytes, zeros that a fill or a memset writes before the kernels that do the work.
  Checked zeros = {};
};

/// The product at the heart of a matrix op, as far as Tensor Cores and the kernels of its gradients
/// depend on it. Row-major: Y[m,n] = A[m,k] B[k,n], `batch` times.
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
  int64_t groups = 1;             ///< Of a convolution.
  bool right_transposed = false;  ///< B is stored [n,k], as the weight of linear is.
  /// The extents whose multiples decide which kernels can run, under the names of
  /// PricedOp::params: for a GEMM n, m, k, which are M, N, K of the column-major product; for a
  /// convolution C and K of a group; for attention D and Dv; for recurrent ops batch, input,
  /// hidden.
  std::vector<NamedExtent> extents;
};

/// What an op is for, where that decides more than its cost.
enum class OpClass : uint8_t { kCompute, kView, kOptimizer, kCollective };

/// What an op call needs, whatever kernels compute it.
struct PricedOp {
  std::string params;  ///< Printable and without blanks: "M=33278,N=700,K=200,fp32".
  /// One part; of a call of a gradient function (convolution_backward) the parts it computes.
  std::vector<PartWork> forward;
  /// Empty when the backward has no model. A backward that needs no kernel (its gradients are
  /// views) is one part without work.
  std::vector<PartWork> backward;
  bool matmul_like = false;              ///< Work.mma is not 0 for sizes that are not 0.
  std::optional<MatrixProduct> product;  ///< Of matrix ops, where one product stands for the op.
  OpClass op_class = OpClass::kCompute;  ///< kView: the forward launches nothing.
  /// Work.vec counts weights (docs/costs.md), not operations that the formula prescribes.
  bool vec_estimated = true;
  /// Work.mma is an upper bound or a leading term.
  bool mma_estimated = false;
  /// The FLOPs are a bound, since the call does not hold what decides their number (how long
  /// sequences are, how many rows each expert gets); `params` tell of what and which: "rows<=3552".
  bool flops_bounded = false;
  /// Bytes of the first tensor; set by PriceCall.
  std::optional<Checked> input_bytes;
  /// False when the name of the op does not say what it computes: Work.vec means nothing.
  bool flops_known = true;
  bool bytes_known = true;  ///< False: Work.bytes means nothing, for the reason `why_no_bytes`.
  Reason why_no_bytes = Reason::kUnknownDType;
  /// Of an op that only moves elements, all of one type: how many it reads and writes. Where no
  /// tensor tells that type, the name of a kernel may.
  std::optional<Checked> moved_elements;
  /// Of a copy, the bytes of its source: where that is a view which repeats the elements of a
  /// smaller tensor (expand), as no shape tells, fewer are read.
  std::optional<Checked> source_bytes;
  /// Views that fall back to copying (reshape): the bytes that a forward kernel under the op moves.
  /// A call without kernels moves what `forward` says, 0.
  std::optional<Checked> bytes_if_copied;
};

/// A family's answer for one call: the price, or why there is none.
struct PriceResult {
  std::optional<PricedOp> price;
  Reason reason = Reason::kUnknownOp;  ///< Valid when price is empty.
};

/// One op of the registry.
struct OpModel {
  /// Normalised names (see NormalizeOpName) that this model prices.
  std::span<const std::string_view> names;
  /// Prices a call. `op` is the normalised name. Pure; never throws; bad arguments give a reason.
  PriceResult (*price)(std::string_view op, const OpCall& call);
};

/// The op name without prefixes, overloads and in-place marks: "aten::add_.Tensor" -> "add",
/// "__iadd__" -> "add", "true_divide" -> "div" (ops of docs/costs.md, section names).
std::string NormalizeOpName(std::string_view op);

/// The model of a normalised name, or nullptr.
const OpModel* FindOpModel(std::string_view normalized_op);

/// Every normalised name that has a model, sorted.
std::vector<std::string_view> OpNames();

/// NormalizeOpName, FindOpModel and price in one. A call without a model answers kUnknownOp.
PriceResult PriceCall(const OpCall& call);

/// The gradient that a function which computes one alone is named after:
/// "cudnn_convolution_backward_input" is of the data; nullopt for other functions.
std::optional<Part> PartOfFunction(std::string_view op);

/// "dgrad", "wgrad", "bgrad" or "".
std::string_view GradientWord(Part part);

/// What to print of the sizes of a kernel that computes `part`.
std::string_view ParamsOf(const PricedOp& op, Direction direction, Part part);

/// The extents that those sizes name, as far as Tensor Cores depend on them; empty without a
/// product.
std::span<const NamedExtent> ExtentsOf(const PricedOp& op, Direction direction, Part part);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_OP_MODEL_H_
