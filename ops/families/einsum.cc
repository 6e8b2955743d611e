// Products over named indices.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/product.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// Indices of one operand or the result: letters, and one of kEllipsis per dimension of an ellipsis.
using EinsumIndices = std::string;

constexpr size_t kMaxEquation = 512;
// Signs for the dimensions of an ellipsis, counted from the last.
constexpr std::string_view kEllipsis = "0123456789";

struct Equation {
  std::string text;  // Without blanks.
  std::vector<EinsumIndices> operands;
  std::optional<EinsumIndices>
      // Absent: all letters that occur once, in alphabetical order.
      result;
};

// "ij, jk -> ik" without blanks; '.' only in "...".
std::optional<Equation> ParseEquation(std::string_view text) {
  if (text.size() > kMaxEquation) return std::nullopt;
  std::string bare;
  std::copy_if(text.begin(), text.end(), std::back_inserter(bare), [](char c) { return c != ' '; });
  Equation equation;
  equation.text = bare;
  const size_t arrow = bare.find("->");
  if (arrow != std::string::npos) equation.result = bare.substr(arrow + 2);
  std::string_view left = std::string_view(bare).substr(0, arrow);
  while (true) {
    const size_t comma = left.find(',');
    equation.operands.emplace_back(left.substr(0, comma));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  return equation;
}

// The indices of an operand, one per dimension, with its ellipsis expanded; nullopt if the text is
// not a list of letters or does not fit the rank.
std::optional<EinsumIndices> Expand(std::string_view indices, size_t rank) {
  const size_t dots = indices.find("...");
  EinsumIndices expanded;
  for (size_t i = 0; i < indices.size(); ++i) {
    const char c = indices[i];
    if (i == dots) {
      const size_t named = indices.size() - 3;
      if (named > rank || rank - named > kEllipsis.size()) return std::nullopt;
      for (size_t n = rank - named; n-- > 0;) expanded += kEllipsis[n];
      i += 2;
    } else if (IsLetter(c)) {
      expanded += c;
    } else {
      return std::nullopt;
    }
  }
  if (expanded.size() != rank) return std::nullopt;
  return expanded;
}

bool HoldsEinsum(const EinsumIndices& indices, char index) {
  return indices.find(index) != EinsumIndices::npos;
}

class Extents {
 public:
  // False if an index has two different extents other than 1, or two within one operand.
  bool Bind(const EinsumIndices& indices, Shape shape) {
    for (size_t i = 0; i < indices.size(); ++i) {
      if (shape[i] != shape[indices.find(indices[i])]) return false;
      int64_t& extent = extents_[static_cast<unsigned char>(indices[i])];
      if (extent < 0 || extent == 1) {
        extent = shape[i];
      } else if (shape[i] != 1 && shape[i] != extent) {
        return false;
      }
    }
    return true;
  }
  Checked ProductOf(const EinsumIndices& indices) const {
    Checked product = 1;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices.find(indices[i]) != i) continue;  // A diagonal.
      product *= extents_[static_cast<unsigned char>(indices[i])];
    }
    return product;
  }

 private:
  std::array<int64_t, 128> extents_ = [] {
    std::array<int64_t, 128> extents{};
    extents.fill(-1);
    return extents;
  }();
};

struct Contraction {
  std::string equation;
  std::vector<Tensor> tensors;
  std::vector<EinsumIndices> indices;
  EinsumIndices result;
  Extents extents;
};

// Indices that occur once on the left: those of an ellipsis, then letters in alphabetical order.
EinsumIndices ImplicitResult(const std::vector<EinsumIndices>& operands) {
  std::string all;
  for (const EinsumIndices& operand : operands) all += operand;
  EinsumIndices once;
  EinsumIndices dots;
  for (const char index : all) {
    const bool sign = kEllipsis.find(index) != std::string_view::npos;
    if (sign && !HoldsEinsum(dots, index)) dots += index;
    if (!sign && std::count(all.begin(), all.end(), index) == 1) once += index;
  }
  std::sort(once.begin(), once.end());
  return dots + once;
}

std::optional<Contraction> ReadContraction(const OpCall& call, Reason* reason) {
  *reason = Reason::kUnsupportedArgs;
  Contraction read;
  std::optional<Equation> equation;
  for (const OpArg& arg : call.args) {
    if (arg.kind == OpArg::Kind::kString && !equation) {
      equation = ParseEquation(arg.text);
      if (!equation) return std::nullopt;
    } else if (arg.kind == OpArg::Kind::kTensor || IsNumber(arg)) {
      const std::optional<Tensor> tensor = TensorOf(arg, reason);
      if (!tensor) return std::nullopt;
      read.tensors.push_back(*tensor);
    }
  }
  *reason = Reason::kUnsupportedArgs;
  if (!equation || read.tensors.empty()) return std::nullopt;
  read.equation = equation->text;
  *reason = Reason::kShapeMismatch;
  if (equation->operands.size() != read.tensors.size()) return std::nullopt;
  size_t dots = 0;  // Rank of the widest ellipsis.
  for (size_t i = 0; i < read.tensors.size(); ++i) {
    const std::string& text = equation->operands[i];
    const size_t rank = read.tensors[i].shape.size();
    const std::optional<EinsumIndices> indices = Expand(text, rank);
    if (!indices || !read.extents.Bind(*indices, read.tensors[i].shape)) return std::nullopt;
    if (text.find("...") != std::string::npos) dots = std::max(dots, rank - (text.size() - 3));
    read.indices.push_back(*indices);
  }
  if (!equation->result) {
    read.result = ImplicitResult(read.indices);
    return read;
  }
  const bool has_dots = equation->result->find("...") != std::string::npos;
  const size_t letters = equation->result->size() - (has_dots ? 3 : 0);
  const std::optional<EinsumIndices> result =
      Expand(*equation->result, letters + (has_dots ? dots : 0));
  if (!result) return std::nullopt;
  std::string all;
  for (const EinsumIndices& operand : read.indices) all += operand;
  const bool known = std::all_of(result->begin(), result->end(), [&](char index) {
    return HoldsEinsum(all, index) && std::count(result->begin(), result->end(), index) == 1;
  });
  if (!known) return std::nullopt;
  read.result = *result;
  return read;
}

EinsumIndices Union(const EinsumIndices& a, const EinsumIndices& b) {
  EinsumIndices both = a;
  for (const char index : b) {
    if (!HoldsEinsum(both, index)) both += index;
  }
  return both;
}

struct EinsumStep {
  Work work;
  bool sums = false;
  EinsumIndices left;  // Remaining indices.
};

// One pair: per combination of all indices a multiply-add, or a multiplication if none is summed.
EinsumStep Contract(const Contraction& read, const EinsumIndices& a, const EinsumIndices& b,
                    const EinsumIndices& keep, DType type) {
  const EinsumIndices all = Union(a, b);
  EinsumStep step;
  for (const char index : all) {
    if (HoldsEinsum(keep, index)) step.left += index;
  }
  const Checked combinations = read.extents.ProductOf(all);
  step.sums = step.left.size() < all.size();
  if (step.sums) {
    step.work.mma = combinations * FlopsPerFma(type, type);
  } else {
    step.work.vec = combinations;
  }
  return step;
}

// The matrix product behind a contraction of two operands: kept indices of both are the batch,
// those of one operand its rows or columns. nullopt if nothing is summed, if a summed index occurs
// in one operand only, or if extents do not fit.
std::optional<Product> ProductOf(const Contraction& read) {
  const EinsumIndices& a = read.indices[0];
  const EinsumIndices& b = read.indices[1];
  EinsumIndices batch, rows, columns, summed;
  for (const char index : Union(a, b)) {
    const bool stays = HoldsEinsum(read.result, index);
    if (HoldsEinsum(a, index) && HoldsEinsum(b, index)) {
      (stays ? batch : summed) += index;
    } else if (!stays) {
      return std::nullopt;
    } else {
      (HoldsEinsum(a, index) ? rows : columns) += index;
    }
  }
  const auto m = read.extents.ProductOf(rows).Value();
  const auto n = read.extents.ProductOf(columns).Value();
  const auto k = read.extents.ProductOf(summed).Value();
  if (summed.empty() || !m || !n || !k) return std::nullopt;
  return Product{read.extents.ProductOf(batch), *m, *n, *k};
}

// Whether the gradient of a single operand is a view: not for a diagonal.
bool HasViewGradient(const Contraction& read) {
  const EinsumIndices& indices = read.indices.front();
  return read.tensors.front().Differentiable() && Union({}, indices) == indices;
}

PriceResult PriceEinsum(std::string_view, const OpCall& call) {
  Reason reason;
  const std::optional<Contraction> read = ReadContraction(call, &reason);
  if (!read) return Unpriced(reason);
  DType type = read->tensors.front().dtype;
  Checked bytes;
  for (const Tensor& tensor : read->tensors) {
    type = PromoteDTypes(type, tensor.dtype);
    bytes += tensor.bytes();
  }
  const Checked output_bytes = BytesOf(read->extents.ProductOf(read->result), type);

  Work forward;
  bool has_sum = false;
  EinsumIndices current = read->indices.front();
  for (size_t i = 1; i < read->indices.size(); ++i) {
    // Keeps what the result or a later operand needs.
    EinsumIndices keep = read->result;
    for (size_t later = i + 1; later < read->indices.size(); ++later) {
      keep = Union(keep, read->indices[later]);
    }
    const EinsumStep step = Contract(*read, current, read->indices[i], keep, type);
    forward.mma += step.work.mma;
    forward.vec += step.work.vec;
    has_sum = has_sum || step.sums;
    current = step.left;
  }
  // One operand: its elements are summed or only rearranged.
  const bool single = read->tensors.size() == 1;
  if (single && read->result.size() < Union({}, current).size()) {
    forward.vec = read->extents.ProductOf(current);
  }
  forward.bytes = bytes + output_bytes;

  std::vector<PartWork> backward;
  if (read->tensors.size() == 2) {
    const Part parts[] = {Part::kDgrad, Part::kWgrad};
    for (size_t i = 0; i < 2; ++i) {
      if (!read->tensors[i].Differentiable()) continue;
      backward.push_back({parts[i], {forward.mma, forward.vec, forward.bytes}, {}});
    }
  }
  if (single && HasViewGradient(*read)) backward.push_back({Part::kBackward, Work(), {}});
  PriceResult result = Priced(fmt::format("{};{}", read->equation, TensorsText(read->tensors)),
                              forward, std::move(backward));
  PricedOp& op = *result.price;
  if (read->tensors.size() == 2) {
    if (const auto product = ProductOf(*read)) {
      MarkMatrix(*product, read->tensors[0], read->tensors[1], &op);
    }
  }
  op.matmul_like = has_sum;
  op.vec_estimated = FlopsPerFma(type, type) > 2 && !(forward.vec == 0);
  // The order of several products is not recorded.
  op.mma_estimated = read->tensors.size() > 2;
  return result;
}

constexpr std::string_view kEinsumNames[] = {"einsum"};
constexpr OpModel kEinsumModels[] = {{kEinsumNames, PriceEinsum}};

}  // namespace

std::span<const OpModel> EinsumOps() { return kEinsumModels; }

}  // namespace oplens::ops
