// Tables of optimizers: how often each tensor is read or written, what an element costs, and how
// their functions are called.

#include "ops/families/optimizer_steps.h"

#include <algorithm>
#include <iterator>

#include "ops/pricing.h"

namespace oplens::ops {
namespace {

constexpr Slot kParam = {"param", 2};
constexpr Slot kGrad = {"grad", 1};
constexpr Slot kMean = {"exp_avg", 2};
constexpr Slot kVariance = {"exp_avg_sq", 2};
constexpr Slot kHalfCopy = {"half_copy", 1, Need::kOptional};
constexpr Slot kLargest = {"max_exp_avg_sq", 2, Need::kOptional, 2};

constexpr Step kSteps[] = {
    {"sgd", 2, 2, false, {kParam, kGrad, {"momentum_buffer", 2, Need::kOptional, 2}, kHalfCopy}},
    {"adam", 31, 2, true, {kParam, kGrad, kMean, kVariance, kLargest, kHalfCopy}},
    {"adamw", 32, 0, true, {kParam, kGrad, kMean, kVariance, kLargest, kHalfCopy}},
    {"adagrad", 25, 2, true, {kParam, kGrad, {"state_sum", 2}, kHalfCopy}},
    {"rmsprop",
     27,
     2,
     true,
     {kParam,
      kGrad,
      {"square_avg", 2},
      {"grad_avg", 2, Need::kOptional},
      {"momentum_buffer", 2, Need::kOptional}}},
    {"adadelta", 50, 2, true, {kParam, kGrad, {"square_avg", 2}, {"acc_delta", 2}}},
    {"adafactor",
     40,
     0,
     true,
     {kParam,
      kGrad,
      {"row_var", 2, Need::kOtherSize},
      {"col_var", 2, Need::kOtherSize},
      {"exp_avg_sq", 2, Need::kOtherSize},
      {"exp_avg", 2, Need::kOptional}}},
    // Two passes over the parameter; the update between them has a place of its own, in the type of
    // the mean.
    {"lamb", 41, 0, true, {{"param", 3}, kGrad, {"exp_avg", 4}, kVariance}},
    {"lamb_stage_1", 39, 0, true, {{"param", 1}, kGrad, kMean, kVariance, {"update", 1}}},
    {"lamb_stage_2", 2, 0, true, {kParam, {"update", 1}}},
    // The norms of parameter and gradient are read before the step.
    {"lars", 10, 0, true, {{"param", 3}, {"grad", 2}, {"momentum_buffer", 2}}},
    {"unscale", 2, 0, false, {{"grad", 2}}},
    // The norm reads, scaling reads and writes.
    {"clip", 3, 0, false, {{"grad", 3}}},
    {"scale", 2, 0, false, {{"input", 1}, {"output", 1}}},
    {"axpby", 3, 0, false, {{"input", 1}, {"other", 1}, {"output", 1}}},
    {"l2norm", 2, 0, false, {{"input", 1}}},
};

constexpr std::string_view kListAdamWords =
    "grad param exp_avg exp_avg_sq half_copy lr beta1 beta2 eps step mode bias_correction "
    "weight_decay";

constexpr OptimizerFunction kOptimizerStepsFunctions[] = {
    {"sgd", "sgd", "param grad momentum_buffer - - - - -"},
    {"adam", "adam", "param grad exp_avg exp_avg_sq max_exp_avg_sq - - - - - - -"},
    {"adamw", "adamw", "param grad exp_avg exp_avg_sq max_exp_avg_sq - - - - - - -"},
    {"adagrad", "adagrad", "param grad state_sum - - - - - - - - -"},
    {"rmsprop", "rmsprop", "param grad square_avg grad_avg momentum_buffer - - - - - -"},
    {"adadelta", "adadelta", "param grad square_avg acc_delta - - - - - -"},
    {"adafactor", "adafactor", "param grad row_var col_var exp_avg_sq - - - -"},
    {"lamb", "lamb", "param grad exp_avg exp_avg_sq"},
    {"lars", "lars", "param grad momentum_buffer"},
    {"multi_tensor_adam", "adam", kListAdamWords, true},
    {"multi_tensor_adam_capturable", "adam", kListAdamWords, true},
    {"multi_tensor_adam_capturable_master", "adam",
     "grad half_copy exp_avg exp_avg_sq param lr beta1 beta2 eps step mode bias_correction "
     "weight_decay",
     true},
    {"multi_tensor_sgd", "sgd",
     "grad param momentum_buffer half_copy weight_decay momentum - - nesterov", true},
    {"multi_tensor_adagrad", "adagrad", "grad param state_sum lr eps mode weight_decay", true},
    {"multi_tensor_lamb", "lamb", "grad param exp_avg exp_avg_sq", true},
    {"multi_tensor_lamb_stage_1", "lamb_stage_1", "grad param exp_avg exp_avg_sq update", true},
    {"multi_tensor_lamb_stage1_cuda", "lamb_stage_1", "grad param exp_avg exp_avg_sq update", true},
    {"multi_tensor_lamb_stage_2", "lamb_stage_2", "param update", true},
    {"multi_tensor_lamb_stage2_cuda", "lamb_stage_2", "param update", true},
    {"multi_tensor_scale", "scale", "input output", true},
    {"multi_tensor_axpby", "axpby", "input other output", true},
    {"multi_tensor_l2norm", "l2norm", "input", true},
    {"_amp_foreach_non_finite_check_and_unscale", "unscale", "grad - -"},
    {"clip_grad_norm", "clip", "grad - - - -"},
};

// Apex's first fused step, and PyProf's record of it.
constexpr OptimizerFunction kApexAdam = {
    "adam", "adam", "param half_copy exp_avg exp_avg_sq grad - - - - - - - - weight_decay"};

struct OptimizerStepsAlias {
  std::string_view keyword;
  std::string_view name;
};

constexpr OptimizerStepsAlias kKeywords[] = {
    {"acc_deltas", "acc_delta"},
    {"col_vars", "col_var"},
    {"d_p_list", "grad"},
    {"exp_avg_sq_col", "col_var"},
    {"exp_avg_sq_row", "row_var"},
    {"exp_avg_sqs", "exp_avg_sq"},
    {"exp_avgs", "exp_avg"},
    {"grad_avgs", "grad_avg"},
    {"grads", "grad"},
    {"max_exp_avg_sqs", "max_exp_avg_sq"},
    {"momentum_buffer_list", "momentum_buffer"},
    {"momentum_buffers", "momentum_buffer"},
    {"out_p", "half_copy"},
    {"output_params", "half_copy"},
    {"params", "param"},
    {"row_vars", "row_var"},
    {"self", "param"},
    {"square_avgs", "square_avg"},
    {"state_sums", "state_sum"},
    {"sum", "state_sum"},
    {"updates", "update"},
    {"variance", "exp_avg_sq"},
    {"variances", "exp_avg_sq"},
};

constexpr auto kOptimizerStepsNames = NamesOf(kOptimizerStepsFunctions);

}  // namespace

bool Step::HasSlot(std::string_view slot) const {
  return std::any_of(std::begin(slots), std::end(slots),
                     [&](const Slot& candidate) { return candidate.name == slot; });
}

std::span<const std::string_view> OptimizerFunctionNames() { return kOptimizerStepsNames; }

const OptimizerFunction& OptimizerFunctionOf(std::string_view name) {
  return *FindRow(kOptimizerStepsFunctions, name);
}

const OptimizerFunction& ApexAdam() { return kApexAdam; }

const Step& StepOf(std::string_view name) { return *FindRow(kSteps, name); }

std::string_view StepKeyword(std::string_view keyword, const OptimizerFunction& function) {
  // Here the parameters stand for their gradients.
  const bool only_gradients = function.step == "clip" || function.step == "unscale";
  if (only_gradients && (keyword == "parameters" || keyword == "self")) return "grad";
  const auto* row =
      std::find_if(std::begin(kKeywords), std::end(kKeywords),
                   [&](const OptimizerStepsAlias& alias) { return alias.keyword == keyword; });
  return row == std::end(kKeywords) ? keyword : row->name;
}

}  // namespace oplens::ops
