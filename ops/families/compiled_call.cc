#include "ops/families/compiled_call.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "ops/call_args.h"

namespace oplens::ops {
namespace {

// Number of loops by the names of the block sizes ("XBLOCK=16,R0_BLOCK=2048,num_warps=4"). A
// persistent reduction has no block for its reduced dimension.
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

// Older files record the extents behind the grid instead of block sizes: "grid(100,)" lists all
// loops except reduced ones. A plain grid, "(4, 1, 1)", does not give loops.
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

// The last numbers of a call are the loop sizes; earlier ones are sizes of the graph.
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

// Parameter names in order: "in_ptr0, in_out_ptr1, xnumel".
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

// Graph nodes, "add_3,mul_1": each op as often as it is computed.
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

bool IsFact(std::string_view keyword) {
  constexpr std::string_view kFacts[] = {"kernel_kwargs", "grid",  "kernel_flop",
                                         "kernel_bytes",  "fused", "signature"};
  return std::find(std::begin(kFacts), std::end(kFacts), keyword) != std::end(kFacts);
}

void AddItem(std::string_view item, std::string* list) {
  if (!list->empty()) list->push_back(',');
  list->append(item);
}

OpArg TextArg(std::string_view name, std::string text) {
  OpArg arg;
  arg.name = name;
  arg.kind = OpArg::Kind::kString;
  arg.type = "str";
  arg.text = std::move(text);
  return arg;
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

// The first loop runs over the results, all others are reduced; a single one reduces to one result.
Checked CompiledCall::rows() const {
  const bool reduces =
      name.kind == CompiledKind::kReduction || name.kind == CompiledKind::kPersistent;
  if (!reduces || extents.empty()) return 0;
  return extents.size() == 1 ? 1 : extents.front();
}

std::optional<OpCall> CompiledCallByPosition(const OpCall& call) {
  OpCall result;
  result.mod = call.mod;
  result.op = call.op;
  std::string signature, constants;
  std::vector<OpArg> facts;
  for (const OpArg& arg : call.args) {
    if (arg.name.empty() || IsFact(arg.name)) {
      (arg.name.empty() ? result.args : facts).push_back(arg);
    } else if (IsUpper(arg.name.front())) {
      if (arg.kind != OpArg::Kind::kInt) continue;
      AddItem(arg.name + "=" + std::to_string(arg.int_value), &constants);
    } else {
      AddItem(arg.name, &signature);
      result.args.push_back(arg);
      result.args.back().name.clear();
    }
  }
  if (signature.empty()) return std::nullopt;
  result.args.insert(result.args.end(), facts.begin(), facts.end());
  if (!constants.empty()) result.args.push_back(TextArg("kernel_kwargs", std::move(constants)));
  result.args.push_back(TextArg("signature", std::move(signature)));
  return result;
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
