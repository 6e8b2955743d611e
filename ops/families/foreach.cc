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

/// Functions whose cost depends on the value of a number.
constexpr std::string_view kByValue[] = {"norm", "pow"};

/// Profilers' names for numbers and lists of them whose values are not recorded.
constexpr std::string_view kNumberTypes[] = {"Scalar", "ScalarList", "list", "double", "float"};

template <size_t N>
bool HasForeach(const std::string_view (&table)[N], std::string_view word) {
  return std::find(std::begin(table), std::end(table), word) != std::end(table);
}

/// If a call has only tensors and no list numbers, they form one list.
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

/// The length of a list of numbers; null: the argument is none.
std::optional<size_t> NumbersIn(const ListArg& group) {
  const OpArg& arg = group.value();
  if (arg.kind == ForeachKind::kIntList) return arg.int_list.size();
  if (arg.kind == ForeachKind::kFloatList) return arg.float_list.size();
  return std::nullopt;
}

/// The common length of all lists.
std::optional<size_t> LengthOf(const std::vector<ListArg>& groups) {
  std::optional<size_t> length;
  for (const ListArg& group : groups) {
    const std::optional<size_t> numbers = NumbersIn(group);
    if (!group.is_list && !numbers) continue;
    const size_t own = numbers.value_or(group.members.size());
    if (length.value_or(own) != own) return std::nullopt;
    length = own;
  }
  return length;
}

/// What each member's call gets for an argument that is not a list of tensors.
OpArg SharedArg(const ListArg& group, bool by_value) {
  if (group.is_list) return OpArg();
  if (NumbersIn(group)) {
    OpArg number;
    number.name = group.name;
    const bool whole = group.value().kind == ForeachKind::kIntList;
    number.kind = whole ? ForeachKind::kInt : ForeachKind::kFloat;
    return number;
  }
  OpArg arg = group.value();
  if (arg.kind == ForeachKind::kOther && !by_value && HasForeach(kNumberTypes, arg.type)) {
    arg.kind = ForeachKind::kFloat;
  }
  return arg;
}

/// Sets the arguments of the i-th member.
void TakeMember(const std::vector<ListArg>& groups, size_t i, OpCall* call) {
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].is_list) {
      call->args[g] = groups[g].members[i];
      call->args[g].list = 0;
    } else if (NumbersIn(groups[g])) {
      const OpArg& numbers = groups[g].value();
      if (numbers.kind == ForeachKind::kIntList) {
        call->args[g].int_value = numbers.int_list[i];
      } else {
        call->args[g].float_value = numbers.float_list[i];
      }
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
