// Optimizer steps, also fused over lists of tensors; unscaling and clipping of gradients.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/list_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

/// Whether a step needs a tensor.
enum class Need : uint8_t {
  kRequired,
  kOptional,
  kOtherSize,  ///< Optional, and not of the parameter's size.
};

/// A tensor of a step, or one per parameter.
struct Slot {
  std::string_view name;  ///< "" after the last one.
  int moves = 0;          ///< Times that each element is read or written.
  Need need = Need::kRequired;
  int flops = 0;  ///< Additional FLOPs per element of the parameter if the tensor is present.
};

/// What a step of an optimizer reads, writes and computes (docs/costs.md, Optimizers).
struct Step {
  std::string_view name;
  int flops;       ///< Per element of the first tensor.
  int decay;       ///< Additional with weight decay.
  bool estimated;  ///< `flops` includes functions.
  Slot slots[6];   ///< The elements of the first one count.

  bool HasSlot(std::string_view slot) const;
};

/// A function that performs a step.
struct OptimizerFunction {
  std::string_view name;  ///< Normalised.
  std::string_view step;
  /// Positional arguments, separated by blanks: tensors of the step, options, "-" without cost.
  std::string_view words;
  /// The words start at the first list of tensors; earlier arguments do not matter.
  bool lists = false;
};

// Accesses per tensor, FLOPs per element, and the functions' signatures.

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
    // Two passes over the parameter; the update between them has memory, in the mean's type
    {"lamb", 41, 0, true, {{"param", 3}, kGrad, {"exp_avg", 4}, kVariance}},
    {"lamb_stage_1", 39, 0, true, {{"param", 1}, kGrad, kMean, kVariance, {"update", 1}}},
    {"lamb_stage_2", 2, 0, true, {kParam, {"update", 1}}},
    // Norms of parameter and gradient are read before the step
    {"lars", 10, 0, true, {{"param", 3}, {"grad", 2}, {"momentum_buffer", 2}}},
    {"unscale", 2, 0, false, {{"grad", 2}}},
    // The norm reads, scaling reads and writes
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

// Apex's first fused step, as PyProf records it too.
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

bool Step::HasSlot(std::string_view slot) const {
  return std::any_of(std::begin(slots), std::end(slots),
                     [&](const Slot& candidate) { return candidate.name == slot; });
}

std::span<const std::string_view> OptimizerFunctionNames() { return kOptimizerStepsNames; }

const OptimizerFunction& OptimizerFunctionOf(std::string_view name) {
  return *FindRow(kOptimizerStepsFunctions, name);
}

const OptimizerFunction& ApexAdam() { return kApexAdam; }

/// By OptimizerFunction::step.
const Step& StepOf(std::string_view name) { return *FindRow(kSteps, name); }

/// A function's keyword as named in Step ("exp_avgs" -> "exp_avg"); unknown ones unchanged.
std::string_view StepKeyword(std::string_view keyword, const OptimizerFunction& function) {
  // Parameters stand for their gradients here.
  const bool only_gradients = function.step == "clip" || function.step == "unscale";
  if (only_gradients && (keyword == "parameters" || keyword == "self")) return "grad";
  const auto* row =
      std::find_if(std::begin(kKeywords), std::end(kKeywords),
                   [&](const OptimizerStepsAlias& alias) { return alias.keyword == keyword; });
  return row == std::end(kKeywords) ? keyword : row->name;
}

bool IsOptimizerTensor(const OpArg& arg) { return arg.kind == OpArg::Kind::kTensor; }

bool IsAtMostOne(Checked elements) { return elements == Checked(0) || elements == Checked(1); }

// ---- arguments ----

class StepArgs {
 public:
  // False if there are more positional arguments than the function has.
  bool Bind(const OptimizerFunction& function, const std::vector<ListArg>& groups);
  const ListArg* Find(std::string_view name) const;
  // Whether a nonzero number was given; nullopt if absent.
  std::optional<bool> IsSet(std::string_view name) const;
  // Whether an option is present but not a number.
  bool Unreadable(std::string_view name) const;
  // Whether some nonempty tensors have no role in the step: then the call was misread, e.g. because
  // several lists follow each other.
  bool HasForeignTensors(const Step& step) const;

 private:
  std::vector<std::pair<std::string_view, const ListArg*>> bound_;
};

std::string_view TakeWord(std::string_view* words) {
  const size_t blank = std::min(words->find(' '), words->size());
  const std::string_view word = words->substr(0, blank);
  words->remove_prefix(std::min(blank + 1, words->size()));
  return word;
}

bool StepArgs::Bind(const OptimizerFunction& function, const std::vector<ListArg>& groups) {
  std::string_view words = function.words;
  bool counts = !function.lists;
  for (const ListArg& group : groups) {
    counts |= group.is_list;
    if (!group.name.empty()) {
      bound_.emplace_back(StepKeyword(group.name, function), &group);
      continue;
    }
    if (!counts) continue;
    std::string_view word = words.empty() ? std::string_view() : TakeWord(&words);
    if (function.lists) {
      // If the optional list is missing, options follow.
      while (word == "half_copy" && !group.is_list) word = TakeWord(&words);
      if (word.empty()) word = "-";
    }
    if (word.empty()) return false;
    bound_.emplace_back(word, &group);
  }
  return true;
}

const ListArg* StepArgs::Find(std::string_view name) const {
  const auto found = std::find_if(bound_.begin(), bound_.end(),
                                  [&](const auto& bound) { return bound.first == name; });
  return found == bound_.end() ? nullptr : found->second;
}

std::optional<bool> StepArgs::IsSet(std::string_view name) const {
  const ListArg* arg = Find(name);
  if (arg == nullptr || !IsNumber(arg->value())) return std::nullopt;
  return NumberOf(arg->value()) != 0;
}

bool StepArgs::Unreadable(std::string_view name) const {
  const ListArg* arg = Find(name);
  return arg != nullptr && arg->value().kind != OpArg::Kind::kNone && !IsNumber(arg->value());
}

bool StepArgs::HasForeignTensors(const Step& step) const {
  return std::any_of(bound_.begin(), bound_.end(), [&](const auto& bound) {
    const std::span<const OpArg> members = bound.second->members;
    return !step.HasSlot(bound.first) &&
           std::any_of(members.begin(), members.end(), [](const OpArg& arg) {
             return IsOptimizerTensor(arg) && !IsAtMostOne(Elements(arg.shape));
           });
  });
}

// ---- price ----

// The tensors of a slot; empty if absent.
std::span<const OpArg> OptimizerTensorsOf(const StepArgs& args, const Slot& slot) {
  const ListArg* arg = args.Find(slot.name);
  if (arg == nullptr || !IsOptimizerTensor(arg->value())) return {};
  return arg->members;
}

// Whether an optional tensor is absent: no tensors, or empty ones in its place.
bool OptimizerAbsent(std::span<const OpArg> tensors, std::span<const OpArg> params) {
  const auto is_empty = [](const OpArg& arg) { return Elements(arg.shape) == Checked(0); };
  return tensors.empty() || (std::all_of(tensors.begin(), tensors.end(), is_empty) &&
                             !std::all_of(params.begin(), params.end(), is_empty));
}

bool SameSizes(std::span<const OpArg> a, std::span<const OpArg> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const OpArg& x, const OpArg& y) {
    return Elements(x.shape) == Elements(y.shape);
  });
}

// Bytes of the tensors; nullopt with a reason if one is not a tensor.
std::optional<Checked> OptimizerBytesOfAll(std::span<const OpArg> tensors, Reason* reason) {
  Checked bytes;
  for (const OpArg& arg : tensors) {
    const std::optional<Tensor> tensor = TensorOf(arg, reason);
    if (!tensor) return std::nullopt;
    bytes += tensor->bytes();
  }
  return bytes;
}

// Whether the options make a given tensor unused: sgd without momentum ignores its buffer.
bool Unused(const StepArgs& args, const Slot& slot) {
  if (slot.name == "momentum_buffer") return args.IsSet("momentum") == false;
  if (slot.name == "max_exp_avg_sq") return args.IsSet("amsgrad") == false;
  return false;
}

// Whether the options require a tensor.
bool IsRequestedGradient(const StepArgs& args, const Slot& slot) {
  if (slot.need == Need::kRequired) return true;
  if (slot.name == "max_exp_avg_sq") return args.IsSet("amsgrad") == true;
  return slot.name == "momentum_buffer" &&
         (args.IsSet("momentum") == true || args.IsSet("nesterov") == true);
}

// Statistics that are smaller than the parameter come in one of two forms.
bool HasStatistics(const StepArgs& args) {
  const auto has = [&](std::string_view name) {
    return !OptimizerTensorsOf(args, Slot{name}).empty();
  };
  return has("row_var") == has("col_var") && (has("row_var") || has("exp_avg_sq"));
}

int OptionFlops(const Step& step, const StepArgs& args) {
  int flops = args.IsSet("weight_decay") == true ? step.decay : 0;
  if (step.name == "sgd" && args.IsSet("nesterov") == true) flops += 2;
  return flops;
}

const Step& ChosenStep(const OptimizerFunction& function, const StepArgs& args) {
  std::string_view name = function.step;
  // Apex's mode 1 decays the weights separately from the gradient.
  if (name == "adam" && function.lists && args.IsSet("mode") == true) name = "adamw";
  return StepOf(name);
}

PriceResult PriceStep(const Step& step, const StepArgs& args) {
  for (const std::string_view option : {"weight_decay", "nesterov", "momentum", "amsgrad"}) {
    if (args.Unreadable(option)) return Unpriced(Reason::kUnsupportedArgs);
  }
  if (args.HasForeignTensors(step)) return Unpriced(Reason::kUnsupportedArgs);
  const std::span<const OpArg> params = OptimizerTensorsOf(args, step.slots[0]);
  int flops = step.flops + OptionFlops(step, args);
  Checked elements;
  for (const OpArg& param : params) elements += Elements(param.shape);
  Checked bytes;
  for (const Slot& slot : step.slots) {
    if (slot.name.empty()) break;
    const std::span<const OpArg> tensors = OptimizerTensorsOf(args, slot);
    const bool optional = slot.need != Need::kRequired;
    if (tensors.empty() || (optional && (OptimizerAbsent(tensors, params) || Unused(args, slot)))) {
      if (IsRequestedGradient(args, slot)) return Unpriced(Reason::kUnsupportedArgs);
      continue;
    }
    if (slot.need != Need::kOtherSize && !SameSizes(tensors, params)) {
      return Unpriced(Reason::kShapeMismatch);
    }
    Reason reason;
    const std::optional<Checked> size = OptimizerBytesOfAll(tensors, &reason);
    if (!size) return Unpriced(reason);
    bytes += *size * slot.moves;
    flops += slot.flops;
  }
  if (step.name == "adafactor" && !HasStatistics(args)) return Unpriced(Reason::kUnsupportedArgs);
  Reason ignored;
  PriceResult result = Priced(
      params.size() == 1 ? NamedTensorText(*TensorOf(params.front(), &ignored)) : ListText(params),
      {0, elements * flops, bytes}, std::vector<PartWork>());
  result.price->op_class = OpClass::kOptimizer;
  result.price->vec_estimated = step.estimated;
  return result;
}

// Parameter, copy, mean, variance, gradient, then numbers: 12 or 14 arguments.
bool IsApexAdam(const OpCall& call) {
  if (call.mod.ends_with("adam_cuda")) return true;
  constexpr size_t kTensors = 5;
  if (call.args.size() != 12 && call.args.size() != 14) return false;
  const auto end = call.args.begin() + kTensors;
  return std::all_of(call.args.begin(), end,
                     [](const OpArg& arg) { return IsOptimizerTensor(arg) && arg.name.empty(); }) &&
         IsNumber(*end);
}

// Merges the tensors of a function's only list, which annotations record without a list number.
void MergeTensors(const OpCall& call, std::vector<ListArg>* groups) {
  const auto end = std::find_if(call.args.begin(), call.args.end(), [](const OpArg& arg) {
    return !IsOptimizerTensor(arg) || !arg.name.empty() || arg.list > 0;
  });
  const auto count = end - call.args.begin();
  if (count < 2) return;
  groups->erase(groups->begin() + 1, groups->begin() + count);
  groups->front() = {{}, std::span(call.args).first(static_cast<size_t>(count)), true};
}

PriceResult PriceOptimizer(std::string_view op, const OpCall& call) {
  std::optional<std::vector<ListArg>> groups = GroupLists(call);
  if (!groups) return Unpriced(Reason::kUnsupportedArgs);
  const OptimizerFunction* function = &OptimizerFunctionOf(op);
  if (function->step == "clip") MergeTensors(call, &*groups);
  if (op == "adam" && IsApexAdam(call)) function = &ApexAdam();
  StepArgs args;
  if (!args.Bind(*function, *groups)) return Unpriced(Reason::kUnsupportedArgs);
  return PriceStep(ChosenStep(*function, args), args);
}

// _amp_update_scale(scale, growth_tracker, found_inf, ..): compares, multiplies, counts; reads and
// writes both states.
PriceResult PriceScaleUpdate(std::string_view, const OpCall& call) {
  CallArgs args(call, {"self|current_scale", "growth_tracker", "found_inf", "", "", ""});
  const Tensor scale = args.RequireTensor(0);
  const Tensor tracker = args.RequireTensor(1);
  const Tensor found = args.RequireTensor(2);
  if (args.failed()) return Unpriced(args.reason());
  const Checked bytes = scale.bytes() * 2 + tracker.bytes() * 2 + found.bytes();
  PriceResult result =
      Priced(NamedTensorText(scale), {0, scale.elements() * 3, bytes}, std::vector<PartWork>());
  result.price->op_class = OpClass::kOptimizer;
  return result;
}

constexpr std::string_view kScaleNames[] = {"_amp_update_scale"};

}  // namespace

std::span<const OpModel> OptimizerOps() {
  static const OpModel kModels[] = {{OptimizerFunctionNames(), PriceOptimizer},
                                    {kScaleNames, PriceScaleUpdate}};
  return kModels;
}

}  // namespace oplens::ops
