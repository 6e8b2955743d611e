#ifndef OPLENS_OPS_FAMILIES_ENGINE_ARGS_H_
#define OPLENS_OPS_FAMILIES_ENGINE_ARGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/tensor.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

// Library functions without a known schema: arguments are read by position and kind.

/// The tensor at a position; nullopt if there is none.
std::optional<Tensor> TensorAt(const OpCall& call, size_t place);

/// The integer at a position; nullopt if there is none.
std::optional<int64_t> IntAt(const OpCall& call, size_t place);

/// The integer of a keyword; nullopt if there is none.
std::optional<int64_t> IntNamed(const OpCall& call, std::string_view name);

/// The positional tensors of a call, in order.
std::vector<Tensor> PositionalTensors(const OpCall& call);

Checked BytesOfAll(const std::vector<Tensor>& tensors);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_ENGINE_ARGS_H_
