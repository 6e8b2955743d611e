#include "ops/families/engine_args.h"

#include <algorithm>

#include "ops/call_args.h"
#include "parse/model/reason.h"

namespace oplens::ops {

std::optional<Tensor> TensorAt(const OpCall& call, size_t place) {
  Reason ignored;
  if (place >= call.args.size() || call.args[place].kind != OpArg::Kind::kTensor) {
    return std::nullopt;
  }
  return TensorOf(call.args[place], &ignored);
}

std::optional<int64_t> IntAt(const OpCall& call, size_t place) {
  if (place >= call.args.size() || call.args[place].kind != OpArg::Kind::kInt) return std::nullopt;
  return call.args[place].int_value;
}

std::optional<int64_t> IntNamed(const OpCall& call, std::string_view name) {
  const auto found = std::find_if(call.args.begin(), call.args.end(), [&](const OpArg& arg) {
    return arg.name == name && arg.kind == OpArg::Kind::kInt;
  });
  return found == call.args.end() ? std::nullopt : std::optional(found->int_value);
}

std::vector<Tensor> PositionalTensors(const OpCall& call) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (!call.args[i].name.empty()) continue;
    if (const std::optional<Tensor> tensor = TensorAt(call, i)) tensors.push_back(*tensor);
  }
  return tensors;
}

Checked BytesOfAll(const std::vector<Tensor>& tensors) {
  Checked bytes;
  for (const Tensor& tensor : tensors) bytes += tensor.bytes();
  return bytes;
}

}  // namespace oplens::ops
