// Functions of inference engines that are not kinds of another family's ops: quantization of
// activations, writes to the cache of keys and values, products under names of their own. They pass
// their results as arguments.

#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// FLOPs an element: a product with the scale; where the scale follows from the values, also their
// absolute value and its maximum.
struct QuantizationOp {
  std::string_view name;
  int weight;
};

constexpr QuantizationOp kQuantizations[] = {
    {"static_scaled_fp8_quant", 1},
    {"static_scaled_int8_quant", 1},
    {"dynamic_scaled_fp8_quant", 3},
    {"dynamic_scaled_int8_quant", 3},
    {"dynamic_per_token_scaled_fp8_quant", 3},
};

std::optional<Tensor> InferenceTensorAt(const OpCall& call, size_t i) {
  Reason ignored;
  if (i >= call.args.size() || call.args[i].kind != OpArg::Kind::kTensor) return std::nullopt;
  return TensorOf(call.args[i], &ignored);
}

// (result, x, scale, ..)
PriceResult PriceQuantization(std::string_view op, const OpCall& call) {
  const QuantizationOp* row = FindRow(kQuantizations, op);
  const std::optional<Tensor> result = InferenceTensorAt(call, 0);
  const std::optional<Tensor> x = InferenceTensorAt(call, 1);
  const std::optional<Tensor> scale = InferenceTensorAt(call, 2);
  if (row == nullptr || !result || !x) return Unpriced(Reason::kUnsupportedArgs);
  if (!(result->elements() == x->elements())) return Unpriced(Reason::kShapeMismatch);
  const Tensor tensors[] = {*x, *result};
  return Priced(TensorsText(tensors),
                {0, x->elements() * row->weight,
                 x->bytes() + result->bytes() + (scale ? scale->bytes() : Checked(0))},
                std::vector<PartWork>());
}

// reshape_and_cache(key, value, key_cache, value_cache, slots, ..): the rows of both that have a
// slot go to the caches, in their types.
PriceResult PriceCacheWrite(std::string_view, const OpCall& call) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < 5; ++i) {
    const std::optional<Tensor> tensor = InferenceTensorAt(call, i);
    if (!tensor) return Unpriced(Reason::kUnsupportedArgs);
    tensors.push_back(*tensor);
  }
  const Tensor& key = tensors[0];
  const Tensor& value = tensors[1];
  const Tensor& slots = tensors[4];
  if (key.shape.empty() || value.shape.empty() || slots.shape.size() != 1 ||
      key.shape[0] < slots.shape[0] || value.shape[0] < slots.shape[0]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  Checked bytes = slots.bytes();
  for (size_t i = 0; i < 2; ++i) {
    const Checked moved = Elements(tensors[i].shape.subspan(1)) * slots.shape[0];
    bytes += BytesOf(moved, tensors[i].dtype) + BytesOf(moved, tensors[i + 2].dtype);
  }
  const Tensor named[] = {key, value};
  return Priced(TensorsText(named), {0, 0, bytes}, std::vector<PartWork>());
}

// linear under another name; a bias that is not given is recorded as an argument of no kind.
PriceResult PriceUnquantized(std::string_view, const OpCall& call) {
  const OpModel* model = FindOpModel("linear");
  if (model == nullptr || call.args.size() < 2) return Unpriced(Reason::kUnsupportedArgs);
  OpCall linear{call.mod, "linear", {call.args.begin(), call.args.begin() + 2}};
  if (InferenceTensorAt(call, 2)) linear.args.push_back(call.args[2]);
  return model->price("linear", linear);
}

constexpr auto kQuantizationNames = NamesOf(kQuantizations);
constexpr std::string_view kInferenceCacheNames[] = {"reshape_and_cache",
                                                     "reshape_and_cache_flash"};
constexpr std::string_view kUnquantizedNames[] = {"rocm_unquantized_gemm",
                                                  "rocm_unquantized_gemm_impl"};
constexpr OpModel kInferenceModels[] = {{kQuantizationNames, PriceQuantization},
                                        {kInferenceCacheNames, PriceCacheWrite},
                                        {kUnquantizedNames, PriceUnquantized}};

}  // namespace

std::span<const OpModel> InferenceOps() { return kInferenceModels; }

}  // namespace oplens::ops
