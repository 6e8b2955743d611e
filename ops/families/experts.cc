// Products of groups of rows with separate weights: mixtures of experts.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/product.h"
#include "ops/families/quantized.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Group sizes from the groups' ends; nullopt unless the ends ascend to at most `rows`.
std::optional<std::vector<int64_t>> SizesOfGroups(const std::vector<int64_t>& ends, int64_t rows) {
  std::vector<int64_t> sizes;
  int64_t begin = 0;
  for (const int64_t end : ends) {
    if (end < begin || end > rows) return std::nullopt;
    sizes.push_back(end - begin);
    begin = end;
  }
  return sizes;
}

// A[M,K] B[K,N] for each of E groups; one extent, T, is the total over the groups.
struct ExpertsGroups {
  int64_t e = 0;
  int64_t t = 0;
  int64_t n = 0;
  int64_t k = 0;
  Checked grouped;  // Extent over all groups; E times each group's if none is ragged.
  Checked output;   // Elements of Y.
  bool ragged = true;
  bool left_by_group = false;   // A has one matrix per group.
  bool right_by_group = false;  // B has one matrix per group.
};

// The ranks give the ragged extent: with weights per group the rows, with groups on the left the
// columns of B, with two matrices the summed extent (weight gradients), with two batches none.
std::optional<ExpertsGroups> ReadGroups(const Tensor& a, const Tensor& b,
                                        const std::optional<Tensor>& ends) {
  const size_t a_rank = a.shape.size();
  const size_t b_rank = b.shape.size();
  if (a_rank < 2 || a_rank > 3 || b_rank < 2 || b_rank > 3) return std::nullopt;
  const int64_t m = a.shape[a_rank - 2];
  const int64_t n = b.shape[b_rank - 1];
  const int64_t k = a.shape[a_rank - 1];
  if (k != b.shape[b_rank - 2]) return std::nullopt;
  ExpertsGroups g;
  g.left_by_group = a_rank == 3;
  g.right_by_group = b_rank == 3;
  if (g.left_by_group) g.e = a.shape[0];
  if (g.right_by_group) g.e = b.shape[0];
  if (g.left_by_group && g.right_by_group) {
    if (a.shape[0] != b.shape[0] || ends) return std::nullopt;
    g.t = m;
    g.n = n;
    g.k = k;
    g.ragged = false;
    g.grouped = Checked(g.e) * m;
    g.output = g.grouped * n;
    return g;
  }
  const auto count = ends ? ends->elements().Value() : std::nullopt;
  if (!g.left_by_group && !g.right_by_group) {
    if (!count) return std::nullopt;
    g.e = *count;
    g.t = k;
    g.n = n;
    g.k = m;
    g.output = Checked(g.e) * m * n;
  } else {
    g.t = g.right_by_group ? m : n;
    g.n = g.right_by_group ? n : m;
    g.k = k;
    g.output = Checked(m) * n;
  }
  g.grouped = g.t;
  if (count && *count != g.e) return std::nullopt;
  return g;
}

// _grouped_mm(a, b, offs, bias, out_dtype) and _scaled_grouped_mm, with scales after the operands.
// If the values of offs were not recorded, the groups are assumed nonempty and to cover all rows,
// which holds for mixtures of experts except for padding: an estimate.
PriceResult PriceGroupedMm(std::string_view op, const OpCall& call) {
  const bool scaled = op == "_scaled_grouped_mm";
  CallArgs args =
      scaled
          ? CallArgs(call, {"input|self|mat_a", "mat2|mat_b", "scale_a", "scale_b", "offs", "bias",
                            "scale_result", "out_dtype|dtype", "use_fast_accum"})
          : CallArgs(call, {"input|self|mat_a", "mat2|mat_b", "offs", "bias", "out_dtype|dtype"});
  const size_t offsets = scaled ? 4 : 2;
  const Tensor a = args.RequireTensor(0);
  const Tensor b = args.RequireTensor(1);
  const std::optional<Tensor> ends = args.FindTensor(offsets);
  const DType output = args.DTypeOr(scaled ? 7 : 4, scaled ? DType::kBFloat16 : a.dtype);
  Checked extra = ends ? ends->bytes() : Checked(0);
  if (scaled) extra += ScaleBytes(&args, 2) + ScaleBytes(&args, 3);
  if (args.failed()) return Unpriced(args.reason());
  std::optional<ExpertsGroups> g = ReadGroups(a, b, ends);
  if (!g) return Unpriced(Reason::kShapeMismatch);

  Checked a_bytes = a.bytes();
  Checked b_bytes = b.bytes();
  const OpArg* values = args.Find(offsets);
  const bool known = values != nullptr && !values->int_list.empty();
  if (known) {
    const auto sizes = SizesOfGroups(values->int_list, g->t);
    if (!sizes || static_cast<int64_t>(sizes->size()) != g->e) {
      return Unpriced(Reason::kUnsupportedArgs);
    }
    const Checked used = g->e - std::count(sizes->begin(), sizes->end(), 0);
    g->grouped = values->int_list.back();
    if (g->right_by_group) b_bytes = BytesOf(used * b.shape[1] * b.shape[2], b.dtype);
    if (g->left_by_group) a_bytes = BytesOf(used * a.shape[1] * a.shape[2], a.dtype);
  }
  const Checked mma = g->grouped * g->n * g->k * FlopsPerFma(a.dtype, b.dtype);
  const Work forward{mma, 0, a_bytes + b_bytes + BytesOf(g->output, output) + extra};
  std::vector<PartWork> backward;
  if (!scaled && a.Differentiable()) backward.push_back({Part::kDgrad, forward, {}});
  if (!scaled && b.Differentiable()) backward.push_back({Part::kWgrad, forward, {}});
  PriceResult result =
      Priced(fmt::format("E={},T={},N={},K={},{}", g->e, g->t, g->n, g->k, DTypeWord(a.dtype)),
             forward, std::move(backward));
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  result.price->mma_estimated = g->ragged && !known;
  result.price->product = ProductOf({g->t, g->n, g->k}, a.dtype, b.dtype, output);
  result.price->product->extents = {{"N", g->n}, {"T", g->t}, {"K", g->k}};
  return result;
}

struct FusedExpertsOp {
  std::string_view name;
  // Place of the mask of the experts that this GPU has; 0: the op has none.
  size_t mask = 0;
  // Whether a call without indices is one that was cut: its weights have their shape.
  bool indices_cut = false;
};

constexpr FusedExpertsOp kFusedExpertsOps[] = {
    {"fused_experts"},
    {"inplace_fused_experts"},
    {"outplace_fused_experts"},
    {"fused_moe", 5},  // AITER
    {"rocm_aiter_fused_moe", 5, true},
    {"rocm_aiter_asm_moe_tkw1", 11},
};

bool HasTensorAt(const OpCall& call, size_t place) {
  return place < call.args.size() && call.args[place].kind == OpArg::Kind::kTensor;
}

// fused_experts(x[T,H], w1[E,I1,H], w2[E,H,I], weights[T,k], ids[T,k], ..): each row passes k
// experts: a product with w1, an activation (gated if I1 is 2I), a product with w2; the k results
// are weighted and added. How many experts all rows reach is not recorded: one row reaches k. With
// a mask, some may be on other GPUs, so that the FLOPs are a bound and no weight is surely read.
PriceResult PriceFusedExperts(std::string_view name, const OpCall& call) {
  constexpr int kGate = 22;
  constexpr int kActivation = 21;
  constexpr size_t kOperands = 5;
  const FusedExpertsOp* op = FindRow(kFusedExpertsOps, name);
  const bool cut = op != nullptr && op->indices_cut && call.args.size() == kOperands - 1;
  if (op == nullptr || (call.args.size() < kOperands && !cut)) {
    return Unpriced(Reason::kUnsupportedArgs);
  }
  const auto operands_end = call.args.begin() + static_cast<ptrdiff_t>(cut ? 4 : kOperands);
  const OpCall operands{call.mod, call.op, {call.args.begin(), operands_end}};
  CallArgs args(operands, {"hidden_states", "w1", "w2", "topk_weights|topk_weight", "topk_ids"});
  const Tensor x = args.RequireTensor(0);
  const Tensor w1 = args.RequireTensor(1);
  const Tensor w2 = args.RequireTensor(2);
  const Tensor weights = args.RequireTensor(3);
  const Tensor ids = args.RequireTensor(cut ? 3 : 4);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() != 2 || w1.shape.size() != 3 || w2.shape.size() != 3 ||
      ids.shape.size() != 2 || w1.shape[0] != w2.shape[0] || w1.shape[2] != x.shape[1] ||
      w2.shape[1] != x.shape[1] || ids.shape[0] != x.shape[0]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t h = x.shape[1];
  const int64_t inner = w2.shape[2];
  const bool gated = Checked(inner) * 2 == w1.shape[1];
  if (!gated && inner != w1.shape[1]) return Unpriced(Reason::kShapeMismatch);
  const bool masked = op->mask > 0 && HasTensorAt(call, op->mask);
  const Checked rows = ids.elements();
  const auto passes = rows.Value();
  if (!passes) return Unpriced(Reason::kCostOverflow);
  const Checked experts = masked || *passes == 0 ? 0 : std::min(ids.shape[1], w1.shape[0]);
  const Checked weight_bytes =
      BytesOf(experts * w1.shape[1] * h, w1.dtype) + BytesOf(experts * h * inner, w2.dtype);
  Work forward;
  forward.mma = rows * h * (Checked(w1.shape[1]) + inner) * 2;
  forward.vec = rows * inner * (gated ? kGate : kActivation) + rows * h * 2;
  forward.bytes = x.bytes() * 2 + weight_bytes + weights.bytes();
  if (!cut) forward.bytes += ids.bytes();
  std::string params = fmt::format("E={},T={},k={},H={},I={},{}", w1.shape[0], x.shape[0],
                                   ids.shape[1], h, inner, DTypeWord(x.dtype));
  if (masked) params += fmt::format(",rows<={}", *passes);
  PriceResult result = Priced(std::move(params), forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->flops_bounded = masked;
  result.price->product = ProductOf({*passes, w1.shape[1], h}, x.dtype, w1.dtype, x.dtype);
  result.price->product->extents = {{"I1", w1.shape[1]}, {"kT", *passes}, {"H", h}};
  return result;
}

constexpr std::string_view kGroupedNames[] = {"_grouped_mm", "_scaled_grouped_mm", "grouped_mm"};
constexpr auto kExpertsFusedNames = NamesOf(kFusedExpertsOps);
constexpr OpModel kExpertsModels[] = {{kGroupedNames, PriceGroupedMm},
                                      {kExpertsFusedNames, PriceFusedExperts}};

}  // namespace

std::span<const OpModel> ExpertOps() { return kExpertsModels; }

}  // namespace oplens::ops
