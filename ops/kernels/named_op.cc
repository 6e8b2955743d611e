#include "ops/kernels/named_op.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "ops/kernels/communication.h"
#include "ops/kernels/function_name.h"
#include "ops/kernels/named_op_rules.h"
#include "ops/kernels/template_arguments.h"
#include "ops/kernels/word_match.h"
#include "ops/op_model.h"
#include "parse/model/demangle.h"

namespace oplens::ops {
namespace {

// Only this much of a signature is read: the functor is at its beginning, and later repeated.
constexpr size_t kNamedOpReach = 1024;

// Generated kernels, named by what was fused in them.
constexpr std::string_view kGenerated[] = {"triton_poi_fused_", "triton_red_fused_",
                                           "triton_per_fused_", "triton_tem_fused_",
                                           "triton_for_fused_", "triton_spl_fused_"};

/// Parts of PyTorch's names of kernels that say nothing of the op.
constexpr std::string_view kFillers[] = {"cuda",     "kernel", "impl",    "scalar",
                                         "tensor",   "launch", "out",     "gpu",
                                         "internal", "hip",    "launcher"};

/// Ops that PyTorch's kernels call by a shorter name.
struct ShortName {
  std::string_view name;
  std::string_view op;
};

constexpr ShortName kShortNames[] = {
    {"compare", "comparison"},
    {"copy", "copy_"},
    {"bernoulli", "bernoulli_"},
    {"div_floor", "div"},
    {"div_true", "div"},
    {"div_trunc", "div"},
    {"fill", "fill_"},
    {"huber", "huber_loss"},
    {"mse", "mse_loss"},
    {"mse_backward", "mse_loss_backward"},
    {"smooth_l1", "smooth_l1_loss"},
    {"index_put", "_index_put_impl_"},
};

/// "_ge_lu_cuda_kernel_impl_" -> "gelu": the words of a name without fillers, joined by `joint`.
std::string WithoutFillers(std::string_view words, std::string_view joint) {
  std::string name;
  for (size_t i = 0; i < words.size();) {
    const size_t end = std::min(words.find('_', i), words.size());
    const std::string_view word = words.substr(i, end - i);
    i = end + 1;
    if (word.empty() ||
        std::find(std::begin(kFillers), std::end(kFillers), word) != std::end(kFillers)) {
      continue;
    }
    if (!name.empty()) name += joint;
    name += word;
  }
  return name;
}

bool IsOp(std::string_view name) { return FindOpModel(NormalizeOpName(name)) != nullptr; }

bool IsIdentifier(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c) || c == '_'; }

/// The op named by the function of PyTorch that makes the functor: "gelu" for
/// "elementwise_kernel<4, GeluCUDAKernelImpl(at::TensorIteratorBase&, ...)::{lambda()#1}, ...>".
std::string OpOfIteratorFunction(std::string_view signature) {
  constexpr std::string_view kIterator = "(at::TensorIterator";
  for (size_t at = signature.find(kIterator); at != std::string_view::npos;
       at = signature.find(kIterator, at + 1)) {
    size_t end = at;
    if (end > 0 && signature[end - 1] == '>') {
      int depth = 0;
      while (end > 0) {
        const char c = signature[--end];
        depth += c == '>' ? 1 : c == '<' ? -1 : 0;
        if (depth == 0) break;
      }
    }
    size_t begin = end;
    while (begin > 0 && IsIdentifier(signature[begin - 1])) --begin;
    const std::string_view function = signature.substr(begin, end - begin);
    // Runs any functor.
    if (function.starts_with("gpu_kernel") || function.starts_with("gpu_index")) continue;
    const std::string words = AsWords(function);
    for (const char* joint : {"_", ""}) {
      const std::string name = WithoutFillers(words, joint);
      const auto* known = std::find_if(std::begin(kShortNames), std::end(kShortNames),
                                       [&](const ShortName& entry) { return entry.name == name; });
      if (known != std::end(kShortNames)) return std::string(known->op);
      if (!name.empty() && IsOp(name)) return name;
    }
  }
  return {};
}

/// PyTorch's softmax of short rows: whether of logarithms is its fifth argument.
std::optional<std::string> WarpSoftmax(std::string_view signature) {
  constexpr size_t kIsLog = 4;
  for (const bool backward : {false, true}) {
    const std::vector<std::string_view> arguments =
        TemplateArguments(signature, backward ? "softmax_warp_backward" : "softmax_warp_forward");
    if (arguments.size() <= kIsLog) continue;
    const bool log = arguments[kIsLog] == "true" || arguments[kIsLog] == "(bool)1";
    if (backward) return log ? "_log_softmax_backward_data" : "_softmax_backward_data";
    return log ? "log_softmax" : "softmax";
  }
  return std::nullopt;
}

std::string_view OpOfCommunication(CommunicationKind kind, KernelFamily family) {
  switch (kind) {
    case CommunicationKind::kSendRecv:
      return "send_recv";
    case CommunicationKind::kOther:
      return family == KernelFamily::kP2p ? "send_recv" : "collective";
    default:
      return CommunicationWord(kind);
  }
}

struct CompiledOpRule {
  explicit CompiledOpRule(const NamedOpRule& source)
      : rule(source), function(source.function), anywhere(source.anywhere) {}

  bool Matches(KernelFamily family, const WordText& function_words, const WordText& whole) const {
    return (rule.family == family || rule.family == kAnyFamily) &&
           (function.empty() || function.Matches(function_words)) &&
           (anywhere.empty() || anywhere.Matches(whole));
  }

  const NamedOpRule& rule;
  WordPattern function, anywhere;
};

using CompiledOpRules = std::vector<CompiledOpRule>;

/// With a list of what is fused, not only a number.
bool IsGenerated(std::string_view name) {
  return std::any_of(std::begin(kGenerated), std::end(kGenerated), [&](std::string_view prefix) {
    return name.starts_with(prefix) &&
           name.find_first_not_of("0123456789", prefix.size()) != std::string_view::npos;
  });
}

/// Whether PyTorch runs a functor in it, whose name is in the template's arguments.
bool RunsFunctor(const WordText& function_words, std::string_view signature) {
  // Apex's is in no namespace.
  const bool is_apex = function_words.Holds("multi_tensor_apply");
  if (!is_apex && signature.find("at::") == std::string_view::npos) return false;
  return HoldsAny(function_words,
                  "elementwise|_reduce_kernel_|multi_tensor_apply|kernel_pointwise_apply|"
                  "distribution|unrolled|tensor_kernel_scan");
}

/// Whether common words in its name are those of a library that is known.
bool IsOfKnownLibrary(std::string_view signature) {
  constexpr std::string_view kLibraries[] = {"at::native::", "vllm::",         "sgl_",
                                             "flashinfer::", "tensorrt_llm::", "cudnn::"};
  return std::any_of(std::begin(kLibraries), std::end(kLibraries), [&](std::string_view library) {
    return signature.find(library) != std::string_view::npos;
  });
}

}  // namespace

NamedOp NamedOpOf(std::string_view kernel_name, const NamedFamily& family, int64_t rows) {
  const KernelFamily kind = family.Of(rows);
  if (const auto communication = CommunicationKindOf(kernel_name, family)) {
    return {std::string(OpOfCommunication(*communication, kind)), Confidence::kHigh};
  }
  if (IsGenerated(kernel_name)) return {std::string(kernel_name), Confidence::kHigh};
  std::string demangled;
  std::string_view signature = kernel_name;
  if (kernel_name.starts_with("_Z")) signature = demangled = parse::Demangle(kernel_name);
  signature = signature.substr(0, kNamedOpReach);
  const WordText function(AsWords(FunctionOf(kernel_name)));
  const WordText whole(AsWords(signature));
  if (RunsFunctor(function, signature)) {
    static const auto* const rules =
        new CompiledOpRules(FunctorRules().begin(), FunctorRules().end());
    for (const CompiledOpRule& rule : *rules) {
      if (rule.Matches(kind, function, whole)) {
        return {std::string(rule.rule.op), Confidence::kHigh};
      }
    }
    if (std::string op = OpOfIteratorFunction(signature); !op.empty()) {
      return {std::move(op), Confidence::kHigh};
    }
  }
  if (std::optional<std::string> softmax = WarpSoftmax(signature)) {
    return {*std::move(softmax), Confidence::kHigh};
  }
  if (kind == KernelFamily::kOther) return {};
  static const auto* const rules =
      new CompiledOpRules(NamedOpRules().begin(), NamedOpRules().end());
  for (const CompiledOpRule& compiled : *rules) {
    if (!compiled.Matches(kind, function, whole)) continue;
    const NamedOpRule& rule = compiled.rule;
    // cub's and thrust's kernels serve many ops.
    const bool general = (rule.function.empty() && rule.anywhere.empty()) ||
                         HoldsAny(whole, "_cub_|_thrust_|_rocprim_");
    const bool sure =
        (!family.by_word || IsOfKnownLibrary(signature)) && !kernel_name.starts_with("triton__");
    return {std::string(rule.op),
            !sure || general ? (sure ? Confidence::kMedium : Confidence::kLow) : Confidence::kHigh};
  }
  return {};
}

}  // namespace oplens::ops
