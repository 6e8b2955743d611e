#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "ops/kernels/launch_elementwise.h"
#include "ops/kernels/template_arguments.h"
#include "ops/op_model.h"

namespace oplens::ops {
namespace {

enum class FunctorResult : uint8_t { kFirst, kLast, kBool };

// A functor of PyTorch by a part of its spelling, and the op whose model prices it.
struct FunctorRow {
  std::string_view word;
  std::string_view op;
  int operands = 1;       // Tensors of the call that is priced.
  bool backward = false;  // Costs what the op's backward costs.
  FunctorResult result = FunctorResult::kFirst;
  int may_add = 0;  // FLOPs that an argument adds: alpha, an approximation.
};

constexpr FunctorResult kBoolResult = FunctorResult::kBool;

// The first match decides, so backwards and long words precede.
constexpr FunctorRow kFunctorRows[] = {
    {"CUDAFunctor_add<", "add", 2, false, FunctorResult::kFirst, 1},
    {"CUDAFunctorOnSelf_add<", "add", 2, false, FunctorResult::kFirst, 1},
    {"CUDAFunctorOnOther_add<", "add", 2, false, FunctorResult::kFirst, 1},
    {"AddFunctor<", "add", 2, false, FunctorResult::kFirst, 1},
    {"add_kernel_cuda", "add", 2, false, FunctorResult::kFirst, 1},
    {"MulFunctor<", "mul", 2},
    {"MulScalarFunctor<", "mul", 2},
    {"mul_kernel_cuda", "mul", 2},
    {"DivFunctor<", "div", 2},
    {"div_true_kernel_cuda", "div", 2},
    {"div_trunc_kernel_cuda", "div", 2},
    {"div_kernel_cuda", "div", 2},
    {"FillFunctor<", "fill"},
    {"fill_kernel_cuda", "fill"},
    {"direct_copy_kernel", "copy", 2},
    {"copy_device_to_device", "copy", 2},
    {"_copy_kernel_cuda", "copy", 2},
    {"CompareEqFunctor<", "eq", 2, false, kBoolResult},
    {"CompareNEFunctor<", "eq", 2, false, kBoolResult},
    {"CompareGTFunctor<", "gt", 2, false, kBoolResult},
    {"CompareGEFunctor<", "gt", 2, false, kBoolResult},
    {"CompareLTFunctor<", "gt", 2, false, kBoolResult},
    {"CompareLEFunctor<", "gt", 2, false, kBoolResult},
    {"CompareFunctor<", "gt", 2, false, kBoolResult},
    {"compare_scalar_kernel", "gt", 2, false, kBoolResult},
    {"compare_eq_ne_kernel", "eq", 2, false, kBoolResult},
    {"BitwiseAndFunctor<", "bitwise_and", 2},
    {"BitwiseOrFunctor<", "bitwise_or", 2},
    {"BitwiseXorFunctor<", "bitwise_xor", 2},
    {"bitwise_not_kernel_cuda", "bitwise_not"},
    {"logical_and_kernel_cuda", "logical_and", 2, false, kBoolResult},
    {"logical_or_kernel_cuda", "logical_or", 2, false, kBoolResult},
    {"logical_xor_kernel_cuda", "logical_xor", 2, false, kBoolResult},
    {"logical_not_kernel_cuda", "logical_not", 1, false, kBoolResult},
    {"where_kernel_impl", "where", 3, false, FunctorResult::kLast},
    {"masked_fill_kernel", "masked_fill", 3},
    {"launch_clamp_scalar", "clamp_min", 2},
    {"clamp_min_scalar_kernel_impl", "clamp_min", 2},
    {"clamp_max_scalar_kernel_impl", "clamp_max", 2},
    {"clamp_scalar_kernel_impl", "clamp_min", 2},
    {"maximum_kernel_cuda", "maximum", 2},
    {"minimum_kernel_cuda", "minimum", 2},
    {"fmax_kernel_cuda", "fmax", 2},
    {"fmin_kernel_cuda", "fmin", 2},
    {"addcmul_cuda_kernel", "addcmul", 3},
    {"addcmul_cuda_scalar", "addcmul", 3},
    {"addcdiv_cuda_kernel", "addcdiv", 3},
    {"lerp_tensor_kernel", "lerp", 3},
    {"lerp_scalar_kernel", "lerp", 3},
    // Activations
    {"threshold_kernel_impl", "threshold"},
    {"GeluBackwardCUDAKernelImpl", "gelu", 1, true, FunctorResult::kFirst, 6},
    {"GeluCUDAKernelImpl", "gelu", 1, false, FunctorResult::kFirst, 4},
    {"silu_backward_kernel", "silu", 1, true},
    {"silu_kernel", "silu"},
    {"sigmoid_backward_kernel", "sigmoid", 1, true},
    {"sigmoid_kernel_cuda", "sigmoid"},
    {"tanh_backward_kernel", "tanh", 1, true},
    {"leaky_relu_backward_kernel", "leaky_relu", 1, true},
    {"leaky_relu_kernel", "leaky_relu"},
    {"hardswish_backward_kernel", "hardswish", 1, true},
    {"hardswish_kernel", "hardswish"},
    {"hardsigmoid_backward_kernel", "hardsigmoid", 1, true},
    {"hardsigmoid_kernel", "hardsigmoid"},
    {"hardtanh_backward_kernel", "hardtanh", 1, true},
    {"elu_backward_kernel", "elu", 1, true},
    {"elu_kernel", "elu"},
    {"softplus_backward_kernel", "softplus", 1, true},
    {"softplus_kernel", "softplus"},
    {"mish_backward_kernel", "mish", 1, true},
    {"mish_kernel", "mish"},
    // Functions
    {"AbsFunctor<", "abs"},
    {"abs_kernel_cuda", "abs"},
    {"neg_kernel_cuda", "neg"},
    {"sign_kernel_cuda", "sign"},
    {"sgn_kernel_cuda", "sgn"},
    {"reciprocal_kernel_cuda", "reciprocal"},
    {"floor_kernel_cuda", "floor"},
    {"ceil_kernel_cuda", "ceil"},
    {"round_kernel_cuda", "round"},
    {"trunc_kernel_cuda", "trunc"},
    {"frac_kernel_cuda", "frac"},
    {"nan_to_num_kernel_cuda", "nan_to_num"},
    {"isnan_kernel_impl", "isnan", 1, false, kBoolResult},
    {"isinf_kernel_impl", "isinf", 1, false, kBoolResult},
    {"rsqrt_kernel_cuda", "rsqrt"},
    {"sqrt_kernel_cuda", "sqrt"},
    {"exp2_kernel_cuda", "exp2"},
    {"expm1_kernel_cuda", "expm1"},
    {"exp_kernel_cuda", "exp"},
    {"log10_kernel_cuda", "log10"},
    {"log1p_kernel_cuda", "log1p"},
    {"log2_kernel_cuda", "log2"},
    {"log_kernel_cuda", "log"},
    {"asinh_kernel_cuda", "asinh"},
    {"acosh_kernel_cuda", "acosh"},
    {"atanh_kernel_cuda", "atanh"},
    {"sinh_kernel_cuda", "sinh"},
    {"cosh_kernel_cuda", "cosh"},
    {"tanh_kernel_cuda", "tanh"},
    {"asin_kernel_cuda", "asin"},
    {"acos_kernel_cuda", "acos"},
    {"atan2_kernel_cuda", "atan2", 2},
    {"atan_kernel_cuda", "atan"},
    {"sin_kernel_cuda", "sin"},
    {"cos_kernel_cuda", "cos"},
    {"tan_kernel_cuda", "tan"},
    {"erfinv_kernel_cuda", "erfinv"},
    {"erfc_kernel_cuda", "erfc"},
    {"erf_kernel_cuda", "erf"},
    {"remainder_kernel_cuda", "remainder", 2},
    {"fmod_kernel_cuda", "fmod", 2},
};

constexpr std::string_view kPower = "pow_tensor_scalar_kernel_impl";

// FLOPs of an element by the op's own model.
std::optional<int64_t> FlopsPerElement(std::string_view op, int operands, bool backward) {
  constexpr int64_t kElements = 1024;
  OpCall call;
  call.mod = "torch";
  call.op = op;
  for (int i = 0; i < operands; ++i) {
    OpArg arg;
    arg.kind = OpArg::Kind::kTensor;
    arg.type = "tensor";
    arg.shape = {kElements};
    arg.dtype = op == "where" && i == 0 ? "bool" : "float32";
    call.args.push_back(arg);
  }
  const PriceResult result = PriceCall(call);
  if (!result.price) return std::nullopt;
  const std::vector<PartWork>& parts = backward ? result.price->backward : result.price->forward;
  if (parts.size() != 1) return std::nullopt;
  const std::optional<int64_t> flops = parts.front().work.vec.Value();
  if (!flops || *flops % kElements != 0) return std::nullopt;
  return *flops / kElements;
}

// What the exponent is: the first three lambdas are squares, cubes and their inverses.
std::optional<ElementWork> PowerWork(std::string_view spelling) {
  const size_t last = spelling.rfind(")#");
  if (last == std::string_view::npos || last + 2 >= spelling.size()) return std::nullopt;
  const std::optional<int64_t> any = FlopsPerElement("pow", 2, false);
  if (!any) return std::nullopt;
  const char which = spelling[last + 2];
  if (which >= '1' && which <= '3') return ElementWork{{1, 1}, 1};
  return ElementWork{{1, *any}, *any};
}

std::optional<ElementWork> WorkOf(const FunctorRow& row, std::string_view spelling) {
  const std::optional<int64_t> flops = FlopsPerElement(row.op, row.operands, row.backward);
  if (!flops) return std::nullopt;
  // The first lambda of gelu is the approximation by tanh, where there are two.
  const bool is_approximate = row.op == "gelu" && row.may_add > 0 &&
                              spelling.find("GeluType)::{lambda()#1}") != std::string_view::npos;
  if (row.op != "gelu") return ElementWork{{*flops, *flops + row.may_add}, *flops};
  const int64_t gelu = *flops + (is_approximate ? row.may_add : 0);
  return ElementWork{{gelu, gelu}, gelu};
}

std::optional<DType> TypeOf(std::string_view spelling) { return ParseDType(spelling); }

// The types of "BinaryFunctor<A, B, R, F>" and of its unary forms with a number.
bool TypesOfFunctor(std::string_view spelling, Functor* functor) {
  struct Form {
    std::string_view name;
    size_t first, count;  // Which arguments are tensors.
  };
  constexpr Form kForms[] = {
      {"BinaryFunctor", 0, 2}, {"AUnaryFunctor", 1, 1}, {"BUnaryFunctor", 0, 1}};
  for (const Form& form : kForms) {
    const std::vector<std::string_view> arguments = TemplateArguments(spelling, form.name);
    if (arguments.size() != 4) continue;
    for (size_t i = 0; i < form.count; ++i) {
      functor->inputs.push_back(TypeOf(arguments[form.first + i]).value_or(DType::kUnknown));
    }
    functor->result = TypeOf(arguments[2]).value_or(DType::kUnknown);
    functor->has_number = form.count == 1;
    return true;
  }
  return false;
}

// The types of "CUDAFunctor_add<T>", "FillFunctor<T>": one for all.
bool TypesOfOneType(std::string_view spelling, Functor* functor) {
  struct Form {
    std::string_view name;
    size_t inputs;
  };
  constexpr Form kForms[] = {{"CUDAFunctor_add", 2},
                             {"CUDAFunctorOnSelf_add", 1},
                             {"CUDAFunctorOnOther_add", 1},
                             {"FillFunctor", 0},
                             {"AbsFunctor", 1},
                             {"CompareFunctor", 2},
                             {"MulScalarFunctor", 1},
                             {"AddFunctor", 2}};
  for (const Form& form : kForms) {
    const std::vector<std::string_view> arguments = TemplateArguments(spelling, form.name);
    if (arguments.empty()) continue;
    const DType type = TypeOf(arguments.front()).value_or(DType::kUnknown);
    functor->inputs.assign(form.inputs, type);
    functor->result = type;
    functor->has_number = form.inputs == 1 && form.name != "AbsFunctor";
    return true;
  }
  return false;
}

// The types of the last "{lambda(float, bool)#1}".
void TypesOfLambda(std::string_view spelling, Functor* functor) {
  constexpr std::string_view kLambda = "{lambda(";
  const size_t at = spelling.rfind(kLambda);
  if (at == std::string_view::npos) return;
  std::string_view list = spelling.substr(at + kLambda.size());
  list = list.substr(0, list.find(')'));
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    functor->inputs.push_back(TypeOf(list.substr(0, comma)).value_or(DType::kUnknown));
    list.remove_prefix(std::min(comma + 2, list.size()));
  }
  if (!functor->inputs.empty()) functor->result = functor->inputs.front();
}

}  // namespace

Functor FunctorOf(std::string_view spelling) {
  Functor functor;
  const auto* row = std::find_if(
      std::begin(kFunctorRows), std::end(kFunctorRows),
      [&](const FunctorRow& known) { return spelling.find(known.word) != std::string_view::npos; });
  if (spelling.find(kPower) != std::string_view::npos) {
    functor.op = "pow";
    functor.flops = PowerWork(spelling);
  } else if (row != std::end(kFunctorRows)) {
    functor.op = row->op;
    functor.flops = WorkOf(*row, spelling);
  }
  if (TypesOfFunctor(spelling, &functor)) return functor;
  if (!TypesOfOneType(spelling, &functor)) TypesOfLambda(spelling, &functor);
  if (functor.op.empty() || functor.inputs.empty()) {
    // What an unknown function gives is unknown too; a fill has no input.
    if (functor.op.empty()) functor.result = DType::kUnknown;
    return functor;
  }
  if (spelling.find("16tofloat32_copy_kernel_cuda") != std::string_view::npos) {
    functor.result = DType::kFloat32;
  } else if (spelling.find("bfloat16_copy_kernel_cuda") != std::string_view::npos) {
    functor.result = DType::kBFloat16;
  } else if (row != std::end(kFunctorRows) && row->result == FunctorResult::kBool) {
    functor.result = DType::kBool;
  } else if (row != std::end(kFunctorRows) && row->result == FunctorResult::kLast) {
    functor.result = functor.inputs.back();
  }
  return functor;
}

}  // namespace oplens::ops
