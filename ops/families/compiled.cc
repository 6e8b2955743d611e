// TorchInductor kernels, priced by their recorded call: tensors read and written, loop sizes, and
// the fused ops in the name. All estimates, except for the products of templates.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "ops/families/compiled_call.h"
#include "ops/families/compiled_flops.h"
#include "ops/families/families.h"
#include "ops/op_name.h"
#include "ops/pricing.h"

namespace oplens::ops {
namespace {

// Ops that read the rows of a tensor that indices select.
constexpr std::string_view kGathers[] = {"embedding", "index",         "index_select",  "gather",
                                         "take",      "_unsafe_index", "take_along_dim"};

bool IsAnyOf(const CompiledCall& call, std::span<const std::string_view> ops) {
  return std::any_of(call.name.ops.begin(), call.name.ops.end(), [&](const auto& fused) {
    return !fused.backward && std::find(ops.begin(), ops.end(), fused.op) != ops.end();
  });
}

// Whether the kernel processes the result of an earlier product or convolution.
bool IsEpilogue(const CompiledCall& call) {
  constexpr std::string_view kAddends[] = {"addmm", "baddbmm", "linear", "convolution"};
  return call.name.kind == CompiledKind::kPointwise && IsAnyOf(call, kAddends);
}

// An epilogue reads the product, one element per point; a lone tensor of that size is read and
// written.
bool IsUpdatedInPlace(const CompiledCall& call, const Tensor& tensor) {
  if (!IsEpilogue(call) || call.extents.empty()) return false;
  const Checked points = call.points();
  if (!(tensor.elements() == points)) return false;
  return std::count_if(call.tensors.begin(), call.tensors.end(),
                       [&](const auto& other) { return other.tensor.elements() == points; }) == 1;
}

bool HasIndices(const CompiledCall& call) {
  return std::any_of(call.tensors.begin(), call.tensors.end(), [](const CompiledTensor& tensor) {
    return tensor.tensor.dtype != DType::kUnknown && tensor.tensor.MayBeInteger();
  });
}

// Upper bound on the elements accessed in one tensor: one per point of the loops, directly or by an
// index, unless the ops may read several. A larger tensor is accessed in part: a slice of a buffer,
// rows of a table. With unknown loops, a table that indices may select from counts no more than the
// next largest tensor, which the rows may be written to. nullopt: no bound.
std::optional<int64_t> MostTouched(const CompiledCall& call) {
  const bool picks = (IsAnyOf(call, kGathers) || call.name.ops.empty()) && HasIndices(call);
  if (!call.extents.empty()) {
    return picks || !ReadsSeveral(call.name) ? call.points().Value() : std::nullopt;
  }
  if (!picks) return std::nullopt;
  int64_t largest = 0;
  int64_t next = 0;
  for (const CompiledTensor& argument : call.tensors) {
    const int64_t elements = argument.tensor.elements().Value().value_or(0);
    next = std::max(next, std::min(largest, elements));
    largest = std::max(largest, elements);
  }
  return next;
}

// Each tensor once, updated ones twice; of tensors larger than the loops a part.
Checked CompiledBytesOf(const CompiledCall& call) {
  const std::optional<int64_t> most = MostTouched(call);
  Checked bytes;
  for (const CompiledTensor& argument : call.tensors) {
    const Tensor& tensor = argument.tensor;
    const std::optional<int64_t> elements = tensor.elements().Value();
    const bool part = most && elements && *elements > *most;
    const Checked once = part ? ops::BytesOf(*most, tensor.dtype) : tensor.bytes();
    const bool twice = argument.use == CompiledUse::kBoth ||
                       (argument.use == CompiledUse::kUnknown && IsUpdatedInPlace(call, tensor));
    bytes += once * (twice ? 2 : 1);
  }
  return bytes;
}

// The loops as the kernel names them, outermost first: "X=256,R=3072,bf16", "Y=18432,X=128,bf16".
// All loops of a reduction beyond the one over results are reduced.
std::string CompiledParamsOf(const CompiledCall& call) {
  constexpr std::string_view kSpaces[] = {"X", "Y", "Z"};
  const CompiledKind kind = call.name.kind;
  const bool reduces = kind == CompiledKind::kReduction || kind == CompiledKind::kPersistent;
  const size_t count = call.extents.size();
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const size_t from_last = std::min(count - 1 - i, std::size(kSpaces) - 1);
    std::string name(reduces ? kSpaces[0] : kSpaces[from_last]);
    if (reduces && (i > 0 || count == 1)) name = count > 2 ? fmt::format("R{}", i - 1) : "R";
    text += fmt::format("{}={},", name, call.extents[i]);
  }
  if (count == 0) text = fmt::format("n={},", call.points().Value().value_or(0));
  return text + std::string(DTypeWord(call.tensors.front().tensor.dtype));
}

PriceResult PriceFusedKernel(const CompiledCall& call) {
  Work work;
  const CompiledWeights weights = WeightsOf(call.name);
  work.vec = call.points() * weights.point + call.rows() * weights.row;
  work.bytes = call.bytes ? Checked(*call.bytes) : CompiledBytesOf(call);
  PriceResult result = Priced(CompiledParamsOf(call), work, std::vector<PartWork>());
  result.price->flops_known = !call.name.ops.empty();
  return result;
}

// The product, with the ops fused to it counted per point of its result.
PriceResult PriceTemplateKernel(const CompiledCall& call) {
  std::optional<PricedOp> op = PriceTemplate(call);
  if (!op) {
    if (!call.flops) return Unpriced(Reason::kShapeMismatch);
    op.emplace();
    op->params = CompiledParamsOf(call);
    op->forward = {{Part::kForward, {*call.flops, 0, 0}}};
    op->matmul_like = true;
  }
  Work& work = op->forward.front().work;
  work.vec = call.tensors.back().tensor.elements() * WeightsOf(call.name).point;
  work.bytes = call.bytes ? Checked(*call.bytes) : CompiledBytesOf(call);
  // A name lists each op once, however often it is computed.
  op->vec_estimated = call.name.ops.size() > 1;
  return {*std::move(op), Reason::kUnknownOp};
}

PriceResult PriceCompiled(std::string_view, const OpCall& call) {
  Reason reason;
  const std::optional<OpCall> plain = CompiledCallByPosition(call);
  const std::optional<CompiledCall> compiled = ReadCompiledCall(plain ? *plain : call, &reason);
  if (!compiled) return Unpriced(reason);
  return compiled->name.kind == CompiledKind::kTemplate ? PriceTemplateKernel(*compiled)
                                                        : PriceFusedKernel(*compiled);
}

constexpr std::string_view kCompiledNames[] = {kCompiledOp};
constexpr OpModel kCompiledModels[] = {{kCompiledNames, PriceCompiled}};

}  // namespace

std::span<const OpModel> CompiledOps() { return kCompiledModels; }

}  // namespace oplens::ops
