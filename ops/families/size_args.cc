#include "ops/families/size_args.h"

namespace oplens::ops {
namespace {

bool IsSize(const OpArg& arg) {
  return arg.kind == OpArg::Kind::kInt || arg.kind == OpArg::Kind::kIntList;
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

}  // namespace oplens::ops
