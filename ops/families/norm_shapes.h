#ifndef OPLENS_OPS_FAMILIES_NORM_SHAPES_H_
#define OPLENS_OPS_FAMILIES_NORM_SHAPES_H_

#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "ops/call_args.h"
#include "ops/dtype.h"
#include "ops/tensor.h"

namespace oplens::ops {

/// The type of means and variances: fp64 for fp64, otherwise fp32.
inline DType StatisticsType(DType input) {
  return input == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

/// Whether a tensor is absent or has one element per channel.
inline bool FitsChannels(const std::optional<Tensor>& tensor, int64_t channels) {
  return !tensor || (tensor->shape.size() == 1 && tensor->shape[0] == channels);
}

/// Bytes of a tensor; 0 if absent.
inline Checked BytesIfAny(const std::optional<Tensor>& tensor) {
  return tensor ? tensor->bytes() : Checked(0);
}

/// The gradients requested from a gradient function.
struct GradientMask {
  bool input = true;
  bool weight = true;
  bool bias = true;
};

/// The mask in a parameter, three truth values; all true if absent or unrecorded, others fail.
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
