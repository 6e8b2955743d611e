// State space models (Mamba): a scan over time of a state of N numbers a channel.

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "ops/families/engine_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// SelectiveScanFn(u[B,D,L], delta[B,D,L], A[D,N], B, C, D[D], z[B,D,L], delta_bias[D], ..): for
// each step and number of a state exp(delta A) 21, its product with the state and the sum with
// delta u B 4, and 2 to add C h up; of each output the skip D u 2 and the gate z sigmoid(z) 22.
PriceResult PriceSelectiveScan(std::string_view, const OpCall& call) {
  constexpr int kState = 27;
  constexpr int kSkip = 2;
  constexpr int kGate = 22;
  const auto u = TensorAt(call, 0);
  const auto delta = TensorAt(call, 1);
  const auto a = TensorAt(call, 2);
  if (!u || !delta || !a) return Unpriced(Reason::kUnsupportedArgs);
  if (u->shape.size() != 3 || a->shape.size() != 2 || u->shape[1] != a->shape[0] ||
      !(u->elements() == delta->elements())) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked n = u->elements();
  const auto skip = TensorAt(call, 5);
  const auto gate = TensorAt(call, 6);
  const bool gated = gate && gate->elements() == n;
  const Work forward{0, n * a->shape[1] * kState + n * ((skip ? kSkip : 0) + (gated ? kGate : 0)),
                     BytesOfAll(PositionalTensors(call)) + u->bytes()};
  return Priced(fmt::format("B={},D={},L={},N={},{}", u->shape[0], u->shape[1], u->shape[2],
                            a->shape[1], DTypeWord(u->dtype)),
                forward, std::vector<PartWork>());
}

// CausalConv1dFn(x[B,D,L], weight[D,W], bias[D], ..): each channel with a filter of its own.
PriceResult PriceCausalConvolution(std::string_view, const OpCall& call) {
  const auto x = TensorAt(call, 0);
  const auto weight = TensorAt(call, 1);
  const auto bias = TensorAt(call, 2);
  if (!x || !weight) return Unpriced(Reason::kUnsupportedArgs);
  if (x->shape.size() != 3 || weight->shape.size() != 2 || x->shape[1] != weight->shape[0]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked n = x->elements();
  const Work forward{0, n * weight->shape[1] * 2 + (bias ? n : Checked(0)),
                     x->bytes() * 2 + weight->bytes() + (bias ? bias->bytes() : Checked(0))};
  const Tensor tensors[] = {*x, *weight};
  return Priced(TensorsText(tensors), forward, std::vector<PartWork>());
}

constexpr std::string_view kScanNames[] = {"SelectiveScanFn", "selective_scan_fwd"};
constexpr std::string_view kConvolutionNames[] = {"CausalConv1dFn", "causal_conv1d_fwd"};
constexpr OpModel kStateSpaceModels[] = {{kScanNames, PriceSelectiveScan},
                                         {kConvolutionNames, PriceCausalConvolution}};

}  // namespace

std::span<const OpModel> StateSpaceOps() { return kStateSpaceModels; }

}  // namespace oplens::ops
