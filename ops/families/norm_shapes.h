#ifndef OPLENS_OPS_FAMILIES_NORM_SHAPES_H_
#define OPLENS_OPS_FAMILIES_NORM_SHAPES_H_

#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "ops/call_args.h"
#include "ops/dtype.h"
#include "ops/tensor.h"

namespace oplens::ops {

/// The type of means and variances: fp32, for double fp64.
inline DType StatisticsType(DType input) {
  return input == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

/// Whether a tensor is absent or has one element a channel.
inline bool FitsChannels(const std::optional<Tensor>& tensor, int64_t channels) {
  return !tensor || (tensor->shape.size() == 1 && tensor->shape[0] == channels);
}

/// The bytes of a tensor, 0 of an absent one.
inline Checked BytesIfAny(const std::optional<Tensor>& tensor) {
  return tensor ? tensor->bytes() : Checked(0);
}

/// Which gradients a gradient function was asked for: of the input, the weight, the bias.
struct GradientMask {
  bool input = true;
  bool weight = true;
  bool bias = true;
};

/// The mask in a parameter, a list of three truth values; an absent or unrecorded one asks for all.
/// A list of another length fails.
inline GradientMask MaskOf(CallArgs* args, size_t parameter) {
  const OpArg* arg = args->Find(parameter);
  if (arg == nullptr || arg->kind != OpArg::Kind::kIntList) return {};
  if (arg->int_list.size() != 3) {
    args->Fail(Reason::kUnsupportedArgs);
    return {};
  }
  return {arg->int_list[0] != 0, arg->int_list[1] != 0, arg->int_list[2] != 0};
}

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_NORM_SHAPES_H_
