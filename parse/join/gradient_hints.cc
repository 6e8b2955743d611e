#include "parse/join/gradient_hints.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "parse/model/op_call.h"

namespace oplens::parse {
namespace {

struct Hint {
  std::string_view gradient;  ///< Without namespace.
  std::string_view forward;   ///< Ends the name of the forward op.
  int input;                  ///< Places among the gradient function's tensors.
  int output;                 ///< Of dY, which has the shape of the result; -1: none is needed.
  bool training;
};

constexpr Hint kHints[] = {
    {"convolution_backward", "convolution", 1, 0, false},
    {"convolution_backward_overrideable", "convolution_overrideable", 1, 0, false},
    {"cudnn_convolution_backward", "cudnn_convolution", 0, 1, false},
    {"cudnn_convolution_transpose_backward", "cudnn_convolution_transpose", 0, 1, false},
    {"miopen_convolution_backward", "miopen_convolution", 0, 1, false},
    {"miopen_depthwise_convolution_backward", "miopen_depthwise_convolution", 0, 1, false},
    {"thnn_conv2d_backward", "thnn_conv2d", 1, 0, false},
    {"_slow_conv2d_backward", "_slow_conv2d_forward", 1, 0, false},
    {"cudnn_batch_norm_backward", "batch_norm", 0, -1, true},
    {"miopen_batch_norm_backward", "batch_norm", 0, -1, true},
};

std::string_view BareName(std::string_view name) {
  const size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

const Hint* FindHint(std::string_view gradient) {
  const auto* hint = std::find_if(std::begin(kHints), std::end(kHints), [&](const Hint& candidate) {
    return candidate.gradient == gradient;
  });
  return hint == std::end(kHints) ? nullptr : hint;
}

std::vector<const OpArg*> TensorsOf(const OpCall& call) {
  std::vector<const OpArg*> tensors;
  for (const OpArg& arg : call.args) {
    if (arg.kind == OpArg::Kind::kTensor) tensors.push_back(&arg);
  }
  return tensors;
}

bool HasArgument(const OpCall& call, std::string_view name) {
  return std::any_of(call.args.begin(), call.args.end(),
                     [&](const OpArg& arg) { return arg.name == name; });
}

}  // namespace

bool IsTellingGradient(std::string_view name) { return FindHint(BareName(name)) != nullptr; }

std::string WithGradientFacts(std::string_view forward_call, std::string_view gradient_call) {
  std::string error;
  std::optional<OpCall> forward = ParseOpCall(forward_call, &error);
  const std::optional<OpCall> gradient = ParseOpCall(gradient_call, &error);
  if (!forward || !gradient) return {};
  const Hint* hint = FindHint(BareName(gradient->op));
  if (hint == nullptr || !BareName(forward->op).starts_with(hint->forward)) return {};
  const std::vector<const OpArg*> given = TensorsOf(*gradient);
  const std::vector<const OpArg*> taken = TensorsOf(*forward);
  const auto needed = static_cast<size_t>(std::max(hint->input, hint->output));
  if (taken.empty() || given.size() <= needed) return {};
  const OpArg& input = *given[static_cast<size_t>(hint->input)];
  if (input.shape != taken.front()->shape || input.dtype != taken.front()->dtype) return {};
  if (hint->training) {
    // A flag that was recorded stands.
    const bool recorded = std::any_of(forward->args.begin(), forward->args.end(),
                                      [](const OpArg& a) { return a.kind == OpArg::Kind::kBool; });
    if (recorded) return {};
    OpArg training;
    training.name = "training";
    training.kind = OpArg::Kind::kBool;
    training.type = "bool";
    training.int_value = 1;
    forward->args.push_back(training);
  } else {
    if (HasArgument(*forward, "output")) return {};
    OpArg output = *given[static_cast<size_t>(hint->output)];
    output.name = "output";
    output.list = 0;
    forward->args.push_back(output);
  }
  std::string text;
  AppendOpCall(*forward, &text);
  return text;
}

}  // namespace oplens::parse
