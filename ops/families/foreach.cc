#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "ops/families/families.h"
#include "ops/families/list_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

using ForeachKind = OpArg::Kind;

/// Functions whose cost hangs on the value of a number.
constexpr std::string_view kByValue[] = {"norm", "pow"};

/// What profilers call numbers, and lists of them, whose values they do not record.
constexpr std::string_view kNumberTypes[] = {"Scalar", "ScalarList", "list", "double", "float"};

template <size_t N>
bool HasForeach(const std::string_view (&table)[N], std::string_view word) {
  return std::find(std::begin(table), std::end(table), word) != std::end(table);
}

/// The lists of a call without numbers of lists: all its tensors, where there is nothing else.
std::vector<ListArg> SoleList(const OpCall& call) { return {ListArg{{}, call.args, true}}; }

std::optional<std::vector<ListArg>> ListsOf(const OpCall& call) {
  std::optional<std::vector<ListArg>> groups = GroupLists(call);
  if (!groups) return std::nullopt;
  const auto is_list = [](const ListArg& group) { return group.is_list; };
  if (std::any_of(groups->begin(), groups->end(), is_list)) return groups;
  const auto is_tensor = [](const OpArg& arg) {
    return arg.kind == ForeachKind::kTensor && arg.name.empty();
  };
  const auto tensors = std::count_if(call.args.begin(), call.args.end(), is_tensor);
  if (tensors == static_cast<std::ptrdiff_t>(call.args.size())) return SoleList(call);
  if (tensors != 1 || !is_tensor(call.args.front())) return std::nullopt;
  groups->front().is_list = true;
  return groups;
}

bool IsNumberList(const ListArg& group) { return group.value().kind == ForeachKind::kIntList; }

/// The length that all lists have.
std::optional<size_t> LengthOf(const std::vector<ListArg>& groups) {
  std::optional<size_t> length;
  for (const ListArg& group : groups) {
    if (!group.is_list && !IsNumberList(group)) continue;
    const size_t own = IsNumberList(group) ? group.value().int_list.size() : group.members.size();
    if (length.value_or(own) != own) return std::nullopt;
    length = own;
  }
  return length;
}

/// What every call of the op has in place of an argument that is no list of tensors.
OpArg SharedArg(const ListArg& group, bool by_value) {
  if (group.is_list) return OpArg();
  if (IsNumberList(group)) {
    OpArg number;
    number.name = group.name;
    number.kind = ForeachKind::kInt;
    return number;
  }
  OpArg arg = group.value();
  if (arg.kind == ForeachKind::kOther && !by_value && HasForeach(kNumberTypes, arg.type)) {
    arg.kind = ForeachKind::kFloat;
  }
  return arg;
}

/// Gives the call of the op what belongs to the i-th member.
void TakeMember(const std::vector<ListArg>& groups, size_t i, OpCall* call) {
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].is_list) {
      call->args[g] = groups[g].members[i];
      call->args[g].list = 0;
    } else if (IsNumberList(groups[g])) {
      call->args[g].int_value = groups[g].value().int_list[i];
    }
  }
}

std::string ForeachParamsOf(const std::vector<ListArg>& groups, size_t length) {
  const auto list = std::find_if(groups.begin(), groups.end(),
                                 [](const ListArg& group) { return group.is_list; });
  return ListText(list->members.first(length));
}

void AddForeach(const PricedOp& member, PricedOp* sum) {
  for (const PartWork& part : member.forward) {
    Work& total = sum->forward.front().work;
    total.mma += part.work.mma;
    total.vec += part.work.vec;
    total.bytes += part.work.bytes;
  }
  sum->vec_estimated |= member.vec_estimated;
}

}  // namespace

PriceResult PriceForeach(const OpModel& model, const OpName& op, const OpCall& call) {
  const std::optional<std::vector<ListArg>> groups = ListsOf(call);
  if (!groups) return Unpriced(Reason::kUnsupportedArgs);
  const std::optional<size_t> length = LengthOf(*groups);
  if (!length) return Unpriced(Reason::kShapeMismatch);
  PriceResult sum = Priced(ForeachParamsOf(*groups, *length), Work(), std::vector<PartWork>());
  sum.price->vec_estimated = false;
  OpCall member{call.mod, op.in_place ? op.name + "_" : op.name, {}};
  for (const ListArg& group : *groups) {
    member.args.push_back(SharedArg(group, HasForeach(kByValue, op.name)));
  }
  for (size_t i = 0; i < *length; ++i) {
    TakeMember(*groups, i, &member);
    const PriceResult one = model.price(op.name, member);
    if (!one.price) return one;
    AddForeach(*one.price, &*sum.price);
  }
  return sum;
}

}  // namespace oplens::ops
