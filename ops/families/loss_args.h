#ifndef OPLENS_OPS_FAMILIES_LOSS_ARGS_H_
#define OPLENS_OPS_FAMILIES_LOSS_ARGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ops/call_args.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

/// What a loss does with the losses of its elements.
enum class LossReduction : uint8_t { kNone, kMean, kSum };

/// The parameter `reduction`: 'none', 'mean', 'sum' ('elementwise_mean' is an old 'mean',
/// 'batchmean' divides once too), or PyTorch's number for it (0, 1, 2); kMean when absent. Fails
/// with kUnsupportedArgs for anything else.
LossReduction ReductionOf(CallArgs* args, size_t parameter);

/// The same with the older parameters `size_average` and `reduce`, which win where they are given.
LossReduction ReductionOf(CallArgs* args, size_t size_average, size_t reduce, size_t reduction);

/// The call with every positional argument under its name, since the functions of
/// torch.nn.functional order the parameters of a loss otherwise than those of aten and torch.
/// `functional`, `native`: names in order, divided by blanks. nullopt when there are more arguments
/// than names.
std::optional<OpCall> NameArguments(const OpCall& call, std::string_view functional,
                                    std::string_view native);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_LOSS_ARGS_H_
