#ifndef OPLENS_OPS_FAMILIES_FAMILIES_H_
#define OPLENS_OPS_FAMILIES_FAMILIES_H_

#include <optional>
#include <span>
#include <string_view>

#include "ops/op_model.h"
#include "ops/op_name.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

/// The ops of each family file, in the order of registration; names are unique over all families.
std::span<const OpModel> LinearAlgebraOps();
std::span<const OpModel> MatrixProductOps();
std::span<const OpModel> PointwiseOps();
std::span<const OpModel> GatedOps();
std::span<const OpModel> SoftmaxOps();
std::span<const OpModel> NormalizationOps();
std::span<const OpModel> BatchNormOps();
std::span<const OpModel> GroupNormOps();
std::span<const OpModel> SyncBatchNormOps();
std::span<const OpModel> DropoutOps();
std::span<const OpModel> EmbeddingOps();
std::span<const OpModel> EmbeddingBagOps();
std::span<const OpModel> ReductionOps();
std::span<const OpModel> DataMovementOps();
std::span<const OpModel> CreationOps();
std::span<const OpModel> JoinOps();
std::span<const OpModel> LayoutOps();
std::span<const OpModel> GatherOps();
std::span<const OpModel> ScatterOps();
std::span<const OpModel> SortingOps();
std::span<const OpModel> RandomOps();
std::span<const OpModel> LossOps();
std::span<const OpModel> ClassLossOps();
std::span<const OpModel> DistanceLossOps();
std::span<const OpModel> ConvolutionOps();
std::span<const OpModel> PoolingOps();
std::span<const OpModel> ResampleOps();
std::span<const OpModel> SpectralOps();
std::span<const OpModel> AttentionOps();
std::span<const OpModel> RecurrentOps();
std::span<const OpModel> RotaryOps();
std::span<const OpModel> EinsumOps();
std::span<const OpModel> QuantizedOps();
std::span<const OpModel> PackedWeightOps();
std::span<const OpModel> ExpertOps();
std::span<const OpModel> InferenceOps();
std::span<const OpModel> FactorizationOps();
std::span<const OpModel> SparseOps();
std::span<const OpModel> OptimizerOps();
std::span<const OpModel> CollectiveOps();
std::span<const OpModel> CompiledOps();
std::span<const OpModel> EngineAttentionOps();
std::span<const OpModel> EngineExpertOps();
std::span<const OpModel> EngineNormOps();
std::span<const OpModel> EngineProductOps();
std::span<const OpModel> FbgemmOps();
std::span<const OpModel> StateSpaceOps();

/// Models of gradient functions whose arguments differ from their op's backward (requested
/// gradients, shapes in place of tensors), by op name: "batch_norm" for native_batch_norm_backward.
std::span<const OpModel> BatchNormGradients();
std::span<const OpModel> LinearGradients();
std::span<const OpModel> GroupNormGradients();
std::span<const OpModel> LossGradients();
std::span<const OpModel> ClassLossGradients();
std::span<const OpModel> SortingGradients();
std::span<const OpModel> ViewGradients();
std::span<const OpModel> EmbeddingBagGradients();

/// Price gradient functions whose arguments say more than the op's. `op`: normalised name of the
/// op, "cudnn_convolution"; call.op: the function, whose name may say what it computes. The
/// result's forward holds the gradients. nullopt: not an op of the family.
std::optional<PriceResult> PriceConvolutionGradient(std::string_view op, const OpCall& call);
std::optional<PriceResult> PricePoolingGradient(std::string_view op, const OpCall& call);
std::optional<PriceResult> PriceResampleGradient(std::string_view op, const OpCall& call);

/// torch.nn.functional.unfold (im2col): x [N,C,H,W] to columns [N, C prod(k), L] of L patches.
/// Moves x and the columns; its gradient sums them up.
PriceResult PriceUnfold(std::string_view op, const OpCall& call);

/// torch.nn.functional.fold (col2im), the inverse: one addition per element of the columns.
PriceResult PriceFold(std::string_view op, const OpCall& call);

/// Prices a call of a gradient function, such as aten's threshold_backward(dY, x, threshold), by
/// its op's backward, which becomes the result's forward; the result has no backward. `op`:
/// normalised name of the op, "relu". kUnsupportedArgs if the function's arguments are unknown.
PriceResult PriceGradientCall(std::string_view op, const OpCall& call);

/// Prices a list function (`_foreach_add_`) as the sum of `model`, its op's, over corresponding
/// list members. Lists advance together, other arguments apply to every member, and a list of
/// numbers has one per member. kUnsupportedArgs if the lists cannot be told apart, kShapeMismatch
/// if their lengths differ, or the op's reason for a member.
PriceResult PriceForeach(const OpModel& model, const OpName& op, const OpCall& call);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_FAMILIES_H_
