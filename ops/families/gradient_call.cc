
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ops/families/families.h"
#include "ops/pricing.h"

namespace oplens::ops {
namespace {

/// Where the arguments of an op stand among those of its gradient function.
struct GradientCall {
  std::string_view name;    ///< Normalised, of the op.
  std::string_view places;  ///< 0 to 9, then from a on; '-' is an argument that is not given.
};

// The first argument is dY, which has the shape and the type of x where one of x's own is not
// needed.
constexpr GradientCall kGradientCallGradients[] = {
    {"_efficient_attention", "12346789be"},
    {"_flash_attention", "1236789ab"},
    {"_flash_attn", "1239abcd"},
    {"_flash_attn_varlen", "1239abcdefgh"},
    {"_scaled_dot_product_cudnn_attention", "1238-de"},
    {"_scaled_dot_product_efficient_attention", "1234-9b"},
    {"_scaled_dot_product_flash_attention", "123ab"},
    {"_scaled_dot_product_flash_attention_for_cpu", "12367"},
    {"_scaled_dot_product_fused_attention_overrideable", "1234cd"},
    {"dropout", "0"},
    {"elu", "0"},
    {"fused_rope", "01"},
    {"gather", "123"},
    {"gelu", "1"},
    {"glu", "12"},
    {"hardshrink", "1"},
    {"hardsigmoid", "1"},
    {"hardswish", "1"},
    {"hardtanh", "1"},
    {"layer_norm", "1256"},
    {"leaky_relu", "1"},
    {"log_sigmoid", "1"},
    {"log_softmax", "12"},
    {"mish", "1"},
    {"relu", "1"},
    {"rms_norm", "124"},
    {"sigmoid", "1"},
    {"silu", "1"},
    {"softmax", "12"},
    {"softplus", "1"},
    {"softshrink", "1"},
    {"tanh", "1"},
};

OpArg GradientCallAbsent() {
  OpArg arg;
  arg.kind = OpArg::Kind::kNone;
  return arg;
}

/// The argument at a place; past the last one for '-'.
size_t GradientCallIndexOf(char place) {
  if (place == '-') return SIZE_MAX;
  return static_cast<size_t>(place >= 'a' ? place - 'a' + 10 : place - '0');
}

std::vector<OpArg> GradientCallPositional(const OpCall& call) {
  std::vector<OpArg> args;
  for (const OpArg& arg : call.args) {
    if (arg.name.empty()) args.push_back(arg);
  }
  return args;
}

/// The arguments of the op; keywords are the same.
std::optional<std::vector<OpArg>> OpArguments(std::string_view places, const OpCall& call) {
  const std::vector<OpArg> given = GradientCallPositional(call);
  std::vector<OpArg> args;
  for (const char place : places) {
    const size_t i = GradientCallIndexOf(place);
    if (i < given.size()) {
      args.push_back(given[i]);
    } else if (place == '-') {
      args.push_back(GradientCallAbsent());
    } else if (args.empty()) {
      return std::nullopt;
    }
  }
  for (const OpArg& arg : call.args) {
    if (!arg.name.empty()) args.push_back(arg);
  }
  return args;
}

/// embedding_dense_backward(dY, indices, rows, ..): the table is not an argument.
std::optional<std::vector<OpArg>> EmbeddingArguments(const OpCall& call) {
  std::vector<OpArg> given = GradientCallPositional(call);
  if (given.size() < 3 || given[0].kind != OpArg::Kind::kTensor || given[0].shape.empty() ||
      given[2].kind != OpArg::Kind::kInt || given[2].int_value < 0) {
    return std::nullopt;
  }
  OpArg table = given[0];
  table.shape = {given[2].int_value, given[0].shape.back()};
  return std::vector<OpArg>{std::move(given[1]), std::move(table)};
}

/// _cudnn_rnn_backward(x, weights.., stride, buffer, hx, cx, y, dY, dhy, dcy, mode, ..): the op's
/// arguments, and four more in between.
std::optional<std::vector<OpArg>> CudnnRnnArguments(const OpCall& call) {
  std::vector<OpArg> args = call.args;
  auto at = std::find_if(args.begin(), args.end(),
                         [](const OpArg& arg) { return arg.kind != OpArg::Kind::kTensor; });
  constexpr std::ptrdiff_t kToOutput = 4;
  constexpr std::ptrdiff_t kAdded = 4;
  // Weights that were not recorded have one place.
  if (at - args.begin() == 1) ++at;
  if (args.end() - at < kToOutput + kAdded) return std::nullopt;
  args.erase(at + kToOutput, at + kToOutput + kAdded);
  return args;
}

/// Families with models of gradient functions, under the names of the ops.
constexpr std::span<const OpModel> (*kGradientFamilies[])() = {
    BatchNormGradients, GroupNormGradients, LossGradients,         ClassLossGradients,
    SortingGradients,   ViewGradients,      EmbeddingBagGradients, LinearGradients,
};

const OpModel* FindGradientModel(std::string_view op) {
  for (const auto family : kGradientFamilies) {
    for (const OpModel& model : family()) {
      if (std::find(model.names.begin(), model.names.end(), op) != model.names.end()) return &model;
    }
  }
  return nullptr;
}

}  // namespace

PriceResult PriceGradientCall(std::string_view op, const OpCall& call) {
  if (const OpModel* own = FindGradientModel(op)) return own->price(op, call);
  for (const auto price_family :
       {PriceConvolutionGradient, PricePoolingGradient, PriceResampleGradient}) {
    if (std::optional<PriceResult> result = price_family(op, call)) return *std::move(result);
  }
  const GradientCall* row = FindRow(kGradientCallGradients, op);
  const OpModel* model = FindOpModel(op);
  std::optional<std::vector<OpArg>> args;
  if (op == "embedding") args = EmbeddingArguments(call);
  if (op == "_cudnn_rnn") args = CudnnRnnArguments(call);
  if (row != nullptr) args = OpArguments(row->places, call);
  if (!args || model == nullptr) return Unpriced(Reason::kUnsupportedArgs);
  PriceResult result =
      model->price(op, OpCall{"torch.nn.functional", std::string(op), *std::move(args)});
  if (!result.price) return result;
  PricedOp& price = *result.price;
  if (price.backward.empty()) return Unpriced(Reason::kUnsupportedArgs);
  // Whatever the op moves, its gradient is a call that launches kernels.
  if (price.op_class == OpClass::kView) price.op_class = OpClass::kCompute;
  price.forward = std::exchange(price.backward, {});
  price.bytes_if_copied.reset();
  return result;
}

}  // namespace oplens::ops
