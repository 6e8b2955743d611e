#ifndef OPLENS_PARSE_MODEL_SIZED_CALL_H_
#define OPLENS_PARSE_MODEL_SIZED_CALL_H_

#include <optional>
#include <string_view>
#include <vector>

#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"

namespace oplens {

/// Whether a range of this name is a call of an operator: "aten::mm", or "mm" before namespaces.
/// False for labels and backward nodes ("AddmmBackward0"), whose sizes are those of gradients.
bool NamesOperator(std::string_view name);
/// Like NamesOperator, but requires a namespace: "aten::mm", which no user label looks like.
bool NamesQualifiedOperator(std::string_view name);

/// Returns the arguments in such sizes: tensors, and kOther for "[]"; nullopt if it is no list of
/// them.
std::optional<std::vector<OpArg>> ArgsOfSizes(std::string_view sizes);

/// Returns the call of a range annotated by PyTorch: "NAME, seq = N", with record_shapes also ",
/// sizes = SIZES". `sizes` lists the extents of each argument, "[[2, 3], [3, 4], []]"; empty: no
/// arguments. Tensors of a tensor list stand in place, or in a list of their own. Data types and
/// values are not recorded: tensors have the dtype "", and "[]" may be a number, None, an absent
/// tensor or a 0-d tensor. It becomes a 0-d tensor if nothing else can stand there or a number
/// costs the same (docs/formats.md), else a kOther of unknown value. Returns nullopt if the name is
/// no operator, or `sizes` is no such list.
std::optional<OpCall> MakeRangeCall(std::string_view name, std::string_view sizes);

/// Returns the call that a range of PyTorch annotates, or nullopt. A name with only a number ("mm,
/// seq = 7") must be qualified, since functions of the user have such texts too.
std::optional<OpCall> CallOfRange(const MarkerText& marker);

/// MakeTorchCall for an operator of which only the extents are recorded: "[]", here a kOther of any
/// type, is interpreted as in MakeRangeCall. `name` is the dispatcher's.
OpCall MakeUntypedCall(std::string_view name, std::vector<OpArg> args);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_SIZED_CALL_H_
