#include "nvtx_annotate/torch/pyprof_form.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/torch/call_form.h"

namespace oplens::annotate::torch {
namespace {

using Kind = PyprofValue::Kind;
using Shape = std::vector<int64_t>;

constexpr std::string_view kTorch = "torch";
constexpr std::string_view kTensor = "Tensor";
constexpr std::string_view kFunctional = "torch.nn.functional";

// A text is a row of a database and is read by eval(): what is longer is shown, not priced.
constexpr size_t kMaxTextBytes = 65'000;

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Whether a list of words with blanks in between holds a word.
bool Has(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) {
      return true;
    }
  }
  return false;
}

/// The word that a list begins with, which is taken off.
std::string_view TakeWord(std::string_view* words) {
  while (StartsWith(*words, " ")) words->remove_prefix(1);
  const std::string_view word = words->substr(0, words->find(' '));
  words->remove_prefix(word.size());
  return word;
}

/// How an operator is called in Python.
struct Row {
  std::string_view names;  ///< Operators without namespace; "NAME.OVERLOAD" for one of them.
  std::string_view mod;
  std::string_view op;  ///< "" for the operator's.
  /// A word for each argument, in Python's order: its place in the schema, or !VALUE, what the
  /// module passes besides; before it "KEYWORD=", behind it
  ///   ?  left out where it is the default, if it has a keyword or is the last
  ///   r  a number that stands for "none", "mean", "sum"
  ///   i  a list of equal numbers as one; an empty one as None
  ///   v  a list as arguments of its own
  ///   l  a list, no tuple
  ///   n  -1 is None
  /// "": as the schema has it, defaults left out.
  std::string_view recipe;
  /// The function of torch for calls that the operator of Python cannot express: with keywords.
  std::string_view function = "";
};

// Which of several names that Python has for an operator is a matter of habit: that of the module
// of torch.nn, else the operator of Python, else the one that PyProf's prof prices.
constexpr Row kRows[] = {
    // Operators of Python
    {"add.Tensor add.Scalar", kTensor, "__add__", "0 1 alpha=2?", "add"},
    {"sub.Tensor sub.Scalar", kTensor, "__sub__", "0 1 alpha=2?", "sub"},
    {"rsub", kTensor, "__rsub__", "0 1 alpha=2?", "rsub"},
    {"mul", kTensor, "__mul__", "0 1"},
    {"div", kTensor, "__truediv__", "0 1 rounding_mode=2?", "div"},
    {"floor_divide", kTensor, "__floordiv__", "0 1"},
    {"remainder.Tensor remainder.Scalar", kTensor, "__mod__", "0 1"},
    {"pow.Tensor_Tensor pow.Tensor_Scalar", kTensor, "__pow__", "0 1"},
    {"pow.Scalar", kTorch, "pow", "0 1"},
    {"neg", kTensor, "__neg__", "0"},
    {"bitwise_not", kTensor, "__invert__", "0"},
    {"bitwise_and __and__", kTensor, "__and__", "0 1"},
    {"bitwise_or __or__", kTensor, "__or__", "0 1"},
    {"bitwise_xor __xor__", kTensor, "__xor__", "0 1"},
    {"lt", kTensor, "__lt__", "0 1"},
    {"le", kTensor, "__le__", "0 1"},
    {"gt", kTensor, "__gt__", "0 1"},
    {"ge", kTensor, "__ge__", "0 1"},
    {"eq", kTensor, "__eq__", "0 1"},
    {"ne", kTensor, "__ne__", "0 1"},
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
    {"embedding_bag", kTorch, "", ""},
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
    {"sum.dim_IntList mean.dim", kTensor, "", "0 1i keepdim=2?"},
    {"sum mean prod any all max.other min.other", kTensor, "", ""},
    {"max min argmax argmin median", kTensor, "", ""},
    {"any.dim all.dim max.dim min.dim prod.dim_int", kTensor, "", "0 1 keepdim=2?"},
    {"amax amin", kTensor, "", "0 1i keepdim=2?"},
    {"clone contiguous zero_ detach", kTensor, "", "0"},
    {"copy_ fill_ masked_scatter_", kTensor, "", "0 1 2?"},
    {"view reshape permute expand repeat", kTensor, "", "0 1v"},
    {"view_as reshape_as expand_as type_as t transpose unsqueeze squeeze flatten chunk unbind "
     "masked_fill",
     kTensor, "", ""},
    {"split.Tensor split.sizes split split_with_sizes", kTensor, "split", "0 1l 2?"},
    {"new_zeros new_ones", kTensor, "", "0 1"},
    {"new_full", kTensor, "", "0 1 2"},
    // Functions of torch
    {"cat concat concatenate", kTorch, "cat", "0 dim=1?"},
    {"stack", kTorch, "", "0 dim=1?"},
    {"clamp clip", kTorch, "clamp", "0 min=1? max=2?"},
    {"clamp_ clip_", kTensor, "clamp_", "0 min=1? max=2?"},
    {"frobenius_norm", kTorch, "norm", "0 dim=1i? keepdim=2?"},
    {"norm.ScalarOpt_dim", kTorch, "norm", "0 1 2i keepdim=3?"},
    {"norm", kTorch, "", "0 1?"},
    {"einsum", kTorch, "", "0 1"},
    {"zeros ones rand randn", kTorch, "", "0v"},
    {"full", kTorch, "", "0 1"},
    {"randint.low", kTorch, "", "0 1 2"},
    {"randint", kTorch, "", "0 1"},
    {"zeros_like ones_like empty_like rand_like randn_like", kTorch, "", "0"},
    {"randperm", kTorch, "", "0"},
    {"gather", kTorch, "", "0 1 2"},
    {"roll", kTorch, "", "0 1i 2i?"},
    {"flip", kTorch, "", "0 1l"},
    {"lerp addcmul addcdiv addmm baddbmm addmv addbmm addr", kTorch, "", ""},
};

/// The row of an operator: that of its overload, else that of its name.
const Row* FindRow(std::string_view op, std::string_view overload) {
  const auto find = [](std::string_view name) {
    return std::find_if(std::begin(kRows), std::end(kRows),
                        [name](const Row& row) { return Has(row.names, name); });
  };
  const Row* row = std::end(kRows);
  if (!overload.empty()) row = find(std::string(op).append(".").append(overload));
  if (row == std::end(kRows)) row = find(op);
  return row == std::end(kRows) ? nullptr : row;
}

/// Arguments that PyProf's patches do not write, because they are objects: data types too.
bool IsObject(std::string_view name) {
  return Has("dtype layout device pin_memory memory_format generator non_blocking names", name);
}

/// Launch nothing, and stand before the call that is meant.
bool IsHidden(std::string_view op) {
  return StartsWith(op, "empty") ||
         Has("detach lift_fresh broadcast_tensors result_type as_strided resolve_conj resolve_neg "
             "_has_compatible_shallow_copy_type",
             op);
}

/// x.float() for a conversion to float32; "" for what is no method of tensors that prof prices.
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

// As Python writes them

void AppendInt(int64_t value, std::string* out) { out->append(std::to_string(value)); }

void AppendFloat(double value, std::string* out) {
  if (std::isnan(value)) return out->append("'nan'"), void();
  if (std::isinf(value)) return out->append(value < 0 ? "'-inf'" : "'inf'"), void();
  char buffer[32];
  char* end = std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific).ptr;
  const std::string_view scientific(buffer, static_cast<size_t>(end - buffer));
  const size_t e = scientific.find('e');
  int exponent = 0;
  const size_t digits = e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(scientific.data() + digits, end, exponent);
  if (exponent < -4 || exponent >= 16) return out->append(scientific), void();
  char plain[64];
  end = std::to_chars(plain, std::end(plain), value, std::chars_format::fixed).ptr;
  const std::string_view text(plain, static_cast<size_t>(end - plain));
  out->append(text);
  if (text.find('.') == text.npos) out->append(".0");
}

void AppendString(std::string_view text, std::string* out) {
  const bool doubled = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char quote = doubled ? '"' : '\'';
  out->push_back(quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out->append(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
    } else if (byte < 0x20 || byte >= 0x7f) {
      constexpr char kDigits[] = "0123456789abcdef";
      out->append("\\x").push_back(kDigits[byte >> 4]);
      out->push_back(kDigits[byte & 0xf]);
    } else {
      out->push_back(c);
    }
  }
  out->push_back(quote);
}

template <typename T, typename Append>
void AppendItems(const std::vector<T>& items, bool tuple, std::string* out, Append append) {
  out->push_back(tuple ? '(' : '[');
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out->append(", ");
    append(items[i], out);
  }
  if (tuple && items.size() == 1) out->push_back(',');
  out->push_back(tuple ? ')' : ']');
}

// A list that Python has as a list, not as a tuple: `integer` is not used for lists otherwise.
constexpr int64_t kAsList = 1;

/// "'type': 'int', 'value': 3"
void AppendValue(const PyprofValue& value, std::string* out) {
  const auto begin = [out](std::string_view type) {
    out->append("'type': '").append(type).append("', 'value': ");
  };
  const auto sequence = [&begin, &value] {
    begin(value.integer == kAsList ? "list" : "tuple");
    return value.integer != kAsList;
  };
  switch (value.kind) {
    case Kind::kNone:
      begin("NoneType");
      out->append("None");
      break;
    case Kind::kBool:
      begin("bool");
      out->append(value.integer != 0 ? "True" : "False");
      break;
    case Kind::kInt:
      begin("int");
      AppendInt(value.integer, out);
      break;
    case Kind::kFloat:
      begin("float");
      AppendFloat(value.number, out);
      break;
    case Kind::kString:
      begin("str");
      AppendString(value.text, out);
      break;
    case Kind::kTensor:
      out->append("'type': 'tensor', 'shape': ");
      AppendItems(value.tensors[0].shape, true, out, AppendInt);
      out->append(", 'dtype': '").append(value.tensors[0].dtype).push_back('\'');
      break;
    case Kind::kInts:
      AppendItems(value.ints, sequence(), out, AppendInt);
      break;
    case Kind::kFloats:
      AppendItems(value.numbers, sequence(), out, AppendFloat);
      break;
    case Kind::kBools:
      AppendItems(value.ints, sequence(), out, [](int64_t item, std::string* text) {
        text->append(item != 0 ? "True" : "False");
      });
      break;
    case Kind::kDType:
    case Kind::kTensors:
    case Kind::kOther:
      break;
  }
}

PyprofValue Constant(std::string_view text) {
  if (text == "True" || text == "False") return PyprofValue::Bool(text == "True");
  if (text == "None") return {};
  if (text.find('.') == text.npos) return PyprofValue::Int(text[0] - '0');
  return PyprofValue::Float(text[0] - '0');
}

/// The values that numpy, and so PyProf, would broadcast to one shape.
bool Broadcast(const std::vector<Shape>& shapes) {
  size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  for (size_t i = 1; i <= rank; ++i) {
    int64_t extent = 1;
    for (const Shape& shape : shapes) {
      if (shape.size() < i || shape[shape.size() - i] == 1) continue;
      const int64_t other = shape[shape.size() - i];
      if (extent != 1 && other != extent) return false;
      extent = other;
    }
  }
  return true;
}

}  // namespace

// What PyProf's prof asks of the calls that it prices; at anything else it aborts. Written from
// what it does with texts, one function a kind of op.
class PyprofRules {
 public:
  using Args = PyprofForm::Args;
  using Arg = PyprofForm::Arg;

  PyprofRules(std::string_view mod, std::string_view op, bool backward)
      : mod_(mod), op_(op), backward_(backward) {}

  /// Whether prof prices a call of this name at all: it shows all others, whatever they are.
  bool Priced() const { return FindKind() != nullptr; }

  /// Whether it does so with these arguments. Sees bfloat16 as "half".
  bool Takes(const Args& args) const {
    const Group* const kind = FindKind();
    if (!kind->mods.empty() && !HasMod(kind->mods)) return false;
    return (this->*kind->takes)(args);
  }

  /// The name under which prof prices the op in both directions; "" if there is none.
  static std::string_view NameInBackward(std::string_view op) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"add_", "__add__"},  {"mul", "__mul__"},      {"mul_", "__imul__"},
        {"sub_", "__isub__"}, {"div_", "__truediv__"}, {"__rsub__", "__sub__"}};
    for (const auto& [name, other] : kNames) {
      if (name == op) return other;
    }
    return Has(kBinary, op) && !Has(kBothWays, op) ? "" : op;
  }

  /// Comparisons have no gradient.
  static bool IsComparison(std::string_view op) { return Has(kComparisons, op); }

 private:
  struct Group {
    std::string_view ops;
    std::string_view mods;  ///< With '|' around each; "": any.
    bool (PyprofRules::*takes)(const Args&) const;
  };

  static constexpr std::string_view kSimple =
      "abs abs_ neg neg_ reciprocal reciprocal_ __abs__ __neg__ __invert__ ceil ceil_ clamp clamp_ "
      "floor floor_ frac frac_ round round_ sign sign_ trunc trunc_";
  static constexpr std::string_view kUnary =
      "exp exp_ exp1m exp1m_ log log_ log10 log10_ log1p log1p_ log2 log2_ rsqrt rsqrt_ sqrt sqrt_ "
      "acos acos_ asin asin_ atan atan_ atan2 atan2_ cos cos_ cosh cosh_ sin sin_ sinh sinh_ tan "
      "tan_ sigmoid sigmoid_ tanh tanh_ erf erf_ erfc erfc_ erfinv erfinv_";
  static constexpr std::string_view kComparisons =
      "lt lt_ gt gt_ ge ge_ le le_ eq eq_ ne ne_ __lt__ __gt__ __ge__ __le__ __eq__ __ne__ __and__ "
      "__or__ __xor__ __lshift__ __rshift__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__";
  static constexpr std::string_view kBinary =
      "add add_ div div_ mul mul_ remainder remainder_ sub sub_ __add__ __sub__ __mul__ "
      "__floordiv__ __truediv__ __mod__ __radd__ __rsub__ __rmul__ __rdiv__ __rtruediv__ "
      "__rfloordiv__ fmod fmod_ __iadd__ __isub__ __imul__ __itruediv__ lt lt_ gt gt_ ge ge_ le "
      "le_ eq eq_ ne ne_ __lt__ __gt__ __ge__ __le__ __eq__ __ne__ __and__ __or__ __xor__ "
      "__lshift__ __rshift__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__";
  static constexpr std::string_view kBothWays =
      "add __add__ sub __sub__ __isub__ __mul__ __imul__ __rmul__ div __truediv__";
  static constexpr std::string_view kTorchOrTensor = "|torch|Tensor|";

  bool HasMod(std::string_view mods) const {
    const std::string mod = "|" + std::string(mod_) + "|";
    return mods.find(mod) != mods.npos;
  }

  const Group* FindKind() const {
    static constexpr Group kGroups[] = {
        {"linear", "|torch.nn.functional|", &PyprofRules::Linear},
        {"conv1d conv2d", "|torch.nn.functional|", &PyprofRules::Conv},
        {kSimple, "", &PyprofRules::Simple},
        {kUnary, "", &PyprofRules::Unary},
        {kBinary, "", &PyprofRules::Binary},
        {"pow pow_ __pow__ __rpow__", "", &PyprofRules::Binary},
        {"addcdiv addcdiv_ addcmul addcmul_", "", &PyprofRules::Ternary},
        {"digamma lerp lerp_ mvlgamma", "", &PyprofRules::Never},
        {"byte char double float half int long short to", "|Tensor|", &PyprofRules::OneTensor},
        {"__matmul__ matmul", kTorchOrTensor, &PyprofRules::Matmul},
        {"embedding", "|torch.nn.functional|", &PyprofRules::Embedding},
        {"sum norm mean", kTorchOrTensor, &PyprofRules::Reduction},
        {"dropout", "|torch.nn.functional|", &PyprofRules::FirstTensor},
        {"cat", "|torch|", &PyprofRules::Cat},
        {"reshape", "|Tensor|", &PyprofRules::FirstTensor},
        {"masked_scatter_", "|Tensor|", &PyprofRules::MaskedScatter},
        {"gather", kTorchOrTensor, &PyprofRules::Gather},
        {"nonzero", kTorchOrTensor, &PyprofRules::OneTensor},
        {"index_select", kTorchOrTensor, &PyprofRules::IndexSelect},
        {"masked_select", kTorchOrTensor, &PyprofRules::MaskedSelect},
        {"addmm addmm_", kTorchOrTensor, &PyprofRules::Addmm},
        {"mm", "|torch|", &PyprofRules::Mm},
        {"bmm", "|torch|", &PyprofRules::Bmm},
        {"softmax", "|torch.nn.functional|", &PyprofRules::Softmax},
        {"log_softmax", "|torch|Tensor|torch.nn.functional|", &PyprofRules::Softmax},
        {"mse_loss", "|torch.nn.functional|", &PyprofRules::MseLoss},
        {"adam", "", &PyprofRules::Never},
        {"batch_norm", "", &PyprofRules::FirstTensor},
        {"randperm", "|torch|", &PyprofRules::OneInt},
        {"ones_like zero_ zeros_like", kTorchOrTensor, &PyprofRules::OneTensor},
        {"ones zeros", kTorchOrTensor, &PyprofRules::Sizes},
        {"fill_", "|Tensor|", &PyprofRules::Fill},
        {"full", "|torch|", &PyprofRules::Full},
        {"copy_", "|Tensor|", &PyprofRules::Copy},
        {"clone contiguous", "|Tensor|", &PyprofRules::OneTensor},
        {"any", "|Tensor|", &PyprofRules::AnyOf},
        {"celu elu elu_ hardshrink hardtanh hardtanh_ leaky_relu leaky_relu_ logsigmoid prelu relu "
         "relu_ relu6 rrelu rrelu_ selu softplus softshrink softsign tanhshrink threshold "
         "threshold_",
         "|torch.nn.functional|torch|Tensor|", &PyprofRules::FirstTensor},
    };
    static constexpr Group kCell = {"forward", "", &PyprofRules::Cell};
    if (op_ == "forward") return mod_ == "LSTMCell" || mod_ == "GRUCell" ? &kCell : nullptr;
    const auto* found = std::find_if(std::begin(kGroups), std::end(kGroups),
                                     [this](const Group& group) { return Has(group.ops, op_); });
    return found == std::end(kGroups) ? nullptr : found;
  }

  static bool IsTensor(const Args& args, size_t i) {
    return i < args.size() && args[i].value.kind == Kind::kTensor &&
           Has("uint8 int8 bool float16 half int16 float32 int32 int64 float64",
               args[i].value.tensors[0].dtype);
  }
  static bool AreTensors(const Args& args, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!IsTensor(args, i)) return false;
    }
    return true;
  }
  static bool IsNumber(const PyprofValue& value) {
    return value.kind == Kind::kInt || value.kind == Kind::kFloat;
  }
  static const Shape& ShapeOf(const Args& args, size_t i) { return args[i].value.tensors[0].shape; }
  static const std::string& DTypeOf(const Args& args, size_t i) {
    return args[i].value.tensors[0].dtype;
  }
  static size_t Rank(const Args& args, size_t i) { return ShapeOf(args, i).size(); }
  static Args Positional(const Args& args) {
    Args kept;
    for (const Arg& arg : args) {
      if (arg.name.empty()) kept.push_back(arg);
    }
    return kept;
  }
  static const PyprofValue* Find(const Args& args, size_t place, std::string_view name) {
    if (place < args.size() && args[place].name.empty()) return &args[place].value;
    for (const Arg& arg : args) {
      if (arg.name == name) return &arg.value;
    }
    return nullptr;
  }

  bool Never(const Args&) const { return false; }
  bool FirstTensor(const Args& args) const { return IsTensor(args, 0) && args[0].name.empty(); }
  bool OneTensor(const Args& args) const { return args.size() == 1 && FirstTensor(args); }
  bool OneInt(const Args& args) const {
    return args.size() == 1 && args[0].value.kind == Kind::kInt;
  }

  /// The numbers and tensors of an elementwise op.
  bool Elements(const Args& args) const {
    if (args.size() > 4) return false;
    for (size_t i = 0; i < args.size(); ++i) {
      if (!IsTensor(args, i) && !IsNumber(args[i].value)) return false;
    }
    return true;
  }
  bool Simple(const Args& all) const {
    const Args args = Positional(all);
    return !args.empty() && Elements(args);
  }
  bool Unary(const Args& all) const {
    const Args args = Positional(all);
    return args.size() == 1 && Elements(args);
  }
  bool Binary(const Args& all) const {
    const Args args = Positional(all);
    if (args.size() != 2 || !Elements(args)) return false;
    if (backward_ && Has(kBinary, op_) && !Has(kBothWays, op_)) return false;
    std::vector<Shape> shapes;
    for (size_t i = 0; i < 2; ++i) shapes.push_back(IsTensor(args, i) ? ShapeOf(args, i) : Shape());
    return Broadcast(shapes);
  }
  bool Ternary(const Args& all) const {
    const Args args = Positional(all);
    std::vector<Shape> shapes;
    for (size_t i = 0; i < args.size(); ++i) {
      if (IsTensor(args, i) && Rank(args, i) > 0) shapes.push_back(ShapeOf(args, i));
    }
    return Elements(args) && shapes.size() == 3 && Broadcast(shapes);
  }

  bool Linear(const Args& args) const {
    if (args.size() != 3 && args.size() != 2) return false;
    if (!AreTensors(args, 2) || Rank(args, 0) < 1 || Rank(args, 1) != 2) return false;
    if (DTypeOf(args, 0) != DTypeOf(args, 1)) return false;
    if (ShapeOf(args, 0).back() != ShapeOf(args, 1)[1]) return false;
    if (args.size() == 2 || args[2].value.kind == Kind::kNone) return true;
    return IsTensor(args, 2) && Rank(args, 2) == 1 && ShapeOf(args, 2)[0] == ShapeOf(args, 1)[0];
  }

  /// A number of a convolution for a dimension: prof takes tuples and numbers.
  static std::optional<int64_t> Extent(const PyprofValue* value, size_t dimensions, size_t i) {
    if (value == nullptr) return std::nullopt;
    if (value->kind == Kind::kInt) return value->integer;
    if (value->kind != Kind::kInts || value->ints.size() != dimensions) return std::nullopt;
    return value->ints[i];
  }
  bool Conv(const Args& args) const {
    const size_t dimensions = op_ == "conv1d" ? 1 : 2;
    if (args.size() < 2 || args.size() > 7 || !AreTensors(args, 2)) return false;
    if (Rank(args, 0) != dimensions + 2 || Rank(args, 1) != dimensions + 2) return false;
    if (DTypeOf(args, 0) != DTypeOf(args, 1)) return false;
    const PyprofValue* const groups = Find(args, 6, "groups");
    const int64_t count = groups == nullptr ? 1 : groups->integer;
    if (count < 1 || (dimensions == 1 && count != 1)) return false;
    if (ShapeOf(args, 0)[1] != ShapeOf(args, 1)[1] * count) return false;
    for (size_t i = 0; i < dimensions; ++i) {
      const auto stride = Extent(Find(args, 3, "stride"), dimensions, i);
      const auto padding = Extent(Find(args, 4, "padding"), dimensions, i);
      const auto dilation = Extent(Find(args, 5, "dilation"), dimensions, i);
      if (!stride || !padding || !dilation || *stride < 1) return false;
      const int64_t size = ShapeOf(args, 0)[i + 2];
      const int64_t filter = (ShapeOf(args, 1)[i + 2] - 1) * *dilation + 1;
      // It divides as floats and cuts to an integer.
      const double outputs =
          1 + static_cast<double>(size + 2 * *padding - filter) / static_cast<double>(*stride);
      if (size == 1 && static_cast<int64_t>(outputs) != 1) return false;
    }
    return true;
  }

  bool SameType(const Args& args) const {
    return AreTensors(args, 2) && DTypeOf(args, 0) == DTypeOf(args, 1);
  }
  bool Mm(const Args& args) const {
    return args.size() == 2 && SameType(args) && Rank(args, 0) == 2 && Rank(args, 1) == 2;
  }
  bool Bmm(const Args& all) const {
    const Args args = Positional(all);
    return args.size() == 2 && SameType(args) && Rank(args, 0) == 3 && Rank(args, 1) == 3;
  }
  bool Addmm(const Args& all) const {
    const Args args = Positional(all);
    return args.size() == 3 && SameType(args) && IsTensor(args, 2) && Rank(args, 1) == 2 &&
           Rank(args, 2) == 2 && DTypeOf(args, 2) == DTypeOf(args, 0);
  }
  bool Matmul(const Args& args) const {
    if (op_ == "matmul" ? mod_ != kTorch : mod_ != kTensor) return false;
    return args.size() == 2 && SameType(args) && Rank(args, 0) > 0 && Rank(args, 1) > 0;
  }

  bool Embedding(const Args& args) const {
    return args.size() >= 2 && AreTensors(args, 2) && Rank(args, 1) == 2;
  }
  bool Reduction(const Args& args) const {
    return FirstTensor(args) && (op_ != "mean" || Positional(args).size() <= 2);
  }
  bool Softmax(const Args& args) const { return FirstTensor(args) && Positional(args).size() <= 2; }
  bool Cat(const Args& args) const {
    if (args.size() < 2 || !IsTensor(args, 0)) return false;
    for (size_t i = 1; i < args.size(); ++i) {
      if (args[i].value.kind != Kind::kTensor) continue;
      if (!IsTensor(args, i) || DTypeOf(args, i) != DTypeOf(args, 0)) return false;
    }
    return true;
  }
  bool MaskedScatter(const Args& args) const {
    return args.size() == 3 && AreTensors(args, 3) && DTypeOf(args, 1) == "uint8" &&
           DTypeOf(args, 0) == DTypeOf(args, 2) && ShapeOf(args, 0) == ShapeOf(args, 1);
  }
  bool Gather(const Args& args) const { return args.size() == 3 && FirstTensor(args); }
  bool IndexSelect(const Args& args) const {
    return args.size() == 3 && IsTensor(args, 0) && IsTensor(args, 2) &&
           args[1].value.kind == Kind::kInt && DTypeOf(args, 2) == "int64" && Rank(args, 2) == 1 &&
           args[1].value.integer < static_cast<int64_t>(Rank(args, 0)) && Rank(args, 0) > 0;
  }
  bool MaskedSelect(const Args& args) const {
    return args.size() == 2 && AreTensors(args, 2) && DTypeOf(args, 1) == "uint8" &&
           Broadcast({ShapeOf(args, 0), ShapeOf(args, 1)});
  }
  bool MseLoss(const Args& args) const {
    return args.size() == 3 && SameType(args) && ShapeOf(args, 0) == ShapeOf(args, 1) &&
           args[2].value.kind == Kind::kString;
  }
  bool Sizes(const Args& args) const {
    if (args.empty()) return false;
    if (args[0].value.kind == Kind::kInts) return args.size() == 1;
    return args[0].value.kind == Kind::kInt;
  }
  bool Fill(const Args& args) const { return args.size() == 2 && FirstTensor(args); }
  bool Full(const Args& args) const {
    return args.size() == 2 && args[0].value.kind == Kind::kInts && IsNumber(args[1].value);
  }
  bool Copy(const Args& args) const {
    return args.size() == 2 && AreTensors(args, 2) && ShapeOf(args, 0) == ShapeOf(args, 1);
  }
  bool AnyOf(const Args& args) const { return args.size() <= 2 && FirstTensor(args); }
  bool Cell(const Args& args) const {
    return (args.size() == 2 || args.size() == 3) && SameType(args) && Rank(args, 0) == 2 &&
           Rank(args, 1) == 2 && ShapeOf(args, 0)[0] == ShapeOf(args, 1)[0];
  }

  const std::string_view mod_;
  const std::string_view op_;
  const bool backward_;
};

PyprofValue PyprofValue::Bool(bool value) {
  PyprofValue made;
  made.kind = Kind::kBool;
  made.integer = value ? 1 : 0;
  return made;
}

PyprofValue PyprofValue::Int(int64_t value) {
  PyprofValue made;
  made.kind = Kind::kInt;
  made.integer = value;
  return made;
}

PyprofValue PyprofValue::Float(double value) {
  PyprofValue made;
  made.kind = Kind::kFloat;
  made.number = value;
  return made;
}

PyprofValue PyprofValue::Text(std::string value) {
  PyprofValue made;
  made.kind = Kind::kString;
  made.text = std::move(value);
  return made;
}

PyprofValue PyprofValue::DType(std::string name) {
  PyprofValue made = Text(std::move(name));
  made.kind = Kind::kDType;
  return made;
}

PyprofValue PyprofValue::Ints(std::vector<int64_t> values) {
  PyprofValue made;
  made.kind = Kind::kInts;
  made.ints = std::move(values);
  return made;
}

PyprofValue PyprofValue::Tensor(std::vector<int64_t> shape, std::string dtype) {
  PyprofValue made = Tensors({{std::move(shape), std::move(dtype)}});
  made.kind = Kind::kTensor;
  return made;
}

PyprofValue PyprofValue::Tensors(std::vector<PyprofTensor> tensors) {
  PyprofValue made;
  made.kind = Kind::kTensors;
  made.tensors = std::move(tensors);
  return made;
}

bool operator==(const PyprofValue& a, const PyprofValue& b) {
  if (!a.tensors.empty() || !b.tensors.empty()) return false;  // No default is a tensor.
  // The default of a Scalar may be 1 where the call has 1.0.
  const bool numbers = (a.kind == Kind::kInt && b.kind == Kind::kFloat) ||
                       (a.kind == Kind::kFloat && b.kind == Kind::kInt);
  if (numbers) {
    return (a.kind == Kind::kInt ? static_cast<double>(a.integer) : a.number) ==
           (b.kind == Kind::kInt ? static_cast<double>(b.integer) : b.number);
  }
  return a.kind == b.kind && a.integer == b.integer && a.number == b.number && a.text == b.text &&
         a.ints == b.ints && a.numbers == b.numbers;
}

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
  const bool is_aten = StartsWith(name, "aten::");
  hidden_ = is_aten && IsHidden(op);
  const Row* const row = is_aten ? FindRow(op, overload) : nullptr;
  if (row != nullptr) {
    mod_ = row->mod;
    op_ = row->op.empty() ? op : row->op;
    function_ = row->function;
    // One name for the three of them.
    if (op_ == "max_pool") op_ = op.substr(0, op.find("_with"));
  }
  if (row == nullptr || row->recipe.empty()) {
    StepsOfSchema();
  } else {
    StepsOfRecipe(row->recipe);
  }
  numbered_ = !PyprofRules::IsComparison(op_);
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
    if (StartsWith(word, "!")) {
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
      // Another overload may be shorter.
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
  if (value.kind == Kind::kTensors) {
    for (const PyprofTensor& tensor : value.tensors) {
      args->push_back({step.name, PyprofValue::Tensor(tensor.shape, tensor.dtype)});
    }
    return;
  }
  if (value.kind == Kind::kOther || value.kind == Kind::kDType) return;
  if (step.reduction && value.kind == Kind::kInt) {
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
  if (value.kind == Kind::kInts) {
    const Shape& items = value.ints;
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
  if (step.as_list && value.kind == Kind::kInts) args->back().value.integer = kAsList;
}

PyprofForm::Args PyprofForm::ArgsOf(const std::vector<PyprofValue>& inputs) const {
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
    if (step.one && value.kind == Kind::kInts && value.ints.empty()) return true;
    return value == (parameter.has_default ? parameter.fallback : PyprofValue());
  };
  // Positional arguments at their defaults go from the end only.
  size_t positional = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].name.empty() && !is_default(steps_[i])) positional = i + 1;
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.name.empty() ? i >= positional : is_default(step)) continue;
    Add(step, value_of(step), &args);
  }
  // A list of one tensor alone is no call that prof takes.
  if (op_ == "cat" && args.size() == 1) args.push_back({"dim", PyprofValue::Int(0)});
  return args;
}

std::string PyprofForm::NameOf(const std::vector<PyprofValue>& inputs, const Args& args) const {
  if (op_ == "to") {
    for (const PyprofValue& input : inputs) {
      if (input.kind != Kind::kDType) continue;
      const std::string_view method = ConvertName(input.text);
      if (!method.empty()) return std::string(method);
    }
  }
  if (!function_.empty() && !args.empty() && !args.back().name.empty()) return function_;
  return op_;
}

void PyprofForm::FoldBatches(std::string* op, Args* args) {
  if (args->size() != 2 || (*args)[0].value.kind != Kind::kTensor ||
      (*args)[1].value.kind != Kind::kTensor) {
    return;
  }
  Shape& a = (*args)[0].value.tensors[0].shape;
  Shape& b = (*args)[1].value.tensors[0].shape;
  if (a.size() < 3 || b.size() < 3) return;
  const Shape a_batch(a.begin(), a.end() - 2);
  const Shape b_batch(b.begin(), b.end() - 2);
  if (a_batch == b_batch || !Broadcast({a_batch, b_batch})) return;
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
  const std::string mod = op == function_ ? std::string(kTorch) : mod_;
  if (backward) {
    const std::string_view other = PyprofRules::NameInBackward(op);
    if (!other.empty()) op = other;
    if (op == "matmul") FoldBatches(&op, &args);
  }
  const PyprofRules rules(mod, op, backward);
  if (rules.Priced()) {
    Args known = args;
    for (Arg& arg : known) {
      // It does not know the type, and asks only for its size and for equal names.
      if (arg.value.kind != Kind::kTensor) continue;
      std::string& dtype = arg.value.tensors[0].dtype;
      if (dtype == "bfloat16") dtype = "half";
    }
    std::string text = rules.Takes(known) ? Written(mod, op, known) : std::string();
    if (!text.empty() && text.size() <= kMaxTextBytes) return text;
    op = aten_;
  }
  std::string text = Written(mod, op, args);
  if (text.size() > kMaxTextBytes) text = Written(mod, aten_, {args.begin(), args.begin() + 1});
  return text;
}

std::string PyprofForm::Written(std::string_view mod, std::string_view op, const Args& args) {
  std::string text = "{'mod': ";
  AppendString(mod, &text);
  text.append(", 'op': ");
  AppendString(op, &text);
  text.append(", 'args': [");
  for (size_t i = 0; i < args.size(); ++i) {
    text.append(i > 0 ? ", {'name': " : "{'name': ");
    AppendString(args[i].name, &text);
    text.append(", ");
    AppendValue(args[i].value, &text);
    text.push_back('}');
  }
  return text.append("]}");
}

std::string PyprofSequence(const char* name, int64_t seq, bool node) {
  std::string shown = name;
  if (node) {
    while (!shown.empty() && shown.back() >= '0' && shown.back() <= '9') shown.pop_back();
    if (EndsWith(shown, "Backwards")) shown.pop_back();
    if (!EndsWith(shown, "Backward")) shown.append("Backward");
  }
  std::string buffer(markers::kTextBufferBytes, '\0');
  buffer.resize(markers::FormatSequence(shown.c_str(), seq, node, buffer.data()));
  return buffer;
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
  return EndsWith(name, "Backward") && name.find("::") == name.npos;
}

}  // namespace oplens::annotate::torch
