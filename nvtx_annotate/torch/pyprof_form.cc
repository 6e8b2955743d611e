#include "nvtx_annotate/torch/pyprof_form.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/torch/call_form.h"
#include "nvtx_annotate/torch/pyprof_price.h"

namespace oplens::annotate::torch {
namespace {

using PyprofFormKind = PyprofValue::Kind;
using PyprofFormShape = std::vector<int64_t>;

constexpr std::string_view kPyprofFormTorch = "torch";
constexpr std::string_view kPyprofFormTensor = "Tensor";
constexpr std::string_view kFunctional = "torch.nn.functional";

// A text is a database row read by eval(): longer calls are shown without a price.
constexpr size_t kMaxTextBytes = 65'000;

bool PyprofFormStartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool PyprofFormEndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool HasPyprofForm(std::string_view words, std::string_view word) {
  return HasPyprofWord(words, word);
}

/// Removes and returns the first word of a list.
std::string_view TakeWord(std::string_view* words) {
  while (PyprofFormStartsWith(*words, " ")) words->remove_prefix(1);
  const std::string_view word = words->substr(0, words->find(' '));
  words->remove_prefix(word.size());
  return word;
}

/// How an operator is called in Python.
struct Row {
  std::string_view names;  ///< Operators without namespace; "NAME.OVERLOAD" for a single overload.
  std::string_view mod;
  std::string_view op;  ///< "": the operator's.
  /// One word per argument, in Python's order: its index in the schema, or !VALUE for what the
  /// module adds; prefix "KEYWORD=", suffixes:
  ///   ?  omitted at its default, if it has a keyword or is the last
  ///   r  a number that means "none", "mean", "sum"
  ///   i  a list of equal numbers as a number; an empty one as None
  ///   v  list items as separate arguments
  ///   l  a list, not a tuple
  ///   n  -1 is None
  /// "": as in the schema, defaults omitted.
  std::string_view recipe;
  /// The function of torch for calls that Python's operator cannot express: with keywords.
  std::string_view function = {};
};

// Of several Python names for an operator: the one of torch.nn's module, otherwise Python's
// operator, otherwise the one that PyProf's prof prices.
constexpr Row kRows[] = {
    // Operators of Python
    {"add.Tensor add.Scalar", kPyprofFormTensor, "__add__", "0 1 alpha=2?", "add"},
    {"sub.Tensor sub.Scalar", kPyprofFormTensor, "__sub__", "0 1 alpha=2?", "sub"},
    {"rsub", kPyprofFormTensor, "__rsub__", "0 1 alpha=2?", "rsub"},
    {"mul", kPyprofFormTensor, "__mul__", "0 1"},
    {"div", kPyprofFormTensor, "__truediv__", "0 1 rounding_mode=2?", "div"},
    {"floor_divide", kPyprofFormTensor, "__floordiv__", "0 1"},
    {"remainder.Tensor remainder.Scalar", kPyprofFormTensor, "__mod__", "0 1"},
    {"pow.Tensor_Tensor pow.Tensor_Scalar", kPyprofFormTensor, "__pow__", "0 1"},
    {"pow.Scalar", kPyprofFormTorch, "pow", "0 1"},
    {"neg", kPyprofFormTensor, "__neg__", "0"},
    {"bitwise_not", kPyprofFormTensor, "__invert__", "0"},
    {"bitwise_and __and__", kPyprofFormTensor, "__and__", "0 1"},
    {"bitwise_or __or__", kPyprofFormTensor, "__or__", "0 1"},
    {"bitwise_xor __xor__", kPyprofFormTensor, "__xor__", "0 1"},
    {"lt", kPyprofFormTensor, "__lt__", "0 1"},
    {"le", kPyprofFormTensor, "__le__", "0 1"},
    {"gt", kPyprofFormTensor, "__gt__", "0 1"},
    {"ge", kPyprofFormTensor, "__ge__", "0 1"},
    {"eq", kPyprofFormTensor, "__eq__", "0 1"},
    {"ne", kPyprofFormTensor, "__ne__", "0 1"},
    // Activations, as torch.nn's modules call them
    {"relu", kFunctional, "", "0 inplace=!False"},
    {"relu_", kFunctional, "relu", "0 inplace=!True"},
    {"silu mish", kFunctional, "", "0 inplace=!False"},
    {"silu_", kFunctional, "silu", "0 inplace=!True"},
    {"hardswish hardsigmoid relu6 selu", kFunctional, "", "0 !False"},
    {"leaky_relu celu", kFunctional, "", "0 1 !False"},
    {"elu", kFunctional, "", "0 1 !False"},
    {"elu_", kFunctional, "elu", "0 1 !True"},
    {"leaky_relu_", kFunctional, "leaky_relu", "0 1 !True"},
    {"hardtanh threshold", kFunctional, "", "0 1 2 !False"},
    {"hardtanh_", kFunctional, "hardtanh", "0 1 2 !True"},
    {"rrelu", kFunctional, "", "0 1 2 3 !False"},
    {"gelu", kFunctional, "", "0 approximate=1"},
    {"softplus", kFunctional, "", "0 1 2"},
    {"hardshrink softshrink glu prelu", kFunctional, "", "0 1"},
    {"log_sigmoid", kFunctional, "logsigmoid", "0"},
    {"softmax.int _softmax", kFunctional, "softmax", "0 dim=1"},
    {"log_softmax.int _log_softmax", kFunctional, "log_softmax", "0 dim=1"},
    // Layers
    {"linear", kFunctional, "", "0 1 2"},
    {"bilinear", kFunctional, "", "0 1 2 3"},
    {"conv1d conv2d conv3d", kFunctional, "", "0 1 2 3 4 5 6"},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", kFunctional, "", "0 1 2 3 4 5 6 7"},
    {"batch_norm instance_norm", kFunctional, "", "0 3 4 1 2 5 6 7"},
    {"layer_norm group_norm", kFunctional, "", "0 1 2 3 4"},
    {"dropout", kFunctional, "", "0 1 2 !False"},
    {"dropout_", kFunctional, "dropout", "0 1 2 !True"},
    {"alpha_dropout feature_alpha_dropout", kFunctional, "", "0 1 2"},
    {"feature_dropout", kFunctional, "dropout2d", "0 1 2 !False"},
    {"embedding", kFunctional, "", "1 0 2n !None !2.0 3 4"},
    {"embedding_bag", kPyprofFormTorch, "", ""},
    {"max_pool1d max_pool2d max_pool3d", kFunctional, "",
     "0 1i 2i padding=3i dilation=4i ceil_mode=5 return_indices=!False"},
    {"max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices", kFunctional,
     "max_pool", "0 1i 2i padding=3i dilation=4i ceil_mode=5 return_indices=!True"},
    {"avg_pool1d", kFunctional, "", "0 1 2 3 4 5"},
    {"avg_pool2d avg_pool3d", kFunctional, "", "0 1i 2i 3i 4 5 6"},
    {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d", kFunctional, "", "0 1i"},
    {"cosine_similarity", kFunctional, "", "0 1 2 3"},
    {"pairwise_distance", kFunctional, "", "0 1 2 3 4"},
    {"pixel_shuffle pixel_unshuffle one_hot", kFunctional, "", ""},
    {"pad", kFunctional, "", "0 1 2 3?"},
    {"lstm_cell", "LSTMCell", "forward", "0 1"},
    {"gru_cell", "GRUCell", "forward", "0 1"},
    {"rnn_tanh_cell rnn_relu_cell", "RNNCell", "forward", "0 1"},
    {"lstm.input", "LSTM", "forward", "0 1"},
    {"gru.input", "GRU", "forward", "0 1"},
    {"rnn_tanh.input rnn_relu.input", "RNN", "forward", "0 1"},
    {"lstm.data", "LSTM", "forward", "0 2"},
    {"gru.data", "GRU", "forward", "0 2"},
    {"rnn_tanh.data rnn_relu.data", "RNN", "forward", "0 2"},
    // Losses
    {"mse_loss l1_loss soft_margin_loss multilabel_margin_loss", kFunctional, "",
     "0 1 reduction=2r"},
    {"smooth_l1_loss", kFunctional, "", "0 1 reduction=2r beta=3"},
    {"huber_loss", kFunctional, "", "0 1 reduction=2r delta=3"},
    {"kl_div", kFunctional, "", "0 1 reduction=2r log_target=3"},
    {"nll_loss nll_loss_nd nll_loss2d", kFunctional, "nll_loss",
     "0 1 weight=2 ignore_index=4 reduction=3r"},
    {"cross_entropy_loss", kFunctional, "cross_entropy",
     "0 1 weight=2 ignore_index=4 reduction=3r label_smoothing=5"},
    {"binary_cross_entropy", kFunctional, "", "0 1 weight=2 reduction=3r"},
    {"binary_cross_entropy_with_logits", kFunctional, "", "0 1 2 pos_weight=3 reduction=4r"},
    {"poisson_nll_loss", kFunctional, "", "0 1 log_input=2 full=3 eps=4 reduction=5r"},
    {"hinge_embedding_loss", kFunctional, "", "0 1 margin=2 reduction=3r"},
    {"cosine_embedding_loss margin_ranking_loss", kFunctional, "", "0 1 2 margin=3 reduction=4r"},
    {"multi_margin_loss", kFunctional, "", "0 1 p=2 margin=3 weight=4 reduction=5r"},
    {"triplet_margin_loss", kFunctional, "", "0 1 2 margin=3 p=4 eps=5 swap=6 reduction=7r"},
    {"ctc_loss", kFunctional, "", "0 1 2 3 4 5r 6"},
    // Methods of tensors
    {"sum.dim_IntList mean.dim", kPyprofFormTensor, "", "0 1i keepdim=2?"},
    {"sum mean prod any all max.other min.other", kPyprofFormTensor, "", ""},
    {"max min argmax argmin median", kPyprofFormTensor, "", ""},
    {"any.dim all.dim max.dim min.dim prod.dim_int", kPyprofFormTensor, "", "0 1 keepdim=2?"},
    {"amax amin", kPyprofFormTensor, "", "0 1i keepdim=2?"},
    {"clone contiguous zero_ detach", kPyprofFormTensor, "", "0"},
    {"copy_ fill_ masked_scatter_", kPyprofFormTensor, "", "0 1 2?"},
    {"view reshape permute expand repeat", kPyprofFormTensor, "", "0 1v"},
    {"view_as reshape_as expand_as type_as t transpose unsqueeze squeeze flatten chunk unbind "
     "masked_fill",
     kPyprofFormTensor, "", ""},
    {"split.Tensor split.sizes split split_with_sizes", kPyprofFormTensor, "split", "0 1l 2?"},
    {"new_zeros new_ones", kPyprofFormTensor, "", "0 1"},
    {"new_full", kPyprofFormTensor, "", "0 1 2"},
    // Functions of torch
    {"cat concat concatenate", kPyprofFormTorch, "cat", "0 dim=1?"},
    {"stack", kPyprofFormTorch, "", "0 dim=1?"},
    {"clamp clip", kPyprofFormTorch, "clamp", "0 min=1? max=2?"},
    {"clamp_ clip_", kPyprofFormTensor, "clamp_", "0 min=1? max=2?"},
    {"frobenius_norm", kPyprofFormTorch, "norm", "0 dim=1i? keepdim=2?"},
    {"norm.ScalarOpt_dim", kPyprofFormTorch, "norm", "0 1 2i keepdim=3?"},
    {"norm", kPyprofFormTorch, "", "0 1?"},
    {"einsum", kPyprofFormTorch, "", "0 1"},
    {"zeros ones rand randn", kPyprofFormTorch, "", "0v"},
    {"full", kPyprofFormTorch, "", "0 1"},
    {"randint.low", kPyprofFormTorch, "", "0 1 2"},
    {"randint", kPyprofFormTorch, "", "0 1"},
    {"zeros_like ones_like empty_like rand_like randn_like", kPyprofFormTorch, "", "0"},
    {"randperm", kPyprofFormTorch, "", "0"},
    {"gather", kPyprofFormTorch, "", "0 1 2"},
    {"roll", kPyprofFormTorch, "", "0 1i 2i?"},
    {"flip", kPyprofFormTorch, "", "0 1l"},
    {"lerp addcmul addcdiv addmm baddbmm addmv addbmm addr", kPyprofFormTorch, "", ""},
};

/// The row of an operator: for its overload, otherwise for its name.
const Row* FindRow(std::string_view op, std::string_view overload) {
  const auto find = [](std::string_view name) {
    return std::find_if(std::begin(kRows), std::end(kRows),
                        [name](const Row& row) { return HasPyprofForm(row.names, name); });
  };
  const Row* row = std::end(kRows);
  if (!overload.empty()) row = find(std::string(op).append(".").append(overload));
  if (row == std::end(kRows)) row = find(op);
  return row == std::end(kRows) ? nullptr : row;
}

/// Arguments that PyProf's patches do not write because they are objects, including data types.
bool IsObject(std::string_view name) {
  return HasPyprofForm("dtype layout device pin_memory memory_format generator non_blocking names",
                       name);
}

/// Operators that launch nothing and precede the actual call.
bool IsHidden(std::string_view op) {
  return PyprofFormStartsWith(op, "empty") ||
         HasPyprofForm(
             "detach lift_fresh broadcast_tensors result_type as_strided resolve_conj resolve_neg "
             "_has_compatible_shallow_copy_type",
             op);
}

/// x.float() for a conversion to float32; "" if there is no such method that prof prices.
std::string_view ConvertName(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"float16", "half"}, {"float32", "float"},    {"float64", "double"}, {"uint8", "byte"},
      {"int8", "char"},    {"int16", "short"},      {"int32", "int"},      {"int64", "long"},
      {"bool", "bool"},    {"bfloat16", "bfloat16"}};
  for (const auto& [name, method] : kNames) {
    if (name == dtype) return method;
  }
  return "";
}

PyprofValue Constant(std::string_view text) {
  if (text == "True" || text == "False") return PyprofValue::Bool(text == "True");
  if (text == "None") return {};
  if (text.find('.') == text.npos) return PyprofValue::Int(text[0] - '0');
  return PyprofValue::Float(text[0] - '0');
}

}  // namespace

PyprofForm::PyprofForm(std::string_view name, std::string_view overload,
                       std::vector<PyprofParameter> parameters)
    : aten_(name), parameters_(std::move(parameters)) {
  std::vector<SchemaArgument> arguments;
  for (const PyprofParameter& parameter : parameters_) {
    arguments.push_back({parameter.name, parameter.keyword_only, false});
  }
  const CallForm form = FormOfOperator(name, overload, arguments);
  mod_ = form.mod;
  op_ = form.op;
  const size_t scope = name.find("::");
  const std::string_view op = scope == name.npos ? name : name.substr(scope + 2);
  const bool is_aten = PyprofFormStartsWith(name, "aten::");
  hidden_ = is_aten && IsHidden(op);
  const Row* const row = is_aten ? FindRow(op, overload) : nullptr;
  if (row != nullptr) {
    mod_ = row->mod;
    op_ = row->op.empty() ? op : row->op;
    function_ = row->function;
    // One name for all three.
    if (op_ == "max_pool") op_ = op.substr(0, op.find("_with"));
  }
  if (row == nullptr || row->recipe.empty()) {
    StepsOfSchema();
  } else {
    StepsOfRecipe(row->recipe);
  }
  numbered_ = !PyprofIsComparison(op_);
}

void PyprofForm::StepsOfRecipe(std::string_view recipe) {
  while (!recipe.empty()) {
    std::string_view word = TakeWord(&recipe);
    Step step;
    const size_t equals = word.find('=');
    if (equals != word.npos) {
      step.name = word.substr(0, equals);
      word.remove_prefix(equals + 1);
    }
    if (PyprofFormStartsWith(word, "!")) {
      step.constant = Constant(word.substr(1));
    } else {
      step.input = word[0] - '0';
      for (const char c : word.substr(1)) {
        if (c == '?') step.unless_default = true;
        if (c == 'r') step.reduction = true;
        if (c == 'i') step.one = true;
        if (c == 'v') step.spread = true;
        if (c == 'l') step.as_list = true;
        if (c == 'n') step.not_minus = true;
      }
      // Another overload may have fewer parameters.
      if (static_cast<size_t>(step.input) >= parameters_.size()) continue;
      if (IsObject(parameters_[static_cast<size_t>(step.input)].name)) continue;
    }
    steps_.push_back(std::move(step));
  }
}

void PyprofForm::StepsOfSchema() {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (IsObject(parameters_[i].name)) continue;
    Step step;
    step.input = static_cast<int>(i);
    step.unless_default = parameters_[i].has_default;
    step.one = parameters_[i].name == "dim" || parameters_[i].name == "dims";
    if (parameters_[i].keyword_only) step.name = parameters_[i].name;
    steps_.push_back(std::move(step));
  }
  std::stable_partition(steps_.begin(), steps_.end(),
                        [](const Step& step) { return step.name.empty(); });
}

void PyprofForm::Add(const Step& step, const PyprofValue& value, Args* args) const {
  if (value.kind == PyprofFormKind::kTensors) {
    for (const PyprofTensor& tensor : value.tensors) {
      args->push_back({step.name, PyprofValue::Tensor(tensor.shape, tensor.dtype)});
    }
    return;
  }
  if (value.kind == PyprofFormKind::kOther || value.kind == PyprofFormKind::kDType) return;
  if (step.reduction && value.kind == PyprofFormKind::kInt) {
    constexpr const char* kNames[] = {"none", "mean", "sum"};
    if (value.integer >= 0 && value.integer < 3) {
      args->push_back({step.name, PyprofValue::Text(kNames[value.integer])});
      return;
    }
  }
  if (step.not_minus && value == PyprofValue::Int(-1)) {
    args->push_back({step.name, {}});
    return;
  }
  if (value.kind == PyprofFormKind::kInts) {
    const PyprofFormShape& items = value.ints;
    if (step.spread && !items.empty()) {
      for (const int64_t item : items) args->push_back({step.name, PyprofValue::Int(item)});
      return;
    }
    const bool equal = std::all_of(items.begin(), items.end(),
                                   [&items](int64_t item) { return item == items[0]; });
    if (step.one && equal) {
      args->push_back({step.name, items.empty() ? PyprofValue() : PyprofValue::Int(items[0])});
      return;
    }
  }
  args->push_back({step.name, value});
  if (step.as_list && value.kind == PyprofFormKind::kInts) args->back().value.is_list = true;
}

std::vector<PyprofArg> PyprofForm::ArgsOf(const std::vector<PyprofValue>& inputs) const {
  Args args;
  const auto value_of = [&](const Step& step) -> const PyprofValue& {
    static const PyprofValue kNone;
    if (step.input < 0) return step.constant;
    const auto input = static_cast<size_t>(step.input);
    return input < inputs.size() ? inputs[input] : kNone;
  };
  const auto is_default = [&](const Step& step) {
    if (!step.unless_default) return false;
    const PyprofParameter& parameter = parameters_[static_cast<size_t>(step.input)];
    if (static_cast<size_t>(step.input) >= inputs.size()) return true;
    const PyprofValue& value = value_of(step);
    if (step.one && value.kind == PyprofFormKind::kInts && value.ints.empty()) return true;
    return value == (parameter.has_default ? parameter.fallback : PyprofValue());
  };
  // Omit positional arguments at their defaults only at the end.
  size_t positional = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].name.empty() && !is_default(steps_[i])) positional = i + 1;
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.name.empty() ? i >= positional : is_default(step)) continue;
    Add(step, value_of(step), &args);
  }
  // prof does not accept a single list of tensors as the only argument.
  if (op_ == "cat" && args.size() == 1) args.push_back({"dim", PyprofValue::Int(0)});
  return args;
}

std::string PyprofForm::NameOf(const std::vector<PyprofValue>& inputs, const Args& args) const {
  if (op_ == "to") {
    for (const PyprofValue& input : inputs) {
      if (input.kind != PyprofFormKind::kDType) continue;
      const std::string_view method = ConvertName(input.text);
      if (!method.empty()) return std::string(method);
    }
  }
  if (!function_.empty() && !args.empty() && !args.back().name.empty()) return function_;
  return op_;
}

void PyprofForm::FoldBatches(std::string* op, Args* args) {
  if (args->size() != 2 || (*args)[0].value.kind != PyprofFormKind::kTensor ||
      (*args)[1].value.kind != PyprofFormKind::kTensor) {
    return;
  }
  PyprofFormShape& a = (*args)[0].value.tensors[0].shape;
  PyprofFormShape& b = (*args)[1].value.tensors[0].shape;
  if (a.size() < 3 || b.size() < 3) return;
  const PyprofFormShape a_batch(a.begin(), a.end() - 2);
  const PyprofFormShape b_batch(b.begin(), b.end() - 2);
  if (a_batch == b_batch || !PyprofBroadcasts({a_batch, b_batch})) return;
  int64_t batches = 1;
  for (size_t i = 1; i <= std::max(a_batch.size(), b_batch.size()); ++i) {
    const int64_t in_a = i <= a_batch.size() ? a_batch[a_batch.size() - i] : 1;
    const int64_t in_b = i <= b_batch.size() ? b_batch[b_batch.size() - i] : 1;
    batches *= in_a == 1 ? in_b : in_a;
  }
  a = {batches, a[a.size() - 2], a[a.size() - 1]};
  b = {batches, b[b.size() - 2], b[b.size() - 1]};
  *op = "bmm";
}

std::string PyprofForm::Text(const std::vector<PyprofValue>& inputs, bool backward) const {
  Args args = ArgsOf(inputs);
  if (op_ == "to") args.resize(std::min<size_t>(args.size(), 1));
  std::string op = NameOf(inputs, args);
  const std::string mod = op == function_ ? std::string(kPyprofFormTorch) : mod_;
  if (backward) {
    op = PyprofNameInBackward(op);
    if (op == "matmul") FoldBatches(&op, &args);
  }
  if (PyprofPrices(mod, op)) {
    Args known = args;
    for (PyprofArg& arg : known) {
      // prof does not know the type, and uses only its size and whether names are equal.
      if (arg.value.kind != PyprofFormKind::kTensor) continue;
      std::string& dtype = arg.value.tensors[0].dtype;
      if (dtype == "bfloat16") dtype = "half";
    }
    std::string text =
        PyprofTakes(mod, op, known, backward) ? PyprofText(mod, op, known) : std::string();
    if (!text.empty() && text.size() <= kMaxTextBytes) return text;
    op = aten_;
  }
  std::string text = PyprofText(mod, op, args);
  if (text.size() > kMaxTextBytes) text = PyprofText(mod, aten_, {args.begin(), args.begin() + 1});
  return text;
}

std::string PyprofSequence(const char* name, int64_t seq, bool node) {
  std::string shown = name;
  if (node) {
    while (!shown.empty() && shown.back() >= '0' && shown.back() <= '9') shown.pop_back();
    if (PyprofFormEndsWith(shown, "Backwards")) shown.pop_back();
    if (!PyprofFormEndsWith(shown, "Backward")) shown.append("Backward");
  }
  char buffer[markers::kTextBufferBytes];
  return {buffer, markers::FormatSequence(shown.c_str(), seq, node, buffer)};
}

std::string PyprofLabel(std::string_view text) {
  std::string label(text);
  const auto replace = [&label](std::string_view word, std::string_view by) {
    for (size_t at = label.find(word); at != label.npos; at = label.find(word, at + by.size())) {
      label.replace(at, word.size(), by);
    }
  };
  const auto holds = [&label](std::string_view word) { return label.find(word) != label.npos; };
  if (holds("mod") && holds("op") && holds("args") && holds("type")) replace("args", "_rgs");
  replace(", seq = ", ", seq: ");
  replace("traceMarker", "trace_Marker");
  return label;
}

bool IsPythonNode(std::string_view name) {
  return PyprofFormEndsWith(name, "Backward") && name.find("::") == name.npos;
}

}  // namespace oplens::annotate::torch
