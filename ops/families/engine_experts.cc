// A whole layer of experts as one operator of an inference engine.

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "ops/families/engine_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// moe_forward(x[T,H], scores[T,E], layer), with what the calls inside tell: k experts a row (topk=)
// and the I elements inside an expert (intermediate=). Each row goes through k experts: a product
// with a gated [H,2I], the activation, a product with [I,H]. Which of the experts this GPU has is
// not told, so that it is at most all of the rows. Weights are no arguments: what of them is read,
// and in which type, is not known.
PriceResult PriceMoeForward(std::string_view, const OpCall& call) {
  constexpr int kGate = 22;
  const auto x = TensorAt(call, 0);
  const auto scores = TensorAt(call, 1);
  const auto topk = IntNamed(call, "topk");
  const auto intermediate = IntNamed(call, "intermediate");
  if (!x || !scores || !topk || !intermediate || *topk < 1 || *intermediate < 1) {
    return Unpriced(Reason::kUnsupportedArgs);
  }
  if (x->shape.size() != 2 || scores->shape.size() != 2 || scores->shape[0] != x->shape[0] ||
      *topk > scores->shape[1]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t h = x->shape[1];
  const Checked rows = Checked(x->shape[0]) * *topk;
  const Work forward{rows * h * *intermediate * 6, rows * *intermediate * kGate + rows * h * 2, 0};
  PriceResult result = Priced(
      fmt::format("E={},T={},k={},H={},I={},{},rows<={}", scores->shape[1], x->shape[0], *topk, h,
                  *intermediate, DTypeWord(x->dtype), rows.Value().value_or(INT64_MAX)),
      forward, std::vector<PartWork>());
  result.price->matmul_like = true;
  result.price->flops_bounded = true;
  result.price->bytes_known = false;
  result.price->why_no_bytes = Reason::kUnsupportedArgs;
  return result;
}

constexpr std::string_view kEngineExpertsNames[] = {"moe_forward", "moe_forward_shared"};
constexpr OpModel kEngineExpertsModels[] = {{kEngineExpertsNames, PriceMoeForward}};

}  // namespace

std::span<const OpModel> EngineExpertOps() { return kEngineExpertsModels; }

}  // namespace oplens::ops
