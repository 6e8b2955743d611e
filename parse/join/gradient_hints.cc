#include "parse/join/gradient_hints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "parse/model/op_call.h"

namespace oplens::parse {
namespace {

struct Hint {
  std::string_view gradient;  ///< Without namespace.
  std::string_view forward;   ///< Prefix of the forward op's name, without namespace.
  int input;                  ///< Index among the gradient function's tensors.
  int output;                 ///< Index of dY, which has the result's shape; -1: not needed.
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

OpArg OutputArg(OpArg gradient) {
  gradient.name = "output";
  gradient.list = 0;
  return gradient;
}

std::string OperandsKey(std::string_view forward, const OpArg& input, const OpArg& weight) {
  return fmt::format("{} {} {} {}", forward, fmt::join(input.shape, ","),
                     fmt::join(weight.shape, ","), input.dtype);
}

}  // namespace

bool HasGradientFacts(std::string_view name) { return FindHint(BareName(name)) != nullptr; }

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
    // A recorded flag has precedence.
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
    forward->args.push_back(OutputArg(*given[static_cast<size_t>(hint->output)]));
  }
  std::string text;
  AppendOpCall(*forward, &text);
  return text;
}

void ResultsBySize::Add(std::string_view gradient_call) {
  std::string error;
  const std::optional<OpCall> gradient = ParseOpCall(gradient_call, &error);
  const Hint* hint = gradient ? FindHint(BareName(gradient->op)) : nullptr;
  if (hint == nullptr || hint->output < 0) return;
  constexpr size_t kWeight = 2;  // Among all of them.
  const std::vector<const OpArg*> given = TensorsOf(*gradient);
  if (given.size() <= kWeight) return;
  const auto& shape = given[static_cast<size_t>(hint->output)]->shape;
  const OpArg& input = *given[static_cast<size_t>(hint->input)];
  const auto [place, is_new] =
      results_.try_emplace(OperandsKey(hint->forward, input, *given[kWeight]), shape);
  if (!is_new && place->second != shape) place->second.clear();
}

std::string ResultsBySize::WithResult(std::string_view forward_call) const {
  std::string error;
  std::optional<OpCall> forward = ParseOpCall(forward_call, &error);
  if (!forward || HasArgument(*forward, "output")) return {};
  const bool misses_values =
      std::any_of(forward->args.begin(), forward->args.end(),
                  [](const OpArg& arg) { return arg.kind == OpArg::Kind::kOther; });
  const std::vector<const OpArg*> taken = TensorsOf(*forward);
  if (!misses_values || taken.size() < 2) return {};
  const auto found = results_.find(OperandsKey(BareName(forward->op), *taken[0], *taken[1]));
  if (found == results_.end() || found->second.empty()) return {};
  OpArg output = OutputArg(*taken[0]);
  output.shape = found->second;
  forward->args.push_back(std::move(output));
  std::string text;
  AppendOpCall(*forward, &text);
  return text;
}

}  // namespace oplens::parse
