#include "ops/foreach.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/list_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

using Kind = OpArg::Kind;

/// Functions whose cost hangs on the value of a number.
constexpr std::string_view kByValue[] = {"norm", "pow"};

/// What profilers call numbers, and lists of them, whose values they do not record.
constexpr std::string_view kNumberTypes[] = {"Scalar", "ScalarList", "list", "double", "float"};

template <size_t N>
bool Has(const std::string_view (&table)[N], std::string_view word) {
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
    return arg.kind == Kind::kTensor && arg.name.empty();
  };
  const auto tensors = std::count_if(call.args.begin(), call.args.end(), is_tensor);
  if (tensors == static_cast<std::ptrdiff_t>(call.args.size())) return SoleList(call);
  if (tensors != 1 || !is_tensor(call.args.front())) return std::nullopt;
  groups->front().is_list = true;
  return groups;
}

/// The length that all lists have.
std::optional<size_t> LengthOf(const std::vector<ListArg>& groups) {
  std::optional<size_t> length;
  for (const ListArg& group : groups) {
    const bool numbers = group.value().kind == Kind::kIntList;
    if (!group.is_list && !numbers) continue;
    const size_t own = numbers ? group.value().int_list.size() : group.members.size();
    if (length.value_or(own) != own) return std::nullopt;
    length = own;
  }
  return length;
}

/// What the i-th call of the op has in place of an argument.
OpArg MemberOf(const ListArg& group, size_t i, bool by_value) {
  OpArg arg = group.is_list ? group.members[i] : group.value();
  arg.list = 0;
  if (arg.kind == Kind::kIntList) {
    arg.kind = Kind::kInt;
    arg.int_value = arg.int_list[i];
  } else if (arg.kind == Kind::kOther && !by_value && Has(kNumberTypes, arg.type)) {
    arg.kind = Kind::kFloat;
  }
  return arg;
}

std::string ParamsOf(const std::vector<ListArg>& groups, size_t length) {
  const auto list = std::find_if(groups.begin(), groups.end(),
                                 [](const ListArg& group) { return group.is_list; });
  return ListText(list->members.first(length));
}

void Add(const PricedOp& member, PricedOp* sum) {
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
  PriceResult sum = Priced(ParamsOf(*groups, *length), Work(), std::vector<PartWork>());
  sum.price->vec_estimated = false;
  OpCall member{call.mod, op.in_place ? op.name + "_" : op.name, {}};
  for (size_t i = 0; i < *length; ++i) {
    member.args.clear();
    for (const ListArg& group : *groups) {
      member.args.push_back(MemberOf(group, i, Has(kByValue, op.name)));
    }
    const PriceResult one = model.price(op.name, member);
    if (!one.price) return one;
    Add(*one.price, &*sum.price);
  }
  return sum;
}

}  // namespace oplens::ops
