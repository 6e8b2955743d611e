#ifndef OPLENS_OPS_FAMILIES_LOSS_ARGS_H_
#define OPLENS_OPS_FAMILIES_LOSS_ARGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/call_args.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

enum class LossReduction : uint8_t { kNone, kMean, kSum };

/// The parameter `reduction`: 'none', 'mean', 'sum' ('elementwise_mean' is an old 'mean';
/// 'batchmean' divides once too), or PyTorch's number for it (0, 1, 2); kMean when absent. Anything
/// else fails with kUnsupportedArgs.
LossReduction ReductionOf(CallArgs* args, size_t parameter);

/// Also reads the older parameters `size_average` and `reduce`, which take precedence.
LossReduction ReductionOf(CallArgs* args, size_t size_average, size_t reduce, size_t reduction);

/// Names all positional arguments, since torch.nn.functional orders a loss's parameters differently
/// from aten and torch. `functional`, `native`: names in order, separated by blanks. nullopt if
/// there are more arguments than names.
std::optional<OpCall> NameArguments(const OpCall& call, std::string_view functional,
                                    std::string_view native);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_LOSS_ARGS_H_
