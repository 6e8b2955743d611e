#include "ops/families/compiled_call.h"

#include <algorithm>

#include "base/ascii.h"
#include "ops/call_args.h"

namespace oplens::ops {
namespace {

// The number of loops by the names of the block sizes ("XBLOCK=16,R0_BLOCK=2048,num_warps=4"). A
// persistent reduction has no block for what it reduces.
size_t LoopsOfBlocks(std::string_view kwargs, CompiledKind kind) {
  size_t loops = kind == CompiledKind::kPersistent ? 1 : 0;
  while (!kwargs.empty()) {
    const size_t comma = std::min(kwargs.find(','), kwargs.size());
    std::string_view key = kwargs.substr(0, kwargs.substr(0, comma).find('='));
    while (key.starts_with(' ')) key.remove_prefix(1);
    const bool space = key == "XBLOCK" || key == "YBLOCK" || key == "ZBLOCK";
    const bool reduced = key == "RBLOCK" || key == "R0_BLOCK" || key == "R1_BLOCK";
    if (space || (reduced && kind != CompiledKind::kPersistent)) ++loops;
    kwargs.remove_prefix(std::min(comma + 1, kwargs.size()));
  }
  return loops;
}

// Older files have no block sizes but the numbers that the grid is made of: "grid(100,)", those of
// the loops but for what is reduced. A grid itself, "(4, 1, 1)", tells nothing of them.
size_t LoopsOfGrid(std::string_view grid, CompiledKind kind) {
  size_t numbers = 0;
  if (!grid.starts_with("grid(")) grid = {};
  for (size_t i = 0; i < grid.size(); ++i) {
    if (IsDigit(grid[i]) && (i == 0 || !IsDigit(grid[i - 1]))) ++numbers;
  }
  const bool reduces = kind == CompiledKind::kReduction || kind == CompiledKind::kPersistent;
  return std::max<size_t>(numbers, 1) + (reduces ? 1 : 0);
}

const OpArg* FindKeyword(const OpCall& call, std::string_view name) {
  const auto found = std::find_if(call.args.begin(), call.args.end(),
                                  [&](const OpArg& arg) { return arg.name == name; });
  return found == call.args.end() ? nullptr : &*found;
}

std::string_view TextOf(const OpCall& call, std::string_view name) {
  const OpArg* arg = FindKeyword(call, name);
  return arg != nullptr && arg->kind == OpArg::Kind::kString ? std::string_view(arg->text)
                                                             : std::string_view();
}

std::optional<int64_t> CountOf(const OpCall& call, std::string_view name) {
  const OpArg* arg = FindKeyword(call, name);
  const bool known = arg != nullptr && arg->kind == OpArg::Kind::kInt && arg->int_value >= 0;
  return known ? std::optional(arg->int_value) : std::nullopt;
}

// The last numbers of the call are the sizes of its loops; those before are sizes of the graph.
std::vector<int64_t> LoopsOf(const OpCall& call, CompiledKind kind) {
  if (kind == CompiledKind::kTemplate || kind == CompiledKind::kOther) return {};
  const std::string_view kwargs = TextOf(call, "kernel_kwargs");
  size_t loops = LoopsOfBlocks(kwargs, kind);
  if (kwargs.empty()) loops = LoopsOfGrid(TextOf(call, "grid"), kind);
  std::vector<int64_t> numbers;
  for (const OpArg& arg : call.args) {
    if (arg.name.empty() && arg.kind == OpArg::Kind::kInt) numbers.push_back(arg.int_value);
  }
  const bool usable = loops > 0 && numbers.size() >= loops &&
                      std::all_of(numbers.end() - static_cast<std::ptrdiff_t>(loops), numbers.end(),
                                  [](int64_t number) { return number > 0; });
  if (!usable) return {};
  return {numbers.end() - static_cast<std::ptrdiff_t>(loops), numbers.end()};
}

CompiledUse UseOf(std::string_view parameter) {
  if (parameter.starts_with("in_out_ptr")) return CompiledUse::kBoth;
  if (parameter.starts_with("in_ptr") || parameter.starts_with("arg_")) return CompiledUse::kInput;
  return parameter.starts_with("out_ptr") ? CompiledUse::kOutput : CompiledUse::kUnknown;
}

// "in_ptr0, in_out_ptr1, xnumel": the names of the parameters, in order.
void ReadSignature(std::string_view signature, const OpCall& call,
                   std::vector<CompiledTensor>* tensors) {
  size_t tensor = 0;
  for (const OpArg& arg : call.args) {
    if (!arg.name.empty() || signature.empty()) return;
    const size_t comma = std::min(signature.find(','), signature.size());
    std::string_view parameter = signature.substr(0, comma);
    signature.remove_prefix(std::min(comma + 1, signature.size()));
    while (parameter.starts_with(' ')) parameter.remove_prefix(1);
    if (arg.kind == OpArg::Kind::kTensor) (*tensors)[tensor++].use = UseOf(parameter);
  }
}

// The nodes of the graph, "add_3,mul_1": each op as often as it is computed.
bool ReadNodes(std::string_view nodes, CompiledName* name) {
  std::vector<CompiledName::Fused> ops;
  while (!nodes.empty()) {
    const size_t comma = std::min(nodes.find(','), nodes.size());
    CompiledName::Fused fused;
    if (ParseNodeName(nodes.substr(0, comma), &fused)) ops.push_back(std::move(fused));
    nodes.remove_prefix(std::min(comma + 1, nodes.size()));
  }
  if (ops.empty()) return false;
  name->ops = std::move(ops);
  return true;
}

}  // namespace

Checked CompiledCall::points() const {
  Checked product = 1;
  for (const int64_t extent : extents) product *= extent;
  if (!extents.empty()) return product;
  int64_t largest = 0;
  for (const CompiledTensor& tensor : tensors) {
    const std::optional<int64_t> elements = tensor.tensor.elements().Value();
    if (!elements) return tensor.tensor.elements();
    largest = std::max(largest, *elements);
  }
  return largest;
}

// The first loop is that over the results; all others are reduced. One alone is reduced to one.
Checked CompiledCall::rows() const {
  const bool reduces =
      name.kind == CompiledKind::kReduction || name.kind == CompiledKind::kPersistent;
  if (!reduces || extents.empty()) return 0;
  return extents.size() == 1 ? 1 : extents.front();
}

std::optional<CompiledCall> ReadCompiledCall(const OpCall& call, Reason* reason) {
  CompiledCall result;
  result.name = ParseCompiledName(call.op);
  *reason = Reason::kUnsupportedArgs;
  for (const OpArg& arg : call.args) {
    if (!arg.name.empty() || arg.kind != OpArg::Kind::kTensor) continue;
    const std::optional<Tensor> tensor = TensorOf(arg, reason);
    if (!tensor) return std::nullopt;
    result.tensors.push_back({*tensor});
  }
  if (result.tensors.empty()) {
    *reason = Reason::kNoArguments;
    return std::nullopt;
  }
  result.extents = LoopsOf(call, result.name.kind);
  ReadSignature(TextOf(call, "signature"), call, &result.tensors);
  result.name.every_node = ReadNodes(TextOf(call, "fused"), &result.name);
  result.flops = CountOf(call, "kernel_flop");
  result.bytes = CountOf(call, "kernel_bytes");
  return result;
}

}  // namespace oplens::ops
