#ifndef OPLENS_OPS_FAMILIES_LIST_ARGS_H_
#define OPLENS_OPS_FAMILIES_LIST_ARGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/dtype.h"
#include "parse/model/op_call.h"

namespace oplens::ops {

/// One argument as its function takes it: a value, or a list of tensors recorded one by one.
struct ListArg {
  std::string_view name;           ///< Keyword, or "".
  std::span<const OpArg> members;  ///< Within the call; never empty.
  bool is_list = false;

  const OpArg& value() const { return members.front(); }
};

/// Groups the arguments of a call into lists by their number (OpArg::list), or by a keyword before
/// several tensors. nullopt if numbers contradict the order or a member is not a tensor.
std::optional<std::vector<ListArg>> GroupLists(const OpCall& call);

/// "L=161,N=25557032,fp32": number of tensors, total elements, type ("mixed" if they differ).
std::string ListText(std::span<const OpArg> members);

/// The sizes from argument `first` on: single integers or one list. Sets `*next` to the argument
/// after them. nullopt if there are none or one is negative.
std::optional<std::vector<int64_t>> ReadSizes(const OpCall& call, size_t first, size_t* next);

/// The keyword dtype=, or `absent`. False for an unknown type.
bool ReadDType(const OpCall& call, DType absent, DType* type);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_LIST_ARGS_H_
