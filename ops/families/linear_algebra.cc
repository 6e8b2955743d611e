// Dense matrix products. Shapes are row-major: A [M,K], B [K,N], Y [M,N]. Printed M and N are
// swapped, as in PyProf: those of BLAS's column-major product.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/product.h"
#include "ops/op_name.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// ---- linear ----

// Y[..,N] = X[..,K] W[N,K]^T + b[N]. The leading extents of X are the rows M of one product. With
// W[K] the result is Y[..] = X W + b, and b is 0-d.
PriceResult PriceLinear(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input", "weight", "bias"});
  const Tensor x = args.RequireTensor(0);
  const Tensor w = args.RequireTensor(1);
  const std::optional<Tensor> bias = args.FindTensor(2);
  if (args.failed()) return Unpriced(args.reason());
  const size_t w_rank = w.shape.size();
  if (x.shape.empty() || w_rank < 1 || w_rank > 2 || x.shape.back() != w.shape.back()) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Shape outputs = w.shape.first(w_rank - 1);
  if (bias && !std::equal(bias->shape.begin(), bias->shape.end(), outputs.begin(), outputs.end())) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const std::optional<int64_t> rows = Elements(x.shape.first(x.shape.size() - 1)).Value();
  if (!rows) return Unpriced(Reason::kCostOverflow);

  const Product p{1, *rows, w_rank == 2 ? w.shape[0] : 1, w.shape.back(), 0, 0};
  PriceResult result = PricedProduct(ProductText(p, x.dtype), p, x, w);
  MarkTransposed(p, x, w, &*result.price);
  if (bias) {
    Work& forward = result.price->forward.front().work;
    forward.vec += p.outputs();
    forward.bytes += bias->bytes();
    const Work gradient{0, p.outputs(), OutputBytes(p, x, w) + bias->bytes()};
    if (bias->Differentiable()) result.price->backward.push_back({Part::kBgrad, gradient});
  }
  return result;
}

// ---- products of two operands ----

// The product of operands of the given ranks, without broadcasting. A vector is a matrix of one row
// (left) or one column (right).
std::optional<Product> PlainProduct(const Tensor& a, size_t a_rank, const Tensor& b,
                                    size_t b_rank) {
  if (a.shape.size() != a_rank || b.shape.size() != b_rank) return std::nullopt;
  Product p;
  if (a_rank == 3) p.batch = a.shape[0];
  if (a_rank == 3 && b.shape[0] != a.shape[0]) return std::nullopt;
  if (a_rank > 1) p.m = a.shape[a_rank - 2];
  p.k = a.shape.back();
  if (b_rank > 1) p.n = b.shape.back();
  const int64_t b_k = b_rank == 1 ? b.shape[0] : b.shape[b_rank - 2];
  if (b_k != p.k) return std::nullopt;
  return p;
}

struct PlainOp {
  std::string_view name;
  size_t a_rank;
  size_t b_rank;
};

constexpr PlainOp kPlainOps[] = {
    {"mm", 2, 2}, {"bmm", 3, 3}, {"mv", 2, 1}, {"dot", 1, 1}, {"vdot", 1, 1},
};

PriceResult PricePlain(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"input|self", "mat2|vec|other|tensor", "out_dtype"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  const DType output = args.DTypeOr(2, PromoteDTypes(a.dtype, b.dtype));
  if (args.failed()) return Unpriced(args.reason());
  const PlainOp* row = FindRow(kPlainOps, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  std::optional<Product> p = PlainProduct(a, row->a_rank, b, row->b_rank);
  if (!p) return Unpriced(Reason::kShapeMismatch);
  p->output = output;
  return PricedProduct(op == "bmm" ? BatchProductText(*p, a.dtype) : ProductText(*p, a.dtype), *p,
                       a, b);
}

PriceResult PriceMatmul(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "other|mat2|tensor2"});
  Tensor a = args.RequireTensor(0);
  Tensor b = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  if (ParseOpName(call.op).reversed) std::swap(a, b);
  const std::optional<Product> p = BroadcastProduct(a, b);
  if (!p) return Unpriced(Reason::kShapeMismatch);
  return PricedProduct(
      fmt::format("A={},B={},{}", TupleText(a.shape), TupleText(b.shape), DTypeWord(a.dtype)), *p,
      a, b);
}

// ---- outer products: one multiplication per output, nothing is summed ----

PriceResult PriceOuter(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "vec2|mat2|other"});
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  if (a.shape.size() != 1 || b.shape.size() != 1) return Unpriced(Reason::kShapeMismatch);
  const Product p{1, a.shape[0], b.shape[0], 1, 0, 0};
  const Checked output_bytes = OutputBytes(p, a, b);
  return Priced(ProductText(p, a.dtype), {0, p.outputs(), a.bytes() + b.bytes() + output_bytes},
                OuterGradients(a, b, p.outputs(), output_bytes));
}

// ---- products with an addend: beta C + alpha A B ----

struct LinearAlgebraSum {
  Tensor c, a, b;
  double alpha = 1;
  double beta = 1;
  bool gelu = false;
};

constexpr std::string_view kAddendNames[] = {"input", "self"};
constexpr std::string_view kLeftNames[] = {"mat1", "batch1", "vec1", "mat"};
constexpr std::string_view kRightNames[] = {"mat2", "batch2", "vec2", "vec"};
constexpr std::span<const std::string_view> kSumOperands[] = {kAddendNames, kLeftNames,
                                                              kRightNames};

// Which of C, A, B a tensor argument is: by keyword, otherwise the first free one.
size_t SumOperand(const OpArg& arg, const std::array<std::optional<Tensor>, 3>& operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto& names = kSumOperands[i];
    const bool named = std::find(names.begin(), names.end(), arg.name) != names.end();
    if (arg.name.empty() ? !operands[i] : named) return i;
  }
  return operands.size();
}

// Reads C, A, B and the factors, which were positional before: torch.addmm(beta, C, alpha, A, B)
// and C.addmm(beta, alpha, A, B); in both beta comes first and alpha never alone.
std::optional<LinearAlgebraSum> ReadSum(const OpCall& call, Reason* reason) {
  std::array<std::optional<Tensor>, 3> operands;
  std::vector<double> factors;
  LinearAlgebraSum sum;
  for (const OpArg& arg : call.args) {
    *reason = Reason::kUnsupportedArgs;
    if (arg.kind == OpArg::Kind::kNone || arg.name == "out") continue;
    if (arg.name == "alpha" || arg.name == "beta") {
      if (!IsNumber(arg)) return std::nullopt;
      (arg.name == "alpha" ? sum.alpha : sum.beta) = NumberOf(arg);
    } else if (arg.name == "use_gelu") {
      if (!IsNumber(arg)) return std::nullopt;
      sum.gelu = NumberOf(arg) != 0;
    } else if (arg.kind == OpArg::Kind::kTensor) {
      const size_t operand = SumOperand(arg, operands);
      if (operand == operands.size() || operands[operand]) return std::nullopt;
      operands[operand] = TensorOf(arg, reason);
      if (!operands[operand]) return std::nullopt;
    } else if (IsNumber(arg) && arg.name.empty() && !operands[1]) {
      factors.push_back(NumberOf(arg));
    } else {
      return std::nullopt;
    }
  }
  *reason = Reason::kUnsupportedArgs;
  if (!operands[0] || !operands[1] || !operands[2] || factors.size() > 2) return std::nullopt;
  if (!factors.empty()) sum.beta = factors[0];
  if (factors.size() > 1) sum.alpha = factors[1];
  sum.c = *operands[0];
  sum.a = *operands[1];
  sum.b = *operands[2];
  return sum;
}

// One FLOP per output for each of: adding C, scaling C, scaling the product.
int AddendWeight(const LinearAlgebraSum& sum) {
  return (sum.beta != 0 ? 1 : 0) + (sum.beta != 0 && sum.beta != 1 ? 1 : 0) +
         (sum.alpha != 1 ? 1 : 0);
}

bool BroadcastsTo(Shape shape, Shape result) {
  const std::optional<std::vector<int64_t>> both = Broadcast({shape, result});
  return both && std::equal(both->begin(), both->end(), result.begin(), result.end());
}

// The gradient of a broadcast C is a reduction of dY; of a full-size C it is dY.
std::optional<Work> AddendGradient(const LinearAlgebraSum& sum, Checked outputs,
                                   Checked output_bytes) {
  if (sum.beta == 0 || !sum.c.Differentiable() || sum.c.elements() == outputs) return std::nullopt;
  return Work{0, outputs, output_bytes + sum.c.bytes()};
}

struct SumOp {
  std::string_view name;
  size_t a_rank;
  size_t b_rank;
  bool keeps_batch;  // baddbmm keeps it, addbmm sums it.
};

constexpr std::string_view kActivated = "_addmm_activation";

constexpr SumOp kSumOps[] = {
    {"addmm", 2, 2, false},  {"addmv", 2, 1, false},    {"baddbmm", 3, 3, true},
    {"addbmm", 3, 3, false}, {kActivated, 2, 2, false},
};

// relu and tanh-gelu, as in the fused kernels. For inference only.
void Activate(const LinearAlgebraSum& sum, Checked outputs, PricedOp* op) {
  constexpr int kRelu = 1;
  constexpr int kGelu = 28;
  op->forward.front().work.vec += outputs * (sum.gelu ? kGelu : kRelu);
  op->vec_estimated |= sum.gelu;
  op->backward.clear();
}

PriceResult PriceSum(std::string_view op, const OpCall& call) {
  Reason reason;
  const std::optional<LinearAlgebraSum> sum = ReadSum(call, &reason);
  if (!sum) return Unpriced(reason);
  const SumOp* row = FindRow(kSumOps, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  const std::optional<Product> p = PlainProduct(sum->a, row->a_rank, sum->b, row->b_rank);
  if (!p) return Unpriced(Reason::kShapeMismatch);

  std::vector<int64_t> output;
  if (row->keeps_batch) output.push_back(sum->a.shape[0]);
  output.push_back(p->m);
  if (row->b_rank > 1) output.push_back(p->n);
  if (!BroadcastsTo(sum->c.shape, output)) return Unpriced(Reason::kShapeMismatch);

  const Checked outputs = Elements(output);
  const Checked output_bytes = BytesOf(outputs, PromoteDTypes(sum->a.dtype, sum->b.dtype));
  const Checked mma = p->Flops(sum->a, sum->b);
  const Checked operand_bytes = sum->a.bytes() + sum->b.bytes() + output_bytes;
  const Work forward{mma, outputs * AddendWeight(*sum),
                     operand_bytes + (sum->beta != 0 ? sum->c.bytes() : Checked(0))};
  std::vector<PartWork> backward;
  if (sum->a.Differentiable()) backward.push_back({Part::kDgrad, {mma, 0, operand_bytes}});
  if (sum->b.Differentiable()) backward.push_back({Part::kWgrad, {mma, 0, operand_bytes}});
  if (const auto gradient = AddendGradient(*sum, outputs, output_bytes)) {
    backward.push_back({Part::kBgrad, *gradient});
  }
  PriceResult result =
      Priced(row->a_rank == 3 ? BatchProductText(*p, sum->a.dtype) : ProductText(*p, sum->a.dtype),
             forward, std::move(backward));
  MarkMatrix(*p, sum->a, sum->b, &*result.price);
  if (op == kActivated) Activate(*sum, outputs, &*result.price);
  return result;
}

// addr: C plus an outer product.
PriceResult PriceOuterSum(std::string_view, const OpCall& call) {
  Reason reason;
  const std::optional<LinearAlgebraSum> sum = ReadSum(call, &reason);
  if (!sum) return Unpriced(reason);
  if (sum->a.shape.size() != 1 || sum->b.shape.size() != 1) return Unpriced(Reason::kShapeMismatch);
  const Product p{1, sum->a.shape[0], sum->b.shape[0], 1, 0, 0};
  const std::array<int64_t, 2> output{p.m, p.n};
  if (!BroadcastsTo(sum->c.shape, output)) return Unpriced(Reason::kShapeMismatch);

  const Checked output_bytes = OutputBytes(p, sum->a, sum->b);
  Work forward{0, p.outputs() * (1 + AddendWeight(*sum)),
               sum->a.bytes() + sum->b.bytes() + output_bytes};
  if (sum->beta != 0) forward.bytes += sum->c.bytes();
  Work backward = OuterGradients(sum->a, sum->b, p.outputs(), output_bytes);
  if (const auto gradient = AddendGradient(*sum, p.outputs(), output_bytes)) {
    backward.vec += gradient->vec;
    backward.bytes += gradient->bytes;
  }
  return Priced(ProductText(p, sum->a.dtype), forward, backward);
}

constexpr std::string_view kLinearNames[] = {"linear"};
constexpr auto kPlainNames = NamesOf(kPlainOps);
constexpr std::string_view kMatmulNames[] = {"matmul"};
constexpr std::string_view kOuterNames[] = {"outer", "ger"};
constexpr auto kLinearAlgebraSumNames = NamesOf(kSumOps);
constexpr std::string_view kOuterSumNames[] = {"addr"};

constexpr OpModel kLinearAlgebraModels[] = {
    {kLinearNames, PriceLinear},        {kPlainNames, PricePlain},
    {kMatmulNames, PriceMatmul},        {kOuterNames, PriceOuter},
    {kLinearAlgebraSumNames, PriceSum}, {kOuterSumNames, PriceOuterSum},
};

}  // namespace

std::span<const OpModel> LinearAlgebraOps() { return kLinearAlgebraModels; }

}  // namespace oplens::ops
