#include "ops/families/list_args.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "ops/dtype.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

bool IsListArgsTensor(const OpArg& arg) { return arg.kind == OpArg::Kind::kTensor; }

bool SameList(const OpArg& first, const OpArg& arg) {
  if (arg.list != first.list) return false;
  return arg.list > 0 || (IsListArgsTensor(first) && IsListArgsTensor(arg) && !arg.name.empty() &&
                          arg.name == first.name);
}

}  // namespace

std::optional<std::vector<ListArg>> GroupLists(const OpCall& call) {
  const std::span<const OpArg> args = call.args;
  std::vector<ListArg> groups;
  int32_t last_list = 0;
  for (size_t i = 0; i < args.size();) {
    const size_t first = i;
    if (args[first].list > 0) {
      if (args[first].list <= last_list) return std::nullopt;
      last_list = args[first].list;
    }
    for (; i < args.size() && SameList(args[first], args[i]); ++i) {
      if (args[first].list > 0 && !IsListArgsTensor(args[i])) return std::nullopt;
    }
    if (i == first) ++i;
    groups.push_back(
        {args[first].name, args.subspan(first, i - first), args[first].list > 0 || i - first > 1});
  }
  return groups;
}

std::string ListText(std::span<const OpArg> members) {
  const auto type_of = [](const OpArg& arg) {
    return ParseDType(arg.dtype).value_or(DType::kUnknown);
  };
  Checked elements;
  for (const OpArg& arg : members) elements += Elements(arg.shape);
  const bool mixed = std::any_of(members.begin(), members.end(), [&](const OpArg& arg) {
    return type_of(arg) != type_of(members.front());
  });
  return fmt::format("L={},N={},{}", members.size(), elements.Value().value_or(INT64_MAX),
                     mixed || members.empty() ? "mixed" : DTypeWord(type_of(members.front())));
}

}  // namespace oplens::ops
