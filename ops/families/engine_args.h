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

// Functions of libraries have no schema that is known: their arguments are read by place and kind.

/// The tensor at a place; nullopt where there is something else, or nothing.
std::optional<Tensor> TensorAt(const OpCall& call, size_t place);

/// The integer at a place.
std::optional<int64_t> IntAt(const OpCall& call, size_t place);

/// The integer of a keyword.
std::optional<int64_t> IntNamed(const OpCall& call, std::string_view name);

/// The tensors of a call, in order; those of a keyword are none of them.
std::vector<Tensor> PositionalTensors(const OpCall& call);

/// Bytes of all of them.
Checked BytesOfAll(const std::vector<Tensor>& tensors);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_ENGINE_ARGS_H_
