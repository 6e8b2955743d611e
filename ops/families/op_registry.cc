#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/op_model.h"
#include "ops/op_name.h"
#include "ops/pricing.h"

namespace oplens::ops {
namespace {

using Family = std::span<const OpModel> (*)();

constexpr Family kOpRegistryFamilies[] = {
    LinearAlgebraOps, PointwiseOps,       GatedOps,        SoftmaxOps,      NormalizationOps,
    DropoutOps,       EmbeddingOps,       ReductionOps,    DataMovementOps, CreationOps,
    JoinOps,          GatherOps,          ScatterOps,      SortingOps,      RandomOps,
    LossOps,          ConvolutionOps,     PoolingOps,      ResampleOps,     SpectralOps,
    AttentionOps,     RecurrentOps,       RotaryOps,       EinsumOps,       QuantizedOps,
    FactorizationOps, SparseOps,          OptimizerOps,    CollectiveOps,   BatchNormOps,
    GroupNormOps,     SyncBatchNormOps,   ClassLossOps,    DistanceLossOps, LayoutOps,
    EmbeddingBagOps,  MatrixProductOps,   PackedWeightOps, ExpertOps,       InferenceOps,
    CompiledOps,      EngineAttentionOps, EngineExpertOps, EngineNormOps,   EngineProductOps,
    FbgemmOps,        StateSpaceOps,
};

using NamedModel = std::pair<std::string_view, const OpModel*>;

std::vector<NamedModel> SortedModels() {
  std::vector<NamedModel> models;
  for (const Family family : kOpRegistryFamilies) {
    for (const OpModel& model : family()) {
      for (const std::string_view name : model.names) models.emplace_back(name, &model);
    }
  }
  std::sort(models.begin(), models.end());
  return models;
}

const std::vector<NamedModel>& Models() {
  static const std::vector<NamedModel> models = SortedModels();
  return models;
}

}  // namespace

std::vector<std::string_view> OpNames() {
  std::vector<std::string_view> names;
  for (const NamedModel& model : Models()) names.push_back(model.first);
  return names;
}

const OpModel* FindOpModel(std::string_view normalized_op) {
  const std::vector<NamedModel>& models = Models();
  const auto found = std::lower_bound(
      models.begin(), models.end(), normalized_op,
      [](const NamedModel& model, std::string_view name) { return model.first < name; });
  return found != models.end() && found->first == normalized_op ? found->second : nullptr;
}

namespace {

// Whether a tensor's bytes are unknown. (A view moves none whatever its type.)
bool HasUnknownDType(const OpCall& call) {
  return std::any_of(call.args.begin(), call.args.end(), [](const OpArg& arg) {
    return arg.kind == OpArg::Kind::kTensor && !ParseDType(arg.dtype);
  });
}

std::optional<Checked> InputBytes(const OpCall& call) {
  for (const OpArg& arg : call.args) {
    Reason ignored;
    if (arg.kind != OpArg::Kind::kTensor) continue;
    const std::optional<Tensor> tensor = TensorOf(arg, &ignored);
    return tensor ? std::optional(tensor->bytes()) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Checked> ArgumentBytes(const OpCall& call) {
  Checked bytes;
  for (const OpArg& arg : call.args) {
    Reason ignored;
    if (arg.kind != OpArg::Kind::kTensor) continue;
    const std::optional<Tensor> tensor = TensorOf(arg, &ignored);
    if (!tensor || tensor->dtype == DType::kUnknown) return std::nullopt;
    bytes += tensor->bytes();
  }
  return bytes;
}

PriceResult Finish(PriceResult result, const OpCall& call) {
  if (result.price) {
    result.price->input_bytes = InputBytes(call);
    result.price->argument_bytes = ArgumentBytes(call);
  }
  if (result.price && HasUnknownDType(call)) {
    result.price->bytes_known = result.price->op_class == OpClass::kView;
  }
  return CheckRange(std::move(result));
}

}  // namespace

PriceResult PriceCall(const OpCall& call) {
  if (call.cut > 0) return Unpriced(Reason::kCutArguments);
  const OpName op = ParseOpName(call.op);
  const OpModel* model = FindOpModel(op.name);
  if (model == nullptr) return Unpriced(Reason::kUnknownOp);
  if (call.args.empty()) return Unpriced(Reason::kNoArguments);
  if (op.list) return Finish(PriceForeach(*model, op, call), call);
  if (op.backward) return Finish(PriceGradientCall(op.name, call), call);
  return Finish(model->price(op.name, call), call);
}

}  // namespace oplens::ops
