#include "parse/model/sized_call.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/literal.h"
#include "nvtx_annotate/vocabulary/torch_schema.h"
#include "parse/model/torch_call.h"

namespace oplens {
namespace {

constexpr std::string_view kSizedCallScope = "::";
constexpr std::string_view kAten = "aten::";
/// The type of an argument with a value that is not recorded.
constexpr std::string_view kUnknownType = "unknown";

bool IsInteger(LiteralKind kind) { return kind == LiteralKind::kInteger; }

/// Reads "[2, 3]", "[]" or a list of such lists.
bool ReadArgument(LiteralScanner* in, std::vector<OpArg>* args) {
  std::vector<int64_t> shape;
  bool any_list = false;
  if (!in->EnterSequence()) return false;
  while (in->NextItem()) {
    if (IsInteger(in->Peek()) && !any_list) {
      in->ReadInteger(&shape.emplace_back());
      continue;
    }
    if (!shape.empty()) return false;
    any_list = true;
    std::vector<int64_t> item;
    in->EnterSequence();
    while (in->NextItem()) in->ReadInteger(&item.emplace_back());
    if (in->failed()) return false;
    args->push_back(TorchTensor(std::move(item), {}));
  }
  if (any_list || in->failed()) return !in->failed();
  args->push_back(shape.empty() ? OpArg() : TorchTensor(std::move(shape), {}));
  return true;
}

/// Operators whose first `operands` arguments are each a tensor or a number, at the same cost.
struct Operands {
  std::string_view op;
  size_t operands;
};

constexpr Operands kOperands[] = {
    {"add", 2},         {"sub", 2},         {"subtract", 2},    {"rsub", 2},
    {"mul", 2},         {"multiply", 2},    {"div", 2},         {"divide", 2},
    {"true_divide", 2}, {"remainder", 2},   {"fmod", 2},        {"floor_divide", 2},
    {"maximum", 2},     {"minimum", 2},     {"eq", 2},          {"ne", 2},
    {"lt", 2},          {"le", 2},          {"gt", 2},          {"ge", 2},
    {"logical_and", 2}, {"logical_or", 2},  {"logical_xor", 2}, {"bitwise_and", 2},
    {"bitwise_or", 2},  {"bitwise_xor", 2}, {"atan2", 2},       {"clamp_min", 2},
    {"clamp_max", 2},   {"masked_fill", 3}, {"where", 3},
};

/// Returns how many leading arguments must be a tensor, or a number of the same cost.
size_t OperandCount(std::string_view op, size_t arguments) {
  const TorchSchema* schema = FindTorchSchema(op, arguments);
  if (op.ends_with('_')) op.remove_suffix(1);
  const auto* row = std::find_if(std::begin(kOperands), std::end(kOperands),
                                 [&](const Operands& candidate) { return candidate.op == op; });
  if (row != std::end(kOperands)) return row->operands;
  // The tensor that the operator is a method of. Creating operators have none.
  if (schema == nullptr || schema->parameters.empty()) return 0;
  return schema->parameters == "_" || schema->parameters.starts_with("_ ") ? 1 : 0;
}

}  // namespace

bool NamesQualifiedOperator(std::string_view name) {
  return name.find(kSizedCallScope) != std::string_view::npos &&
         ClassifyTorchName(name, false) == TorchName::kCall;
}

bool NamesOperator(std::string_view name) {
  if (name.find(kSizedCallScope) == std::string_view::npos)
    return FindTorchSchema(name, 0) != nullptr;
  return NamesQualifiedOperator(name);
}

std::optional<std::vector<OpArg>> ArgsOfSizes(std::string_view sizes) {
  std::vector<OpArg> args;
  LiteralScanner in(sizes);
  in.EnterSequence();
  while (in.NextItem()) {
    if (!ReadArgument(&in, &args)) return std::nullopt;
  }
  if (!in.Finish()) return std::nullopt;
  return args;
}

std::optional<OpCall> MakeRangeCall(std::string_view name, std::string_view sizes) {
  if (!NamesOperator(name)) return std::nullopt;
  std::optional<std::vector<OpArg>> args(std::in_place);
  if (!sizes.empty()) args = ArgsOfSizes(sizes);
  if (!args) return std::nullopt;
  const bool scoped = name.find(kSizedCallScope) != std::string_view::npos;
  const std::string full = scoped ? std::string(name) : std::string(kAten).append(name);
  return MakeUntypedCall(full, *std::move(args));
}

OpCall MakeUntypedCall(std::string_view name, std::vector<OpArg> args) {
  for (OpArg& arg : args) {
    if (arg.kind == OpArg::Kind::kOther) arg.type = kUnknownType;
  }
  if (name.starts_with(kAten)) {
    const std::string_view op = name.substr(kAten.size());
    const size_t operands =
        std::min(OperandCount(op.substr(0, op.find('.')), args.size()), args.size());
    for (size_t i = 0; i < operands; ++i) {
      if (args[i].kind == OpArg::Kind::kOther) args[i] = TorchTensor({}, {});
    }
  }
  return MakeTorchCall(name, std::move(args));
}

std::optional<OpCall> CallOfRange(const MarkerText& marker) {
  const bool numbered = marker.kind == MarkerKind::kSeq;
  if (!numbered && marker.kind != MarkerKind::kOperator) return std::nullopt;
  if (numbered && marker.sizes.empty() && !NamesQualifiedOperator(marker.name)) return std::nullopt;
  return MakeRangeCall(marker.name, marker.sizes);
}

}  // namespace oplens
