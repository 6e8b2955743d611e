// The kernels of a batch norm whose batch is spread over several GPUs. Between them stand
// collectives. Statistics and normalisation together cost what batch norm does.

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

std::span<const OpModel> SyncBatchNormOps() { return kSyncBatchNormModels; }

}  // namespace oplens::ops
