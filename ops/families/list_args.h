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

/// One argument as its function takes it: a value, or a list of tensors, whose members stand one by
/// one in the recorded call.
struct ListArg {
  std::string_view name;           ///< Keyword, or "".
  std::span<const OpArg> members;  ///< Of the call; never empty.
  bool is_list = false;

  const OpArg& value() const { return members.front(); }
};

/// The arguments of a call with its lists put together: by their number (OpArg::list), or by a
/// keyword that stands before several tensors in a row. nullopt when the numbers contradict the
/// order, or a member is no tensor.
std::optional<std::vector<ListArg>> GroupLists(const OpCall& call);

/// "L=161,N=25557032,fp32": tensors, elements of all, their type ("mixed" if they differ).
std::string ListText(std::span<const OpArg> members);

/// The sizes from argument `first` on: integers one by one, or one list. `next` is set to the
/// argument behind them. nullopt when there are none, or one is negative.
std::optional<std::vector<int64_t>> ReadSizes(const OpCall& call, size_t first, size_t* next);

/// The keyword dtype=, or `absent`. False: it names no type that is known.
bool ReadDType(const OpCall& call, DType absent, DType* type);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_FAMILIES_LIST_ARGS_H_
