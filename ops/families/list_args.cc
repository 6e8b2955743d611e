#include "ops/families/list_args.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "ops/dtype.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

bool IsSize(const OpArg& arg) {
  return arg.kind == OpArg::Kind::kInt || arg.kind == OpArg::Kind::kIntList;
}

bool IsListArgsTensor(const OpArg& arg) { return arg.kind == OpArg::Kind::kTensor; }

bool SameList(const OpArg& first, const OpArg& arg) {
  if (arg.list != first.list) return false;
  return arg.list > 0 || (IsListArgsTensor(first) && IsListArgsTensor(arg) && !arg.name.empty() &&
                          arg.name == first.name);
}

}  // namespace

std::optional<std::vector<int64_t>> ReadSizes(const OpCall& call, size_t first, size_t* next) {
  size_t i = first;
  std::vector<int64_t> sizes;
  if (i >= call.args.size() || !IsSize(call.args[i])) return std::nullopt;
  if (call.args[i].kind == OpArg::Kind::kIntList) {
    sizes = call.args[i++].int_list;
  } else {
    for (; i < call.args.size() && call.args[i].kind == OpArg::Kind::kInt &&
           call.args[i].name.empty();
         ++i) {
      sizes.push_back(call.args[i].int_value);
    }
  }
  *next = i;
  for (const int64_t size : sizes) {
    if (size < 0) return std::nullopt;
  }
  return sizes;
}

bool ReadDType(const OpCall& call, DType absent, DType* type) {
  *type = absent;
  for (const OpArg& arg : call.args) {
    if (arg.name != "dtype" || arg.kind != OpArg::Kind::kString) continue;
    const std::optional<DType> parsed = ParseDType(arg.text);
    if (!parsed) return false;
    *type = *parsed;
  }
  return true;
}

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
