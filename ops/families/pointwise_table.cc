#include "ops/families/pointwise_table.h"

#include "ops/pricing.h"

namespace oplens::ops {
namespace {

using Result = PointwiseResult;
using Gradient = PointwiseGradient;
using Count = PointwiseCount;

constexpr PointwiseOp kOps[] = {
    // Arithmetic
    {"add", 2, 1, 0, Result::kPromoted, Gradient::kView, Count::kExact},
    {"sub", 2, 1, 0, Result::kPromoted, Gradient::kView, Count::kExact},
    {"rsub", 2, 1, 0, Result::kPromoted, Gradient::kView, Count::kExact},
    {"mul", 2, 1, 1, Result::kPromoted, Gradient::kProduct, Count::kExact},
    {"div", 2, 1, 1, Result::kFloat, Gradient::kQuotient, Count::kExact},
    {"floor_divide", 2, 1, 0, Result::kPromoted, Gradient::kNone, Count::kEstimate},
    {"remainder", 2, 3, 1, Result::kPromoted, Gradient::kSaved, Count::kEstimate},
    {"fmod", 2, 3, 1, Result::kPromoted, Gradient::kSaved, Count::kEstimate},
    {"reciprocal", 1, 1, 2, Result::kFloat, Gradient::kSaved, Count::kExact},
    {"neg", 1, 1, 1, Result::kPromoted, Gradient::kUnsaved, Count::kExact},
    {"positive", 1, 0, 0, Result::kPromoted, Gradient::kView, Count::kExact},
    {"abs", 1, 1, 1, Result::kPromoted, Gradient::kSaved, Count::kExact},
    {"sign", 1, 1, 1, Result::kPromoted, Gradient::kUnsaved, Count::kExact},
    {"sgn", 1, 1, 1, Result::kPromoted, Gradient::kUnsaved, Count::kExact},
    {"copysign", 2, 1, 1, Result::kFloat, Gradient::kSaved, Count::kExact},
    {"nan_to_num", 1, 1, 1, Result::kPromoted, Gradient::kSaved, Count::kEstimate},
    {"floor", 1, 1, 1, Result::kPromoted, Gradient::kUnsaved, Count::kExact},
    {"ceil", 1, 1, 1, Result::kPromoted, Gradient::kUnsaved, Count::kExact},
    {"round", 1, 1, 1, Result::kPromoted, Gradient::kUnsaved, Count::kExact},
    {"trunc", 1, 1, 1, Result::kPromoted, Gradient::kUnsaved, Count::kExact},
    {"frac", 1, 1, 1, Result::kPromoted, Gradient::kUnsaved, Count::kEstimate},
    {"maximum", 2, 1, 1, Result::kPromoted, Gradient::kSaved, Count::kExact},
    {"minimum", 2, 1, 1, Result::kPromoted, Gradient::kSaved, Count::kExact},
    {"fmax", 2, 1, 1, Result::kPromoted, Gradient::kSaved, Count::kExact},
    {"fmin", 2, 1, 1, Result::kPromoted, Gradient::kSaved, Count::kExact},
    {"square", 1, 1, 2, Result::kPromoted, Gradient::kSaved, Count::kExact},
    {"pow", 2, 20, 22, Result::kPromoted, Gradient::kSaved, Count::kEstimate},
    // Comparisons and logic
    {"eq", 2, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"ne", 2, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"lt", 2, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"le", 2, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"gt", 2, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"ge", 2, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"isnan", 1, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"isinf", 1, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"isposinf", 1, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"isneginf", 1, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"signbit", 1, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"isfinite", 1, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"logical_and", 2, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"logical_or", 2, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"logical_xor", 2, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"logical_not", 1, 1, 0, Result::kBool, Gradient::kNone, Count::kExact},
    {"bitwise_and", 2, 1, 0, Result::kPromoted, Gradient::kNone, Count::kExact},
    {"bitwise_or", 2, 1, 0, Result::kPromoted, Gradient::kNone, Count::kExact},
    {"bitwise_xor", 2, 1, 0, Result::kPromoted, Gradient::kNone, Count::kExact},
    {"bitwise_left_shift", 2, 1, 0, Result::kPromoted, Gradient::kNone, Count::kExact},
    {"bitwise_right_shift", 2, 1, 0, Result::kPromoted, Gradient::kNone, Count::kExact},
    {"bitwise_not", 1, 1, 0, Result::kPromoted, Gradient::kNone, Count::kExact},
    // Selection
    {"where", 3, 1, 1, Result::kSelected, Gradient::kSelecting, Count::kExact},
    {"masked_fill", 3, 1, 1, Result::kFirst, Gradient::kSelecting, Count::kExact},
    {"clamp", 3, 1, 1, Result::kPromoted, Gradient::kSaved, Count::kEstimate},
    {"clamp_min", 2, 1, 1, Result::kPromoted, Gradient::kSaved, Count::kExact},
    {"clamp_max", 2, 1, 1, Result::kPromoted, Gradient::kSaved, Count::kExact},
    // Three operands
    {"lerp", 3, 3, 2, Result::kPromoted, Gradient::kSaved, Count::kExact},
    {"addcmul", 3, 3, 4, Result::kPromoted, Gradient::kSaved, Count::kExact},
    {"addcdiv", 3, 3, 5, Result::kPromoted, Gradient::kSaved, Count::kExact},
    // Roots, exponentials, logarithms
    {"sqrt", 1, 20, 2, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"rsqrt", 1, 20, 2, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"exp", 1, 20, 1, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"exp2", 1, 20, 2, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"expm1", 1, 20, 2, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"log", 1, 20, 2, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"log2", 1, 20, 2, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"log10", 1, 20, 2, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"log1p", 1, 20, 2, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"logaddexp", 2, 42, 42, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"logaddexp2", 2, 42, 42, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    // Trigonometric, hyperbolic, error functions
    {"sin", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"cos", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"tan", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"asin", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"acos", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"atan", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"atan2", 2, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"sinh", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"cosh", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"tanh", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"asinh", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"acosh", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"atanh", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"sigmoid", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"erf", 1, 20, 23, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"erfc", 1, 20, 23, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"erfinv", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"digamma", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"lgamma", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    {"mvlgamma", 1, 20, 3, Result::kFloat, Gradient::kSaved, Count::kEstimate},
    // Activations
    {"relu", 1, 1, 1, Result::kFirst, Gradient::kSaved, Count::kExact},
    {"relu6", 1, 1, 1, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"hardtanh", 1, 1, 1, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"threshold", 1, 1, 1, Result::kFirst, Gradient::kSaved, Count::kExact},
    {"hardshrink", 1, 1, 1, Result::kFirst, Gradient::kSaved, Count::kExact},
    {"softshrink", 1, 2, 1, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"leaky_relu", 1, 2, 2, Result::kFirst, Gradient::kSaved, Count::kExact},
    {"rrelu", 1, 3, 1, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"hardswish", 1, 4, 4, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"hardsigmoid", 1, 3, 1, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"softsign", 1, 3, 4, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"tanhshrink", 1, 21, 3, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"elu", 1, 22, 22, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"selu", 1, 22, 22, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"celu", 1, 22, 22, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"silu", 1, 21, 24, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"swish", 1, 21, 24, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"gelu", 1, 24, 28, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"softplus", 1, 41, 22, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"logsigmoid", 1, 41, 22, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"log_sigmoid", 1, 41, 22, Result::kFirst, Gradient::kSaved, Count::kEstimate},
    {"mish", 1, 62, 66, Result::kFirst, Gradient::kSaved, Count::kEstimate},
};

constexpr auto kNames = NamesOf(kOps);

}  // namespace

const PointwiseOp* FindPointwiseOp(std::string_view name) { return FindRow(kOps, name); }

std::span<const std::string_view> PointwiseNames() { return kNames; }

}  // namespace oplens::ops
