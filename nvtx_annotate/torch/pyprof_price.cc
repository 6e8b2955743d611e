#include "nvtx_annotate/torch/pyprof_price.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace oplens::annotate::torch {
namespace {

using PyprofPriceKind = PyprofValue::Kind;
using PyprofPriceShape = std::vector<int64_t>;

constexpr std::string_view kPyprofPriceTorch = "torch";
constexpr std::string_view kPyprofPriceTensor = "Tensor";

bool HasPyprofPrice(std::string_view words, std::string_view word) {
  return HasPyprofWord(words, word);
}

// Elementwise functions, by how prof counts their arguments.
constexpr std::string_view kSimple =
    "abs abs_ neg neg_ reciprocal reciprocal_ __abs__ __neg__ __invert__ ceil ceil_ clamp clamp_ "
    "floor floor_ frac frac_ round round_ sign sign_ trunc trunc_";
constexpr std::string_view kUnary =
    "exp exp_ exp1m exp1m_ log log_ log10 log10_ log1p log1p_ log2 log2_ rsqrt rsqrt_ sqrt sqrt_ "
    "acos acos_ asin asin_ atan atan_ atan2 atan2_ cos cos_ cosh cosh_ sin sin_ sinh sinh_ tan "
    "tan_ sigmoid sigmoid_ tanh tanh_ erf erf_ erfc erfc_ erfinv erfinv_";
constexpr std::string_view kComparisons =
    "lt lt_ gt gt_ ge ge_ le le_ eq eq_ ne ne_ __lt__ __gt__ __ge__ __le__ __eq__ __ne__ __and__ "
    "__or__ __xor__ __lshift__ __rshift__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__";
constexpr std::string_view kArithmetic =
    "add add_ div div_ mul mul_ remainder remainder_ sub sub_ __add__ __sub__ __mul__ __floordiv__ "
    "__truediv__ __mod__ __radd__ __rsub__ __rmul__ __rdiv__ __rtruediv__ __rfloordiv__ fmod fmod_ "
    "__iadd__ __isub__ __imul__ __itruediv__";
// prof prices gradients of these; it aborts at others.
constexpr std::string_view kBothWays =
    "add __add__ sub __sub__ __isub__ __mul__ __imul__ __rmul__ div __truediv__";

bool IsForwardOnly(std::string_view op) {
  return (HasPyprofPrice(kArithmetic, op) || HasPyprofPrice(kComparisons, op)) &&
         !HasPyprofPrice(kBothWays, op);
}

// The requirements of prof for the calls it prices, one function per kind of op; derived from its
// handling of texts.
class Rules {
 public:
  using Arg = PyprofArg;
  using Args = std::vector<PyprofArg>;

  Rules(std::string_view mod, std::string_view op, bool backward)
      : mod_(mod), op_(op), backward_(backward) {}

  bool Priced() const { return FindKind() != nullptr; }

  bool Takes(const Args& args) const {
    const Group* const kind = FindKind();
    if (kind == nullptr) return true;
    return (kind->mods.empty() || HasMod(kind->mods)) && (this->*kind->takes)(args);
  }

 private:
  struct Group {
    std::string_view ops;
    std::string_view mods;  ///< Separated and enclosed by '|'; "": any.
    bool (Rules::*takes)(const Args&) const;
  };

  static constexpr std::string_view kTorchOrTensor = "|torch|Tensor|";

  bool HasMod(std::string_view mods) const {
    const std::string mod = "|" + std::string(mod_) + "|";
    return mods.find(mod) != mods.npos;
  }

  const Group* FindKind() const {
    static constexpr Group kGroups[] = {
        {"linear", "|torch.nn.functional|", &Rules::Linear},
        {"conv1d conv2d", "|torch.nn.functional|", &Rules::Conv},
        {kSimple, "", &Rules::Simple},
        {kUnary, "", &Rules::Unary},
        {kArithmetic, "", &Rules::Binary},
        {kComparisons, "", &Rules::Binary},
        {"pow pow_ __pow__ __rpow__", "", &Rules::Binary},
        {"addcdiv addcdiv_ addcmul addcmul_", "", &Rules::Ternary},
        {"digamma lerp lerp_ mvlgamma", "", &Rules::Never},
        {"byte char double float half int long short to", "|Tensor|", &Rules::OneTensor},
        {"__matmul__ matmul", kTorchOrTensor, &Rules::Matmul},
        {"embedding", "|torch.nn.functional|", &Rules::Embedding},
        {"sum norm mean", kTorchOrTensor, &Rules::Reduction},
        {"dropout", "|torch.nn.functional|", &Rules::FirstTensor},
        {"cat", "|torch|", &Rules::Cat},
        {"reshape", "|Tensor|", &Rules::FirstTensor},
        {"masked_scatter_", "|Tensor|", &Rules::MaskedScatter},
        {"gather", kTorchOrTensor, &Rules::Gather},
        {"nonzero", kTorchOrTensor, &Rules::OneTensor},
        {"index_select", kTorchOrTensor, &Rules::IndexSelect},
        {"masked_select", kTorchOrTensor, &Rules::MaskedSelect},
        {"addmm addmm_", kTorchOrTensor, &Rules::Addmm},
        {"mm", "|torch|", &Rules::Mm},
        {"bmm", "|torch|", &Rules::Bmm},
        {"softmax", "|torch.nn.functional|", &Rules::Softmax},
        {"log_softmax", "|torch|Tensor|torch.nn.functional|", &Rules::Softmax},
        {"mse_loss", "|torch.nn.functional|", &Rules::MseLoss},
        {"adam", "", &Rules::Never},
        {"batch_norm", "", &Rules::FirstTensor},
        {"randperm", "|torch|", &Rules::OneInt},
        {"ones_like zero_ zeros_like", kTorchOrTensor, &Rules::OneTensor},
        {"ones zeros", kTorchOrTensor, &Rules::Sizes},
        {"fill_", "|Tensor|", &Rules::Fill},
        {"full", "|torch|", &Rules::Full},
        {"copy_", "|Tensor|", &Rules::Copy},
        {"clone contiguous", "|Tensor|", &Rules::OneTensor},
        {"any", "|Tensor|", &Rules::AnyOf},
        {"celu elu elu_ hardshrink hardtanh hardtanh_ leaky_relu leaky_relu_ logsigmoid prelu relu "
         "relu_ relu6 rrelu rrelu_ selu softplus softshrink softsign tanhshrink threshold "
         "threshold_",
         "|torch.nn.functional|torch|Tensor|", &Rules::FirstTensor},
    };
    static constexpr Group kCell = {"forward", "", &Rules::Cell};
    if (op_ == "forward") return mod_ == "LSTMCell" || mod_ == "GRUCell" ? &kCell : nullptr;
    const auto* found =
        std::find_if(std::begin(kGroups), std::end(kGroups),
                     [this](const Group& group) { return HasPyprofPrice(group.ops, op_); });
    return found == std::end(kGroups) ? nullptr : found;
  }

  static bool IsTensor(const Args& args, size_t i) {
    return i < args.size() && args[i].value.kind == PyprofPriceKind::kTensor &&
           HasPyprofPrice("uint8 int8 bool float16 half int16 float32 int32 int64 float64",
                          args[i].value.tensors[0].dtype);
  }
  static bool AreTensors(const Args& args, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!IsTensor(args, i)) return false;
    }
    return true;
  }
  static bool IsNumber(const PyprofValue& value) {
    return value.kind == PyprofPriceKind::kInt || value.kind == PyprofPriceKind::kFloat;
  }
  static const PyprofPriceShape& ShapeOf(const Args& args, size_t i) {
    return args[i].value.tensors[0].shape;
  }
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
    return args.size() == 1 && args[0].value.kind == PyprofPriceKind::kInt;
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
    if (backward_ && IsForwardOnly(op_)) return false;
    std::vector<PyprofPriceShape> shapes;
    for (size_t i = 0; i < 2; ++i)
      shapes.push_back(IsTensor(args, i) ? ShapeOf(args, i) : PyprofPriceShape());
    return PyprofBroadcasts(shapes);
  }
  bool Ternary(const Args& all) const {
    const Args args = Positional(all);
    std::vector<PyprofPriceShape> shapes;
    for (size_t i = 0; i < args.size(); ++i) {
      if (IsTensor(args, i) && Rank(args, i) > 0) shapes.push_back(ShapeOf(args, i));
    }
    return Elements(args) && shapes.size() == 3 && PyprofBroadcasts(shapes);
  }

  bool Linear(const Args& args) const {
    if (args.size() != 3 && args.size() != 2) return false;
    if (!AreTensors(args, 2) || Rank(args, 0) < 1 || Rank(args, 1) != 2) return false;
    if (DTypeOf(args, 0) != DTypeOf(args, 1)) return false;
    if (ShapeOf(args, 0).back() != ShapeOf(args, 1)[1]) return false;
    if (args.size() == 2 || args[2].value.kind == PyprofPriceKind::kNone) return true;
    return IsTensor(args, 2) && Rank(args, 2) == 1 && ShapeOf(args, 2)[0] == ShapeOf(args, 1)[0];
  }

  /// A convolution parameter for one dimension: prof accepts tuples and numbers.
  static std::optional<int64_t> Extent(const PyprofValue* value, size_t dimensions, size_t i) {
    if (value == nullptr) return std::nullopt;
    if (value->kind == PyprofPriceKind::kInt) return value->integer;
    if (value->kind != PyprofPriceKind::kInts || value->ints.size() != dimensions)
      return std::nullopt;
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
      // prof divides as floats and truncates.
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
    if (op_ == "matmul" ? mod_ != kPyprofPriceTorch : mod_ != kPyprofPriceTensor) return false;
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
      if (args[i].value.kind != PyprofPriceKind::kTensor) continue;
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
           args[1].value.kind == PyprofPriceKind::kInt && DTypeOf(args, 2) == "int64" &&
           Rank(args, 2) == 1 && args[1].value.integer < static_cast<int64_t>(Rank(args, 0)) &&
           Rank(args, 0) > 0;
  }
  bool MaskedSelect(const Args& args) const {
    return args.size() == 2 && AreTensors(args, 2) && DTypeOf(args, 1) == "uint8" &&
           PyprofBroadcasts({ShapeOf(args, 0), ShapeOf(args, 1)});
  }
  bool MseLoss(const Args& args) const {
    return args.size() == 3 && SameType(args) && ShapeOf(args, 0) == ShapeOf(args, 1) &&
           args[2].value.kind == PyprofPriceKind::kString;
  }
  bool Sizes(const Args& args) const {
    if (args.empty()) return false;
    if (args[0].value.kind == PyprofPriceKind::kInts) return args.size() == 1;
    return args[0].value.kind == PyprofPriceKind::kInt;
  }
  bool Fill(const Args& args) const { return args.size() == 2 && FirstTensor(args); }
  bool Full(const Args& args) const {
    return args.size() == 2 && args[0].value.kind == PyprofPriceKind::kInts &&
           IsNumber(args[1].value);
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

}  // namespace

bool PyprofPrices(std::string_view mod, std::string_view op) {
  return Rules(mod, op, false).Priced();
}

bool PyprofTakes(std::string_view mod, std::string_view op, const std::vector<PyprofArg>& args,
                 bool backward) {
  return Rules(mod, op, backward).Takes(args);
}

std::string_view PyprofNameInBackward(std::string_view op) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"add_", "__add__"},  {"mul", "__mul__"},      {"mul_", "__imul__"},
      {"sub_", "__isub__"}, {"div_", "__truediv__"}, {"__rsub__", "__sub__"}};
  for (const auto& [name, other] : kNames) {
    if (name == op) return other;
  }
  return op;
}

bool PyprofIsComparison(std::string_view op) { return HasPyprofPrice(kComparisons, op); }

bool PyprofBroadcasts(const std::vector<PyprofPriceShape>& shapes) {
  size_t rank = 0;
  for (const PyprofPriceShape& shape : shapes) rank = std::max(rank, shape.size());
  for (size_t i = 1; i <= rank; ++i) {
    int64_t extent = 1;
    for (const PyprofPriceShape& shape : shapes) {
      if (shape.size() < i || shape[shape.size() - i] == 1) continue;
      const int64_t other = shape[shape.size() - i];
      if (extent != 1 && other != extent) return false;
      extent = other;
    }
  }
  return true;
}

bool HasPyprofWord(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) {
      return true;
    }
  }
  return false;
}

}  // namespace oplens::annotate::torch
