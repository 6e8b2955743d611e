// Batch norm: one mean and variance a channel, over all other dimensions; in training of the batch,
// in evaluation the running ones.

#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/norm_shapes.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// FLOPs an element. Training: mean and variance 3, normalise 3, scale and shift 2; in evaluation
// one factor and one summand a channel.
constexpr int kTraining = 8;
constexpr int kTrainingBackward = 11;
constexpr int kBatchNormEvaluation = 2;
constexpr int kBatchNormEvaluationBackward = 3;
// Of the backward in training: both sums over a channel, which the gradients of weight and bias
// are.
constexpr int kSumsBackward = 4;

struct BatchNorm {
  Tensor x;
  std::optional<Tensor> weight;
  std::optional<Tensor> bias;
  std::optional<Tensor> mean;  // Running.
  std::optional<Tensor> variance;
  bool training = true;
};

Checked BatchNormStatisticsBytes(const Tensor& x, int count) {
  return BytesOf(Checked(x.shape[1]) * count, StatisticsType(x.dtype));
}

std::optional<Reason> CheckBatchNorm(const BatchNorm& norm) {
  const Shape shape = norm.x.shape;
  if (shape.size() < 2) return Reason::kShapeMismatch;
  for (const std::optional<Tensor>* tensor :
       {&norm.weight, &norm.bias, &norm.mean, &norm.variance}) {
    if (!FitsChannels(*tensor, shape[1])) return Reason::kShapeMismatch;
  }
  // Without running statistics there is nothing to evaluate with.
  if (!norm.training && !(norm.mean && norm.variance)) return Reason::kUnsupportedArgs;
  return std::nullopt;
}

Work BatchNormForward(const BatchNorm& norm) {
  const Checked running = BytesIfAny(norm.mean) + BytesIfAny(norm.variance);
  const Checked bytes = norm.x.bytes() * 2 + BytesIfAny(norm.weight) + BytesIfAny(norm.bias);
  if (!norm.training) return {0, norm.x.elements() * kBatchNormEvaluation, bytes + running};
  // The running statistics are read and written, those of the batch kept for the backward.
  return {0, norm.x.elements() * kTraining,
          bytes + running * 2 + BatchNormStatisticsBytes(norm.x, 2)};
}

// dX needs both sums over each channel, so that without it only they are left.
Work BatchNormBackward(const BatchNorm& norm, GradientMask mask) {
  const Checked n = norm.x.elements();
  Work work{0, 0, norm.x.bytes() * 2};
  if (mask.input) {
    work.vec = n * (norm.training ? kTrainingBackward : kBatchNormEvaluationBackward);
    work.bytes += norm.x.bytes();
  } else if (mask.weight || mask.bias) {
    work.vec = n * kSumsBackward;
  }
  work.bytes += norm.training ? BatchNormStatisticsBytes(norm.x, 2)
                              : BytesIfAny(norm.mean) + BytesIfAny(norm.variance);
  if (norm.weight && mask.input) work.bytes += norm.weight->bytes();
  if (norm.weight && mask.weight) work.bytes += norm.weight->bytes();
  if (norm.bias && mask.bias) work.bytes += norm.bias->bytes();
  return work;
}

PriceResult PricedBatchNorm(const BatchNorm& norm) {
  if (const std::optional<Reason> reason = CheckBatchNorm(norm)) return Unpriced(*reason);
  return Priced(NamedTensorText(norm.x), BatchNormForward(norm), BatchNormBackward(norm, {}));
}

// ---- calls ----

// Whether an op trains: by its argument, or always or never.
enum class Training : uint8_t { kArgument, kAlways, kNever };

struct BatchNormVariant {
  std::string_view name;
  Training training;
};

constexpr BatchNormVariant kBatchNormVariants[] = {
    {"batch_norm", Training::kArgument},
    {"_batch_norm_impl_index", Training::kArgument},
    {"cudnn_batch_norm", Training::kArgument},
    {"miopen_batch_norm", Training::kArgument},
    {"_native_batch_norm_legit", Training::kArgument},
    {"_native_batch_norm_legit_functional", Training::kArgument},
    {"_native_batch_norm_legit_no_training", Training::kNever},
    {"_batch_norm_no_update", Training::kNever},
    {"_batch_norm_with_update", Training::kAlways},
    {"_batch_norm_with_update_functional", Training::kAlways},
};

// Of a function that may be given whether to train; `absent` where it may be left out.
bool ReadTraining(CallArgs* args, size_t parameter, std::optional<bool> absent) {
  if (args->Find(parameter) == nullptr && !absent) args->Fail(Reason::kUnsupportedArgs);
  return args->BoolOr(parameter, absent.value_or(true));
}

BatchNorm ReadFunctional(CallArgs* args) {
  BatchNorm norm{args->RequireTensor(0), args->FindTensor(3), args->FindTensor(4),
                 args->FindTensor(1),    args->FindTensor(2), true};
  norm.training = ReadTraining(args, 5, false);
  return norm;
}

BatchNorm ReadNative(CallArgs* args) {
  return {args->RequireTensor(0), args->FindTensor(1), args->FindTensor(2),
          args->FindTensor(3),    args->FindTensor(4), true};
}

// _native_batch_norm_legit.no_stats(x, weight, bias, training, momentum, eps): no running
// statistics, so that a truth value stands fourth.
bool HasNoStatistics(const OpCall& call) {
  return call.args.size() > 3 && call.args[3].kind == OpArg::Kind::kBool;
}

// torch.nn.functional.batch_norm has the running statistics before the weights, the functions of
// the namespaces torch and aten behind them.
PriceResult PriceBatchNorm(std::string_view op, const OpCall& call) {
  const BatchNormVariant* variant = FindRow(kBatchNormVariants, op);
  if (variant == nullptr) return Unpriced(Reason::kUnknownOp);
  if (op == "batch_norm" && call.mod == "torch.nn.functional") {
    CallArgs args(call, {"input", "running_mean", "running_var", "weight", "bias", "training",
                         "momentum", "eps"});
    const BatchNorm norm = ReadFunctional(&args);
    return args.failed() ? Unpriced(args.reason()) : PricedBatchNorm(norm);
  }
  if (variant->training == Training::kArgument && HasNoStatistics(call)) {
    CallArgs args(call, {"input", "weight", "bias", "training", "momentum", "eps"});
    const BatchNorm norm{args.RequireTensor(0), args.FindTensor(1), args.FindTensor(2), {}, {},
                         args.BoolOr(3, true)};
    return args.failed() ? Unpriced(args.reason()) : PricedBatchNorm(norm);
  }
  CallArgs args =
      variant->training == Training::kArgument
          ? CallArgs(call, {"input", "weight", "bias", "running_mean", "running_var", "training",
                            "momentum|exponential_average_factor", "eps|epsilon", "cudnn_enabled"})
          : CallArgs(call,
                     {"input", "weight", "bias", "running_mean", "running_var", "momentum", "eps"});
  BatchNorm norm = ReadNative(&args);
  norm.training = variant->training == Training::kArgument ? ReadTraining(&args, 5, std::nullopt)
                                                           : variant->training == Training::kAlways;
  return args.failed() ? Unpriced(args.reason()) : PricedBatchNorm(norm);
}

// ---- gradient functions ----

PriceResult PricedGradient(CallArgs* args, BatchNorm norm, const Tensor& dy, GradientMask mask) {
  // The bias is not an argument; it has the size of the weight.
  norm.bias = norm.weight;
  if (args->failed()) return Unpriced(args->reason());
  if (const std::optional<Reason> reason = CheckBatchNorm(norm)) return Unpriced(*reason);
  if (!(dy.elements() == norm.x.elements())) return Unpriced(Reason::kShapeMismatch);
  return Priced(NamedTensorText(norm.x), BatchNormBackward(norm, mask), std::vector<PartWork>());
}

// native_batch_norm_backward(dY, x, ..) and batch_norm_backward.
PriceResult PriceNativeGradient(std::string_view, const OpCall& call) {
  CallArgs args(
      call, {"grad_out|grad_output", "input", "weight", "running_mean", "running_var", "save_mean",
             "save_invstd|save_var", "train|update", "eps", "output_mask", "reserve"});
  BatchNorm norm{args.RequireTensor(1), args.FindTensor(2), {},
                 args.FindTensor(3),    args.FindTensor(4), true};
  norm.training = ReadTraining(&args, 7, std::nullopt);
  return PricedGradient(&args, norm, args.RequireTensor(0), MaskOf(&args, 9));
}

// cudnn_batch_norm_backward(x, dY, ..) and that of MIOpen: in training only.
PriceResult PriceLibraryGradient(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input", "grad_output", "weight", "running_mean", "running_var", "save_mean",
                       "save_var", "epsilon", "reserveSpace"});
  const BatchNorm norm{args.RequireTensor(0), args.FindTensor(2), {},
                       args.FindTensor(3),    args.FindTensor(4), true};
  return PricedGradient(&args, norm, args.RequireTensor(1), {});
}

// _batch_norm_impl_index_backward(library, x, dY, ..).
PriceResult PriceIndexedGradient(std::string_view, const OpCall& call) {
  CallArgs args(
      call, {"impl_index", "input", "grad_output", "weight", "running_mean", "running_var",
             "save_mean", "save_var_transform", "train", "eps", "output_mask", "reservedSpace"});
  BatchNorm norm{args.RequireTensor(1), args.FindTensor(3), {},
                 args.FindTensor(4),    args.FindTensor(5), true};
  norm.training = ReadTraining(&args, 8, std::nullopt);
  return PricedGradient(&args, norm, args.RequireTensor(2), MaskOf(&args, 10));
}

constexpr auto kBatchNormNames = NamesOf(kBatchNormVariants);
constexpr OpModel kBatchNormModels[] = {{kBatchNormNames, PriceBatchNorm}};

constexpr std::string_view kNativeGradientNames[] = {"batch_norm"};
constexpr std::string_view kLibraryGradientNames[] = {"cudnn_batch_norm", "miopen_batch_norm"};
constexpr std::string_view kIndexedGradientNames[] = {"_batch_norm_impl_index"};
constexpr OpModel kBatchNormGradients[] = {
    {kNativeGradientNames, PriceNativeGradient},
    {kLibraryGradientNames, PriceLibraryGradient},
    {kIndexedGradientNames, PriceIndexedGradient},
};

// The kernels of a batch norm whose batch is spread over several GPUs. Between them stand
// collectives. Statistics and normalisation together cost what batch norm does.

// Joining a GPU's statistics: two differences, a weight, two products and sums; and for each
// channel a root and the running statistics.
constexpr int kGatherEntry = 11;
constexpr int kGatherChannel = 26;

enum class SyncBatchNormStep : uint8_t { kStatistics, kUpdate, kNormalise, kSums, kInputGradient };

struct Kernel {
  std::string_view name;
  SyncBatchNormStep step;
  int per_element;  // FLOPs.
  size_t tensors;   // Leading arguments that are the input or as large.
  size_t vectors;   // Of one element a channel behind them.
};

constexpr Kernel kKernels[] = {
    // Mean and variance 3; subtract, scale, scale and shift 5: together those of batch norm.
    {"batch_norm_stats", SyncBatchNormStep::kStatistics, 3, 1, 0},
    {"batch_norm_update_stats", SyncBatchNormStep::kUpdate, 3, 1, 2},
    {"batch_norm_elemt", SyncBatchNormStep::kNormalise, 5, 1, 4},
    // Sums of dY and of dY times the normalised input 4; the gradient of the input 7.
    {"batch_norm_backward_reduce", SyncBatchNormStep::kSums, 4, 2, 3},
    {"batch_norm_backward_elemt", SyncBatchNormStep::kInputGradient, 7, 2, 5},
};

Checked SyncBatchNormOutputBytes(SyncBatchNormStep step, const Tensor& x, bool has_weight) {
  const Checked pair = BytesOf(Checked(x.shape[1]) * 2, StatisticsType(x.dtype));
  switch (step) {
    case SyncBatchNormStep::kStatistics:
    case SyncBatchNormStep::kUpdate:
      return pair;
    case SyncBatchNormStep::kSums:
      return has_weight ? pair * 2 : pair;  // The gradients of weight and bias are sums too.
    case SyncBatchNormStep::kNormalise:
    case SyncBatchNormStep::kInputGradient:
      return x.bytes();
  }
  return 0;
}

PriceResult PriceKernel(std::string_view op, const OpCall& call) {
  const Kernel* kernel = FindRow(kKernels, op);
  if (kernel == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"0", "1", "2", "3", "4", "5", "6", "7"});
  const Tensor x = args.RequireTensor(kernel->tensors - 1);
  if (args.failed()) return Unpriced(args.reason());
  if (x.shape.size() < 2) return Unpriced(Reason::kShapeMismatch);
  Checked bytes = x.bytes() * static_cast<int64_t>(kernel->tensors);
  for (size_t i = 0; i < kernel->vectors; ++i) {
    const std::optional<Tensor> vector = args.FindTensor(kernel->tensors + i);
    if (!FitsChannels(vector, x.shape[1])) return Unpriced(Reason::kShapeMismatch);
    bytes += BytesIfAny(vector);
  }
  if (args.failed()) return Unpriced(args.reason());
  // The weight of the gradients stands fifth.
  const bool has_weight = kernel->step == SyncBatchNormStep::kSums && args.Find(4) != nullptr;
  bytes += SyncBatchNormOutputBytes(kernel->step, x, has_weight);
  if (kernel->step == SyncBatchNormStep::kUpdate) bytes += BytesIfAny(args.FindTensor(1)) * 2;
  return Priced(NamedTensorText(x), {0, x.elements() * kernel->per_element, bytes},
                std::vector<PartWork>());
}

// batch_norm_gather_stats_with_counts(x, means[W,C], inverse deviations[W,C], running mean and
// variance, momentum, eps, counts[W]) of W GPUs; x only gives its type.
PriceResult PriceSyncBatchNormGather(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input", "mean", "invstd", "running_mean", "running_var", "momentum", "eps",
                       "counts|count"});
  const Tensor means = args.RequireTensor(1);
  const Tensor deviations = args.RequireTensor(2);
  const std::optional<Tensor> running_mean = args.FindTensor(3);
  const std::optional<Tensor> running_variance = args.FindTensor(4);
  const std::optional<Tensor> counts = args.FindTensor(7);
  if (args.failed()) return Unpriced(args.reason());
  if (means.shape.size() != 2 || !(deviations.elements() == means.elements())) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const int64_t channels = means.shape[1];
  const Checked running = BytesIfAny(running_mean) + BytesIfAny(running_variance);
  const Checked bytes = means.bytes() + deviations.bytes() + running * 2 +
                        (counts && !counts->number ? counts->bytes() : Checked(0)) +
                        BytesOf(Checked(channels) * 2, means.dtype);
  return Priced(NamedTensorText(means),
                {0, means.elements() * kGatherEntry + Checked(channels) * kGatherChannel, bytes},
                std::vector<PartWork>());
}

constexpr auto kKernelNames = NamesOf(kKernels);
constexpr std::string_view kSyncBatchNormGatherNames[] = {"batch_norm_gather_stats",
                                                          "batch_norm_gather_stats_with_counts"};
constexpr OpModel kSyncBatchNormModels[] = {{kKernelNames, PriceKernel},
                                            {kSyncBatchNormGatherNames, PriceSyncBatchNormGather}};

}  // namespace

std::span<const OpModel> BatchNormOps() { return kBatchNormModels; }

std::span<const OpModel> BatchNormGradients() { return kBatchNormGradients; }

std::span<const OpModel> SyncBatchNormOps() { return kSyncBatchNormModels; }

}  // namespace oplens::ops
