#ifndef OPLENS_PARSE_MODEL_SIZED_CALL_H_
#define OPLENS_PARSE_MODEL_SIZED_CALL_H_

#include <optional>
#include <string_view>
#include <vector>

#include "parse/model/op_call.h"

namespace oplens {

/// Whether a range of this name is an operator that the sizes after it are the arguments of:
/// "aten::mm", and of the time before namespaces "mm". Nodes of the backward pass
/// ("AddmmBackward0"), whose sizes are those of gradients, and labels are none.
bool NamesSizedOperator(std::string_view name);

/// The call of a range that PyTorch annotates with record_shapes: "NAME, seq = N, sizes = SIZES".
/// `sizes` is a list with the extents of each argument: "[[2, 3], [3, 4], []]". Lists of tensors
/// stand in place, also as a list of their own. Data types and values are not recorded, so tensors
/// have the dtype "" and "[]" stands for a number, None, an absent tensor or a 0-d tensor. It is
/// taken for a 0-d tensor where nothing else can stand, or where a number costs the same: see
/// docs/formats.md. Else it is kOther of a value that is not known.
///
/// nullopt when the name is no operator, or the list is empty or something else.
std::optional<OpCall> MakeSizedCall(std::string_view name, std::string_view sizes);

/// MakeTorchCall of an operator of whose arguments nothing but the extents is recorded: what "[]"
/// stands for, a kOther of any type, is taken as above. `name` as the dispatcher has it.
OpCall MakeUntypedCall(std::string_view name, std::vector<OpArg> args);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_SIZED_CALL_H_
