// Products over named indices.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// The indices of one operand or of the result: letters, and one sign each for the dimensions that
// an ellipsis stands for.
using Indices = std::string;

constexpr size_t kMaxEquation = 512;
// Signs for the dimensions of an ellipsis, counted from the last.
constexpr std::string_view kEllipsis = "0123456789";

struct Equation {
  std::vector<Indices> operands;
  std::optional<Indices> result;  // Not written: every letter that stands once, in their order.
};

// "ij, jk -> ik" without blanks; '.' is left for "...".
std::optional<Equation> ParseEquation(std::string_view text) {
  if (text.size() > kMaxEquation) return std::nullopt;
  std::string bare;
  std::copy_if(text.begin(), text.end(), std::back_inserter(bare), [](char c) { return c != ' '; });
  Equation equation;
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

// The indices of an operand with an ellipsis as signs, one a dimension; nullopt when the text is no
// list of letters or does not fit the rank.
std::optional<Indices> Expand(std::string_view indices, size_t rank) {
  const size_t dots = indices.find("...");
  Indices expanded;
  for (size_t i = 0; i < indices.size(); ++i) {
    const char c = indices[i];
    if (i == dots) {
      const size_t named = indices.size() - 3;
      if (named > rank || rank - named > kEllipsis.size()) return std::nullopt;
      for (size_t n = rank - named; n-- > 0;) expanded += kEllipsis[n];
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      expanded += c;
    } else {
      return std::nullopt;
    }
  }
  if (expanded.size() != rank) return std::nullopt;
  return expanded;
}

bool Holds(const Indices& indices, char index) { return indices.find(index) != Indices::npos; }

class Extents {
 public:
  // False when an index has two extents of which none is 1.
  bool Bind(const Indices& indices, Shape shape) {
    for (size_t i = 0; i < indices.size(); ++i) {
      int64_t& extent = extents_[static_cast<unsigned char>(indices[i])];
      if (extent < 0 || extent == 1) {
        extent = shape[i];
      } else if (shape[i] != 1 && shape[i] != extent) {
        return false;
      }
    }
    return true;
  }
  Checked ProductOf(const Indices& indices) const {
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
  std::vector<Tensor> tensors;
  std::vector<Indices> indices;
  Indices result;
  Extents extents;
};

// Every index that stands once on the left: those of an ellipsis, then the letters in their order.
Indices ImplicitResult(const std::vector<Indices>& operands) {
  std::string all;
  for (const Indices& operand : operands) all += operand;
  Indices once;
  Indices dots;
  for (const char index : all) {
    const bool sign = kEllipsis.find(index) != std::string_view::npos;
    if (sign && !Holds(dots, index)) dots += index;
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
    } else if (arg.kind == OpArg::Kind::kTensor) {
      const std::optional<Tensor> tensor = TensorOf(arg, reason);
      if (!tensor) return std::nullopt;
      read.tensors.push_back(*tensor);
    }
  }
  *reason = Reason::kUnsupportedArgs;
  if (!equation || read.tensors.empty()) return std::nullopt;
  *reason = Reason::kShapeMismatch;
  if (equation->operands.size() != read.tensors.size()) return std::nullopt;
  size_t dots = 0;  // Dimensions of the widest ellipsis.
  for (size_t i = 0; i < read.tensors.size(); ++i) {
    const std::string& text = equation->operands[i];
    const size_t rank = read.tensors[i].shape.size();
    const std::optional<Indices> indices = Expand(text, rank);
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
  const std::optional<Indices> result = Expand(*equation->result, letters + (has_dots ? dots : 0));
  if (!result) return std::nullopt;
  std::string all;
  for (const Indices& operand : read.indices) all += operand;
  const bool known =
      std::all_of(result->begin(), result->end(), [&](char index) { return Holds(all, index); });
  if (!known) return std::nullopt;
  read.result = *result;
  return read;
}

Indices Union(const Indices& a, const Indices& b) {
  Indices both = a;
  for (const char index : b) {
    if (!Holds(both, index)) both += index;
  }
  return both;
}

struct Step {
  Work work;
  Indices left;  // Indices that remain.
};

// One pair: a multiply-add for each combination of all indices if any is summed, else a
// multiplication.
Step Contract(const Contraction& read, const Indices& a, const Indices& b, const Indices& keep,
              DType type) {
  const Indices all = Union(a, b);
  Step step;
  for (const char index : all) {
    if (Holds(keep, index)) step.left += index;
  }
  const Checked combinations = read.extents.ProductOf(all);
  const bool complex = CategoryOf(type) == DTypeCategory::kComplex;
  if (step.left.size() < all.size()) {
    step.work.mma = combinations * (complex ? 8 : 2);
  } else {
    step.work.vec = combinations;
  }
  return step;
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
  Indices current = read->indices.front();
  for (size_t i = 1; i < read->indices.size(); ++i) {
    // What the result or a later operand needs stays.
    Indices keep = read->result;
    for (size_t later = i + 1; later < read->indices.size(); ++later) {
      keep = Union(keep, read->indices[later]);
    }
    const Step step = Contract(*read, current, read->indices[i], keep, type);
    forward.mma += step.work.mma;
    forward.vec += step.work.vec;
    current = step.left;
  }
  // One operand: its elements are added up, or only rearranged.
  const bool single = read->tensors.size() == 1;
  if (single && read->result.size() < current.size())
    forward.vec = read->extents.ProductOf(current);
  forward.bytes = bytes + output_bytes;

  std::vector<PartWork> backward;
  if (read->tensors.size() == 2) {
    const Part parts[] = {Part::kDgrad, Part::kWgrad};
    for (size_t i = 0; i < 2; ++i) {
      if (!read->tensors[i].Differentiable()) continue;
      backward.push_back({parts[i], {forward.mma, forward.vec, forward.bytes}, {}});
    }
  }
  PriceResult result =
      Priced(fmt::format("{},{}", TensorsText(read->tensors), DTypeWord(type)), forward, backward);
  PricedOp& op = *result.price;
  op.matmul_like = !(forward.mma == 0);
  op.vec_estimated = false;
  // The order of several products is not recorded.
  op.mma_estimated = read->tensors.size() > 2;
  return result;
}

constexpr std::string_view kNames[] = {"einsum"};
constexpr OpModel kModels[] = {{kNames, PriceEinsum}};

}  // namespace

std::span<const OpModel> EinsumOps() { return kModels; }

}  // namespace oplens::ops
