// Rotary position embedding: pairs of elements are turned by an angle that grows with the position,
// which takes two products and a sum an element.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

constexpr int64_t kFlopsPerElement = 3;

struct RotaryOp {
  std::string_view name;
  int64_t table_columns;  // Elements that a column of the table turns.
};

constexpr RotaryOp kRotaryOps[] = {
    {"apply_rotary", 2},
    {"apply_rotary_emb", 2},
    {"apply_rotary_pos_emb", 1},
    {"fused_apply_rotary_pos_emb", 1},
    {"fused_apply_rotary_pos_emb_cached", 1},
    {"fused_rope", 1},
    {"liger_rotary_pos_emb", 1},
    {"rotary_embedding", 1},
};

struct Rotary {
  std::vector<Tensor> turned;  // Q, or Q and K.
  std::vector<Tensor> tables;  // Cosines and sines, or angles.
  std::vector<Tensor> positions;
};

enum class RotaryRole : uint8_t { kTurned, kTable, kPosition };
struct RotaryTensorName {
  std::string_view name;
  RotaryRole role;
};
constexpr RotaryTensorName kRotaryTensorNames[] = {
    {"q", RotaryRole::kTurned},
    {"query", RotaryRole::kTurned},
    {"k", RotaryRole::kTurned},
    {"key", RotaryRole::kTurned},
    {"x", RotaryRole::kTurned},
    {"t", RotaryRole::kTurned},
    {"input", RotaryRole::kTurned},
    {"cos", RotaryRole::kTable},
    {"sin", RotaryRole::kTable},
    {"freqs", RotaryRole::kTable},
    {"position_ids", RotaryRole::kPosition},
    {"positions", RotaryRole::kPosition},
    {"cu_seqlens", RotaryRole::kPosition},
};

// Positional tensors: one or two to turn, before their tables: (t, angles), (q, cos, sin),
// (q, k, cos, sin); integers are positions.
bool SortPositional(const std::vector<Tensor>& tensors, Rotary* rotary) {
  std::vector<Tensor> floats;
  for (const Tensor& tensor : tensors) {
    const bool integer = CategoryOf(tensor.dtype) == DTypeCategory::kInteger;
    (integer ? rotary->positions : floats).push_back(tensor);
  }
  if (floats.empty()) return true;
  // Tables that are given by name leave only tensors to turn.
  size_t turned = floats.size();
  if (rotary->tables.empty()) {
    if (floats.size() < 2 || floats.size() > 4) return false;
    turned = floats.size() / 2;
  }
  const auto first_table = floats.begin() + static_cast<std::ptrdiff_t>(turned);
  rotary->turned.insert(rotary->turned.begin(), floats.begin(), first_table);
  rotary->tables.insert(rotary->tables.end(), first_table, floats.end());
  return true;
}

std::optional<Rotary> ReadRotary(const OpCall& call) {
  Rotary rotary;
  std::vector<Tensor> positional;
  for (const OpArg& arg : call.args) {
    if (arg.kind != OpArg::Kind::kTensor) continue;
    Reason reason;
    const std::optional<Tensor> tensor = TensorOf(arg, &reason);
    if (!tensor) return std::nullopt;
    const RotaryTensorName* row = FindRow(kRotaryTensorNames, arg.name);
    if (arg.name.empty()) {
      positional.push_back(*tensor);
    } else if (row != nullptr) {
      (row->role == RotaryRole::kTurned  ? rotary.turned
       : row->role == RotaryRole::kTable ? rotary.tables
                                         : rotary.positions)
          .push_back(*tensor);
    }
  }
  if (!SortPositional(positional, &rotary)) return std::nullopt;
  const bool sizes_fit = rotary.turned.size() >= 1 && rotary.turned.size() <= 2 &&
                         rotary.tables.size() >= 1 && rotary.tables.size() <= 2;
  return sizes_fit ? std::optional(rotary) : std::nullopt;
}

Checked RotaryBytesOfAll(const std::vector<Tensor>& tensors) {
  Checked bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.bytes();
  return bytes;
}

PriceResult PriceTables(const RotaryOp& op, const OpCall& call) {
  const std::optional<Rotary> rotary = ReadRotary(call);
  if (!rotary) return Unpriced(Reason::kUnsupportedArgs);
  const Shape table = rotary->tables.front().shape;
  if (table.empty()) return Unpriced(Reason::kShapeMismatch);
  if (!std::equal(table.begin(), table.end(), rotary->tables.back().shape.begin(),
                  rotary->tables.back().shape.end())) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const std::optional<int64_t> width = (Checked(table.back()) * op.table_columns).Value();
  Checked turned = 0;
  for (const Tensor& tensor : rotary->turned) {
    if (!tensor.Differentiable()) return Unpriced(Reason::kUnsupportedArgs);
    const Shape shape = tensor.shape;
    // Columns beyond the table's are copied.
    if (shape.empty() || !width || *width > shape.back()) return Unpriced(Reason::kShapeMismatch);
    turned += Elements(shape.first(shape.size() - 1)) * *width;
  }
  const Work work{0, turned * kFlopsPerElement,
                  RotaryBytesOfAll(rotary->turned) * 2 + RotaryBytesOfAll(rotary->tables) +
                      RotaryBytesOfAll(rotary->positions)};
  // The gradient is turned back by the same tables.
  PriceResult result = Priced(TensorsText(rotary->turned), work, work);
  result.price->vec_estimated = false;
  return result;
}

// rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox), which turns the first
// columns of every head in place. A row of the table holds half as many cosines and sines.
PriceResult PriceCache(const OpCall& call) {
  CallArgs args(call, {"positions", "query", "key", "head_size", "cos_sin_cache", "is_neox", "-"});
  const Tensor positions = args.RequireTensor(0);
  const Tensor query = args.RequireTensor(1);
  const std::optional<Tensor> key = args.FindTensor(2);
  const int64_t head = args.IntOr(3, 0);
  const Tensor cache = args.RequireTensor(4);
  if (args.failed() || !positions.MayBeInteger()) return Unpriced(Reason::kUnsupportedArgs);
  if (cache.shape.size() != 2 || head <= 0 || cache.shape[1] > head) {
    return Unpriced(Reason::kShapeMismatch);
  }
  std::vector<Tensor> operands = {query};
  if (key) operands.push_back(*key);
  const std::optional<int64_t> rows = positions.elements().Value();
  const int64_t width = cache.shape[1];
  Work work{0, 0, positions.bytes()};
  for (const Tensor& operand : operands) {
    const std::optional<int64_t> elements = operand.elements().Value();
    if (!elements || !rows) return Unpriced(Reason::kCostOverflow);
    // Each position has whole heads.
    const bool whole = *rows == 0 ? *elements == 0 : *elements % *rows == 0;
    if (!whole || *elements % head != 0) return Unpriced(Reason::kShapeMismatch);
    const Checked turned = Checked(*elements / head) * width;
    work.vec += turned * kFlopsPerElement;
    work.bytes += BytesOf(turned * 2, operand.dtype);
  }
  work.bytes += BytesOf(Checked(std::min(*rows, cache.shape[0])) * width, cache.dtype);
  PriceResult result = Priced(TensorsText(operands), work, std::vector<PartWork>());
  result.price->vec_estimated = false;
  return result;
}

// Whether the call has the arguments of PriceCache: a number stands before the table.
bool HasCache(const OpCall& call) {
  bool number = false;
  for (const OpArg& arg : call.args) {
    if (arg.name == "cos_sin_cache") return true;
    if (!arg.name.empty()) continue;
    if (number && arg.kind == OpArg::Kind::kTensor) return true;
    number = number || arg.kind == OpArg::Kind::kInt;
  }
  return false;
}

PriceResult PriceRotary(std::string_view op, const OpCall& call) {
  const RotaryOp* row = FindRow(kRotaryOps, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  return op == "rotary_embedding" && HasCache(call) ? PriceCache(call) : PriceTables(*row, call);
}

constexpr auto kRotaryNames = NamesOf(kRotaryOps);
constexpr OpModel kRotaryModels[] = {{kRotaryNames, PriceRotary}};

}  // namespace

std::span<const OpModel> RotaryOps() { return kRotaryModels; }

}  // namespace oplens::ops
