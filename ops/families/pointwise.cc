// Elementwise ops. One table gives the FLOPs per output element and per gradient element; the rest
// follows from the operands: broadcasting, type promotion, which operands receive gradients.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/pointwise_table.h"
#include "ops/op_name.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

using ResultKind = PointwiseResult;
using GradientWeights = PointwiseGradient;

// Weights of ops whose cost depends on an argument.
constexpr int kTanhGeluForward = 28;
constexpr int kTanhGeluBackward = 34;
// A few multiplications instead of logarithm and exponential.
constexpr int kSmallPowerForward = 1;
constexpr int kSmallPowerBackward = 2;
constexpr double kSmallPower = 3;
constexpr int kDivisorGradient = 4;  // -dY a / b^2

// The recorded operands in order, and options that change the cost.
struct PointwiseOperands {
  std::vector<Tensor> tensors;  // Including numbers.
  double last_number = 0;       // Value of the last operand if it is a number.
  bool scaled = false;          // add, sub: alpha is not 1.
  bool rounded = false;         // div(rounding_mode=..): an integer result stays integer.
  bool tanh = false;            // gelu(approximate='tanh')
};

// Reads an argument that is not an operand. Returns whether it was one.
bool ReadOption(const OpArg& arg, PointwiseOperands* operands) {
  constexpr std::string_view kIgnored[] = {"out", "inplace", "training", "generator"};
  if (arg.kind == OpArg::Kind::kNone) return true;
  if (arg.kind == OpArg::Kind::kString) {
    operands->tanh |= arg.text == "tanh";
    operands->rounded |= arg.name == "rounding_mode";
    return true;
  }
  if (arg.name == "alpha" && IsNumber(arg)) {
    operands->scaled = NumberOf(arg) != 1;
    return true;
  }
  return std::find(std::begin(kIgnored), std::end(kIgnored), arg.name) != std::end(kIgnored);
}

// Drops the factor of add(a, alpha, b) and addcmul(a, value, b, c) before it became a keyword, and
// the keyword itself, which reads like an operand.
void DropFactor(const PointwiseOp& op, PointwiseOperands* operands) {
  std::vector<Tensor>& tensors = operands->tensors;
  const bool sum = op.name == "add" || op.name == "sub";
  const bool scaled_product = op.name == "addcmul" || op.name == "addcdiv";
  if (!sum && !scaled_product) return;
  if (tensors.size() != static_cast<size_t>(op.operands) + 1) return;
  if (tensors[1].number) {
    tensors.erase(tensors.begin() + 1);
  } else if (scaled_product && tensors.back().number) {
    tensors.pop_back();
  }
}

// The first operand is required; the bounds of clamp are optional.
bool CountFits(const PointwiseOp& op, size_t count) {
  const auto wanted = static_cast<size_t>(op.operands);
  return op.name == "clamp" ? count >= 1 && count <= wanted : count == wanted;
}

// Whether this is a number without a value as second operand; only exponents need the value.
bool IsUnrecordedNumber(const PointwiseOp& op, const PointwiseOperands& operands,
                        const OpArg& arg) {
  constexpr std::string_view kTypes[] = {"Scalar", "object", "double", "float", "int", "long int"};
  return arg.kind == OpArg::Kind::kOther && arg.name.empty() && op.operands == 2 &&
         op.name != "pow" && operands.tensors.size() == 1 &&
         std::find(std::begin(kTypes), std::end(kTypes), arg.type) != std::end(kTypes);
}

std::optional<PointwiseOperands> ReadPointwiseOperands(const PointwiseOp& op, const OpCall& call,
                                                       Reason* reason) {
  PointwiseOperands operands;
  std::optional<double> legacy_alpha;
  for (const OpArg& arg : call.args) {
    if (ReadOption(arg, &operands)) continue;
    // Numbers after the operand of a unary op are parameters: slopes, limits.
    if (op.operands == 1 && IsNumber(arg) && !operands.tensors.empty()) continue;
    if (IsUnrecordedNumber(op, operands, arg)) {
      operands.tensors.push_back({{}, DType::kUnknown, true});
      continue;
    }
    const std::optional<Tensor> tensor = TensorOf(arg, reason);
    if (!tensor) return std::nullopt;
    if (tensor->number) operands.last_number = NumberOf(arg);
    if (tensor->number && operands.tensors.size() == 1) legacy_alpha = NumberOf(arg);
    operands.tensors.push_back(*tensor);
  }
  const size_t recorded = operands.tensors.size();
  DropFactor(op, &operands);
  if (operands.tensors.size() != recorded && op.operands == 2) operands.scaled = legacy_alpha != 1;
  *reason = Reason::kUnsupportedArgs;
  if (!CountFits(op, operands.tensors.size())) return std::nullopt;
  // If there is no tensor, the method's object was a 0-d tensor.
  if (std::all_of(operands.tensors.begin(), operands.tensors.end(),
                  [](const Tensor& tensor) { return tensor.number; })) {
    operands.tensors.front().number = false;
  }
  return operands;
}

// Promotion rank of an operand: tensors with dimensions, then 0-d tensors, then numbers. A lower
// one changes the result's type only by a higher category.
int PromotionRank(const Tensor& tensor) {
  if (tensor.number) return 2;
  return tensor.shape.empty() ? 1 : 0;
}

DType Promote(std::span<const Tensor> tensors) {
  std::optional<DType> result;
  for (int rank = 0; rank <= 2; ++rank) {
    std::optional<DType> type;
    for (const Tensor& tensor : tensors) {
      if (PromotionRank(tensor) != rank) continue;
      if (tensor.number && tensor.dtype == DType::kUnknown) continue;
      type = type ? PromoteDTypes(*type, tensor.dtype) : tensor.dtype;
    }
    if (type && (!result || CategoryOf(*type) > CategoryOf(*result))) result = type;
  }
  return result.value_or(DType::kFloat32);
}

DType PointwiseResultType(ResultKind result, const PointwiseOperands& operands, bool in_place) {
  const std::vector<Tensor>& tensors = operands.tensors;
  if (in_place || result == ResultKind::kFirst) return tensors.front().dtype;
  if (result == ResultKind::kBool) return DType::kBool;
  if (result == ResultKind::kSelected) return Promote(std::span(tensors).subspan(1));
  const DType type = Promote(tensors);
  const bool becomes_float = result == ResultKind::kFloat && !operands.rounded;
  return becomes_float && CategoryOf(type) < DTypeCategory::kFloat ? DType::kFloat32 : type;
}

// Numbers are kernel arguments and move no bytes.
Checked OperandBytes(const Tensor& tensor) { return tensor.number ? Checked(0) : tensor.bytes(); }

// What gradient formulas need from the forward op.
struct Applied {
  std::span<const Tensor> tensors;
  Checked n;             // Elements of the result.
  Checked output_bytes;  // Of the result and of dY.
  int weight;            // FLOPs per gradient element.
  bool reversed;
};

// The gradient of one operand, summed to its shape if it was broadcast.
Work OperandGradient(const Applied& op, const Tensor& operand, int weight, Checked saved_bytes) {
  Work work{0, op.n * weight, op.output_bytes + saved_bytes + operand.bytes()};
  if (!(operand.elements() == op.n)) work.vec += op.n;
  return work;
}

Work AddPointwise(const Work& a, const Work& b) {
  return {a.mma + b.mma, a.vec + b.vec, a.bytes + b.bytes};
}

Work PointwiseViewGradient(const Applied& op) {
  Work work;
  for (const Tensor& tensor : op.tensors) {
    if (!tensor.Differentiable() || tensor.elements() == op.n) continue;
    work = AddPointwise(work, OperandGradient(op, tensor, 0, 0));
  }
  return work;
}

Work JointGradient(const Applied& op, Checked saved_bytes) {
  Work work{0, op.n * op.weight, op.output_bytes + saved_bytes};
  for (const Tensor& tensor : op.tensors) {
    if (!tensor.Differentiable()) continue;
    work.bytes += tensor.bytes();
    if (!(tensor.elements() == op.n)) work.vec += op.n;
  }
  return work;
}

Work ProductGradient(const Applied& op) {
  Work work;
  for (size_t i = 0; i < 2; ++i) {
    if (!op.tensors[i].Differentiable()) continue;
    work = AddPointwise(
        work, OperandGradient(op, op.tensors[i], op.weight, OperandBytes(op.tensors[1 - i])));
  }
  return work;
}

Work QuotientGradient(const Applied& op) {
  const Tensor& dividend = op.tensors[op.reversed ? 1 : 0];
  const Tensor& divisor = op.tensors[op.reversed ? 0 : 1];
  Work work;
  if (dividend.Differentiable()) {
    work = OperandGradient(op, dividend, op.weight, OperandBytes(divisor));
  }
  if (divisor.Differentiable()) {
    work = AddPointwise(work, OperandGradient(op, divisor, kDivisorGradient,
                                              OperandBytes(dividend) + divisor.bytes()));
  }
  return work;
}

std::vector<PartWork> PointwiseGradients(GradientWeights gradient, const Applied& op) {
  if (gradient == GradientWeights::kNone ||
      std::none_of(op.tensors.begin(), op.tensors.end(),
                   [](const Tensor& tensor) { return tensor.Differentiable(); })) {
    return {};
  }
  Checked operand_bytes;
  Checked condition_bytes;
  for (const Tensor& tensor : op.tensors) {
    operand_bytes += OperandBytes(tensor);
    if (CategoryOf(tensor.dtype) < DTypeCategory::kFloat) condition_bytes += OperandBytes(tensor);
  }
  Work work;
  switch (gradient) {
    case GradientWeights::kNone:
      break;
    case GradientWeights::kView:
      work = PointwiseViewGradient(op);
      break;
    case GradientWeights::kUnsaved:
      work = JointGradient(op, 0);
      break;
    case GradientWeights::kSaved:
      work = JointGradient(op, operand_bytes);
      break;
    case GradientWeights::kSelecting:
      work = JointGradient(op, condition_bytes);
      break;
    case GradientWeights::kProduct:
      work = ProductGradient(op);
      break;
    case GradientWeights::kQuotient:
      work = QuotientGradient(op);
      break;
  }
  return {{Part::kBackward, work}};
}

// Rounding has zero gradients, which are written.
std::vector<PartWork> ZeroGradients(const Applied& op) {
  std::vector<PartWork> parts;
  Work work;
  for (const Tensor& tensor : op.tensors) {
    if (!tensor.Differentiable()) continue;
    work.bytes += tensor.bytes();
    parts = {{Part::kBackward, work, {}}};
  }
  return parts;
}

struct Weights {
  int forward;
  int backward;
};

Weights PointwiseWeightsOf(const PointwiseOp& op, const PointwiseOperands& operands,
                           bool reversed) {
  if (op.name == "gelu" && operands.tanh) return {kTanhGeluForward, kTanhGeluBackward};
  const bool small = op.name == "pow" && !reversed && operands.tensors.back().number &&
                     std::abs(operands.last_number) <= kSmallPower &&
                     operands.last_number == std::trunc(operands.last_number);
  if (small) return {kSmallPowerForward, kSmallPowerBackward};
  return {op.forward + (operands.scaled ? 1 : 0), op.backward};
}

PriceResult PricePointwise(std::string_view op, const OpCall& call) {
  const PointwiseOp* row = FindPointwiseOp(op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  Reason reason = Reason::kUnsupportedArgs;
  std::optional<PointwiseOperands> operands = ReadPointwiseOperands(*row, call, &reason);
  if (!operands) return Unpriced(reason);
  std::vector<Tensor>& tensors = operands->tensors;
  // The method where() takes the condition second.
  if (op == "where" && call.mod == "Tensor") std::swap(tensors[0], tensors[1]);

  const OpName name = ParseOpName(call.op);
  const std::optional<std::vector<int64_t>> shape = Broadcast(tensors);
  if (!shape) return Unpriced(Reason::kShapeMismatch);
  const Checked n = Elements(*shape);
  if (name.in_place && !(n == tensors.front().elements())) return Unpriced(Reason::kShapeMismatch);

  const Weights weights = PointwiseWeightsOf(*row, *operands, name.reversed);
  const Checked output_bytes =
      BytesOf(n, PointwiseResultType(row->result, *operands, name.in_place));
  Work forward{0, n * weights.forward, output_bytes};
  for (const Tensor& tensor : tensors) forward.bytes += OperandBytes(tensor);
  const Applied applied{tensors, n, output_bytes, weights.backward, name.reversed};
  PriceResult result = Priced(
      TensorsText(tensors), forward,
      operands->rounded ? ZeroGradients(applied) : PointwiseGradients(row->gradient, applied));
  // One complex operation is several real ones.
  const bool complex = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return CategoryOf(tensor.dtype) == DTypeCategory::kComplex;
  });
  result.price->vec_estimated = complex || row->count == PointwiseCount::kEstimate;
  return result;
}

}  // namespace

std::span<const OpModel> PointwiseOps() {
  static const OpModel models[] = {{PointwiseNames(), PricePointwise}};
  return models;
}

}  // namespace oplens::ops
