#ifndef OPLENS_OPS_FAMILIES_SIZE_ARGS_H_
#define OPLENS_OPS_FAMILIES_SIZE_ARGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/dtype.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

/// The sizes from argument `first` on: integers one by one, or one list. `next` is set to the
/// argument behind them. nullopt when there are none, or one is negative.
std::optional<std::vector<int64_t>> ReadSizes(const OpCall& call, size_t first, size_t* next);

/// The keyword dtype=, or `absent`. False: it names no type that is known.
bool ReadDType(const OpCall& call, DType absent, DType* type);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_SIZE_ARGS_H_
