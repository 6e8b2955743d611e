#include "ops/call_args.h"

#include <algorithm>

namespace oplens::ops {
namespace {

// Whether `keyword` is one of the '|'-separated `names`.
bool NamesParameter(std::string_view names, std::string_view keyword) {
  while (true) {
    const size_t bar = names.find('|');
    if (names.substr(0, bar) == keyword) return true;
    if (bar == std::string_view::npos) return false;
    names.remove_prefix(bar + 1);
  }
}

const OpArg* Present(const OpArg& arg) { return arg.kind == OpArg::Kind::kNone ? nullptr : &arg; }

DType NumberType(OpArg::Kind kind) {
  if (kind == OpArg::Kind::kFloat) return DType::kFloat32;
  return kind == OpArg::Kind::kInt ? DType::kInt64 : DType::kBool;
}

}  // namespace

bool IsNumber(const OpArg& arg) {
  return arg.kind == OpArg::Kind::kInt || arg.kind == OpArg::Kind::kFloat ||
         arg.kind == OpArg::Kind::kBool;
}

double NumberOf(const OpArg& arg) {
  return arg.kind == OpArg::Kind::kFloat ? arg.float_value : static_cast<double>(arg.int_value);
}

std::optional<Tensor> TensorOf(const OpArg& arg, Reason* reason) {
  *reason = Reason::kUnsupportedArgs;
  if (IsNumber(arg)) return Tensor{{}, NumberType(arg.kind), true};
  if (arg.kind != OpArg::Kind::kTensor) return std::nullopt;
  if (std::any_of(arg.shape.begin(), arg.shape.end(), [](int64_t extent) { return extent < 0; })) {
    return std::nullopt;
  }
  return Tensor{arg.shape, ParseDType(arg.dtype).value_or(DType::kUnknown), false};
}

CallArgs::CallArgs(const OpCall& call, std::initializer_list<std::string_view> parameters)
    : bound_(parameters.size(), nullptr) {
  size_t position = 0;
  for (const OpArg& arg : call.args) {
    if (arg.name.empty()) {
      if (position < bound_.size()) {
        bound_[position] = Present(arg);
      } else {
        Fail(Reason::kUnsupportedArgs);
      }
      ++position;
      continue;
    }
    const auto* parameter =
        std::find_if(parameters.begin(), parameters.end(),
                     [&](std::string_view names) { return NamesParameter(names, arg.name); });
    if (parameter == parameters.end()) continue;
    bound_[static_cast<size_t>(parameter - parameters.begin())] = Present(arg);
  }
}

void CallArgs::Fail(Reason reason) {
  if (!reason_) reason_ = reason;
}

Tensor CallArgs::RequireTensor(size_t parameter) {
  const std::optional<Tensor> tensor = FindTensor(parameter);
  if (!tensor) Fail(Reason::kUnsupportedArgs);
  return tensor.value_or(Tensor());
}

std::optional<Tensor> CallArgs::FindTensor(size_t parameter) {
  if (bound_[parameter] == nullptr) return std::nullopt;
  Reason reason;
  std::optional<Tensor> tensor = TensorOf(*bound_[parameter], &reason);
  if (!tensor) Fail(reason);
  return tensor;
}

double CallArgs::NumberOr(size_t parameter, double absent) {
  const OpArg* arg = bound_[parameter];
  if (arg == nullptr) return absent;
  if (!IsNumber(*arg)) Fail(Reason::kUnsupportedArgs);
  return NumberOf(*arg);
}

int64_t CallArgs::IntOr(size_t parameter, int64_t absent) {
  const OpArg* arg = bound_[parameter];
  if (arg == nullptr) return absent;
  if (arg->kind != OpArg::Kind::kInt) Fail(Reason::kUnsupportedArgs);
  return arg->int_value;
}

bool CallArgs::BoolOr(size_t parameter, bool absent) {
  const OpArg* arg = bound_[parameter];
  if (arg == nullptr) return absent;
  if (arg->kind != OpArg::Kind::kBool && arg->kind != OpArg::Kind::kInt) {
    Fail(Reason::kUnsupportedArgs);
  }
  return arg->int_value != 0;
}

std::optional<std::vector<int64_t>> CallArgs::FindInts(size_t parameter) {
  const OpArg* arg = bound_[parameter];
  if (arg == nullptr) return std::nullopt;
  if (arg->kind == OpArg::Kind::kInt) return std::vector<int64_t>{arg->int_value};
  if (arg->kind == OpArg::Kind::kIntList) return arg->int_list;
  Fail(Reason::kUnsupportedArgs);
  return std::nullopt;
}

DType CallArgs::DTypeOr(size_t parameter, DType absent) {
  const OpArg* arg = bound_[parameter];
  if (arg == nullptr) return absent;
  if (arg->kind != OpArg::Kind::kString) {
    Fail(Reason::kUnsupportedArgs);
    return absent;
  }
  const std::optional<DType> dtype = ParseDType(arg->text);
  if (!dtype) Fail(Reason::kUnknownDType);
  return dtype.value_or(absent);
}

std::optional<size_t> DimIndex(int64_t dim, size_t rank) {
  const int64_t extent = static_cast<int64_t>(std::max<size_t>(rank, 1));
  if (dim < -extent || dim >= extent) return std::nullopt;
  return static_cast<size_t>(dim < 0 ? dim + extent : dim);
}

}  // namespace oplens::ops
