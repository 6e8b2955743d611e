#ifndef OPLENS_PARSE_MODEL_SIZED_CALL_H_
#define OPLENS_PARSE_MODEL_SIZED_CALL_H_

#include <optional>
#include <string_view>
#include <vector>

#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"

namespace oplens {

/// Whether a range of this name is a call of an operator: "aten::mm", and of the time before
/// namespaces "mm". Nodes of the backward pass ("AddmmBackward0"), after whose name the sizes of
/// gradients stand, and labels are none.
bool NamesOperator(std::string_view name);
/// The same with a namespace: "aten::mm", which is no word of a user's.
bool NamesQualifiedOperator(std::string_view name);

/// What the sizes of such a range say of its arguments: tensors, and kOther for "[]". nullopt where
/// the text is no such list.
std::optional<std::vector<OpArg>> ArgsOfSizes(std::string_view sizes);

/// The call of a range that PyTorch annotates: "NAME, seq = N", with record_shapes also ", sizes =
/// SIZES". Without sizes (empty) it has no arguments. Else `sizes` is a list with the extents of
/// each argument: "[[2, 3], [3, 4], []]". Lists of tensors stand in place, also as a list of their
/// own. Data types and values are not recorded, so tensors have the dtype "" and "[]" stands for a
/// number, None, an absent tensor or a 0-d tensor. It is taken for a 0-d tensor where nothing else
/// can stand, or where a number costs the same: see docs/formats.md. Else it is kOther of a value
/// that is not known.
///
/// nullopt when the name is no operator, or the text of sizes is no such list.
std::optional<OpCall> MakeRangeCall(std::string_view name, std::string_view sizes);

/// The call that a range of PyTorch's annotates; nullopt: it is something else. A name alone that
/// has a number ("mm, seq = 7") must be a qualified one, since functions of the user have such
/// texts too.
std::optional<OpCall> CallOfRange(const MarkerText& marker);

/// MakeTorchCall of an operator of whose arguments nothing but the extents is recorded: what "[]"
/// stands for, a kOther of any type, is taken as above. `name` as the dispatcher has it.
OpCall MakeUntypedCall(std::string_view name, std::vector<OpArg> args);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_SIZED_CALL_H_
