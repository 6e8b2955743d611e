#include "parse/model/compiled_call.h"

#include <algorithm>
#include <utility>

namespace oplens {
namespace {

void AppendText(std::string_view name, std::string_view text, std::vector<OpArg>* args) {
  if (text.empty()) return;
  OpArg& arg = args->emplace_back();
  arg.name = name;
  arg.kind = OpArg::Kind::kString;
  arg.type = "str";
  arg.text = text;
}

void AppendCount(std::string_view name, int64_t count, std::vector<OpArg>* args) {
  if (count < 0) return;
  OpArg& arg = args->emplace_back();
  arg.name = name;
  arg.kind = OpArg::Kind::kInt;
  arg.type = "int";
  arg.int_value = count;
}

}  // namespace

bool IsCompiledKernelName(std::string_view name) { return name.starts_with("triton_"); }

OpCall MakeCompiledCall(std::string_view name, std::vector<OpArg> args,
                        const CompiledFacts& facts) {
  OpCall call;
  call.mod = kCompiledMod;
  call.op = name;
  call.args = std::move(args);
  if (call.args.empty()) return call;
  AppendText("kernel_kwargs", facts.kwargs, &call.args);
  AppendText("grid", facts.grid, &call.args);
  AppendCount("kernel_flop", facts.flops, &call.args);
  AppendCount("kernel_bytes", facts.bytes, &call.args);
  return call;
}

void AddOrigin(std::string_view nodes, std::string_view signature, OpCall* call) {
  const auto passed = std::count_if(call->args.begin(), call->args.end(),
                                    [](const OpArg& arg) { return arg.name.empty(); });
  const auto named = std::count(signature.begin(), signature.end(), ',') + 1;
  AppendText("fused", nodes, &call->args);
  if (passed == named) AppendText("signature", signature, &call->args);
}

std::vector<int64_t> StoredExtents(std::vector<int64_t> shape,
                                   const std::vector<int64_t>& strides) {
  if (strides.size() != shape.size()) return shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] == 0 && shape[i] > 1) shape[i] = 1;
  }
  return shape;
}

}  // namespace oplens
