// Views, copies and conversions: no FLOPs, only bytes.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/patches.h"
#include "ops/families/view_gradient.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

Work DataMovementMove(Checked bytes) { return {0, 0, bytes}; }

// ---- views ----

struct ViewOp {
  std::string_view name;
  bool may_copy;       // Copies when the strides do not allow a view.
  bool view_gradient;  // The gradient is a view too.
};

constexpr ViewOp kViews[] = {
    {"view", false, true},
    {"view_as", false, true},
    {"reshape", true, true},
    {"reshape_as", true, true},
    {"flatten", true, true},
    {"ravel", true, true},
    {"unflatten", false, true},
    {"t", false, true},
    {"transpose", false, true},
    {"permute", false, true},
    {"movedim", false, true},
    {"swapaxes", false, true},
    {"swapdims", false, true},
    {"squeeze", false, true},
    {"unsqueeze", false, true},
    {"detach", false, true},
    {"alias", false, true},
    {"expand", false, false},
    {"expand_as", false, false},
    {"narrow", false, false},
    {"slice", false, false},
    {"select", false, false},
    {"unbind", false, false},
    {"split", false, false},
    {"split_with_sizes", false, false},
    {"tensor_split", false, false},
    {"chunk", false, false},
    {"unfold", false, false},
    {"diagonal", false, false},
    {"as_strided", false, false},
    {"broadcast_to", false, false},
    {"unsafe_split", false, false},
    {"unsafe_chunk", false, false},
    {"hsplit", false, false},
    {"vsplit", false, false},
    {"dsplit", false, false},
    {"moveaxis", false, true},
    {"view_as_real", false, true},
    {"view_as_complex", false, true},
    {"real", false, false},
    {"imag", false, false},
    {"resolve_conj", false, true},
    {"resolve_neg", false, true},
    {"conj", false, true},
    {"lift_fresh", false, true},
};

std::optional<Tensor> FirstTensor(const OpCall& call, Reason* reason) {
  *reason = Reason::kUnsupportedArgs;
  return call.args.empty() ? std::nullopt : TensorOf(call.args.front(), reason);
}

PriceResult PriceView(std::string_view op, const OpCall& call) {
  const ViewOp* row = FindRow(kViews, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  // torch.nn.functional.unfold gathers patches; only the method is a view.
  if (op == "unfold" && call.mod == "torch.nn.functional") return PriceUnfold(op, call);
  Reason reason;
  const std::optional<Tensor> x = FirstTensor(call, &reason);
  if (!x) return Unpriced(reason);
  std::vector<PartWork> backward;
  const std::optional<Work> gradient = row->view_gradient ? Work() : ViewGradient(op, call, *x);
  if (gradient) backward.push_back({Part::kBackward, *gradient});
  PriceResult result = Priced(NamedTensorText(*x), Work(), std::move(backward));
  result.price->op_class = OpClass::kView;
  if (row->may_copy) result.price->bytes_if_copied = x->bytes() * 2;
  return result;
}

// ---- copies ----

PriceResult PricedCopy(std::string params, Checked source, Checked target, Work gradient) {
  PriceResult result = Priced(std::move(params), DataMovementMove(source + target), gradient);
  result.price->source_bytes = source;
  return result;
}

// clone, contiguous and the like: X is read, a tensor of its shape and type is written. The
// gradient is dY itself.
PriceResult PriceClone(std::string_view, const OpCall& call) {
  Reason reason;
  const std::optional<Tensor> x = FirstTensor(call, &reason);
  if (!x) return Unpriced(reason);
  return PricedCopy(NamedTensorText(*x), x->bytes(), x->bytes(), Work());
}

// The gradient of a conversion converts back; without a change of type it is dY itself.
Work ConversionGradient(DType from, DType to, Checked bytes) {
  return from == to ? Work() : DataMovementMove(bytes);
}

// copy_(self, src): src may broadcast; a number fills.
PriceResult PriceCopy(std::string_view, const OpCall& call) {
  CallArgs args(call, {"self|input", "src|other", "non_blocking"});
  const Tensor target = args.RequireTensor(0);
  const Tensor source = args.RequireTensor(1);
  if (args.failed()) return Unpriced(args.reason());
  const auto shape = Broadcast({target.shape, source.shape});
  if (!shape || !(Elements(*shape) == target.elements())) return Unpriced(Reason::kShapeMismatch);
  const Checked read = source.number ? Checked(0) : source.bytes();
  std::string params = "T=" + TupleText(target.shape) + ',';
  params += DTypeWord(source.dtype);
  params += ',';
  params += DTypeWord(target.dtype);
  return PricedCopy(std::move(params), read, target.bytes(),
                    ConversionGradient(source.dtype, target.dtype, read + target.bytes()));
}

// ---- conversions ----

PriceResult PricedConversion(const Tensor& x, DType to) {
  const Checked written = BytesOf(x.elements(), to);
  return PricedCopy(TensorText(x), x.bytes(), written,
                    ConversionGradient(x.dtype, to, x.bytes() + written));
}

struct NamedConversion {
  std::string_view name;
  DType type;
};

constexpr NamedConversion kConversions[] = {
    {"half", DType::kFloat16},    {"bfloat16", DType::kBFloat16}, {"float", DType::kFloat32},
    {"double", DType::kFloat64},  {"byte", DType::kUInt8},        {"char", DType::kInt8},
    {"short", DType::kInt16},     {"int", DType::kInt32},         {"long", DType::kInt64},
    {"bool", DType::kBool},       {"cfloat", DType::kComplex64},  {"cdouble", DType::kComplex128},
    {"chalf", DType::kComplex32},
};

PriceResult PriceNamedConversion(std::string_view op, const OpCall& call) {
  const NamedConversion* row = FindRow(kConversions, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  Reason reason;
  const std::optional<Tensor> x = FirstTensor(call, &reason);
  return x ? PricedConversion(*x, row->type) : Unpriced(reason);
}

bool IsDeviceText(std::string_view text) {
  return text.starts_with("cuda") || text.starts_with("cpu");
}

// The type that an argument of to() asks for. nullopt: none. A device, by name or by number, keeps
// the type.
std::optional<DType> TargetType(const OpArg& arg, DType from, Reason* failure, bool* failed) {
  switch (arg.kind) {
    case OpArg::Kind::kInt:
      return from;
    case OpArg::Kind::kString:
      if (IsDeviceText(arg.text)) return from;
      if (const std::optional<DType> type = ParseDType(arg.text)) return type;
      *failure = Reason::kUnknownDType;
      *failed = true;
      return std::nullopt;
    case OpArg::Kind::kTensor: {
      const std::optional<Tensor> other = TensorOf(arg, failure);
      *failed = !other;
      return other ? std::optional(other->dtype) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// to(dtype), to(device, dtype), to(other), type("torch.cuda.HalfTensor"), type_as(other). The
// annotation drops arguments of other kinds, so that without any left the target is not known.
PriceResult PriceTo(std::string_view, const OpCall& call) {
  Reason reason;
  const std::optional<Tensor> x = FirstTensor(call, &reason);
  if (!x) return Unpriced(reason);
  std::optional<DType> target;
  bool failed = false;
  for (size_t i = 1; i < call.args.size() && !failed; ++i) {
    const std::optional<DType> asked = TargetType(call.args[i], x->dtype, &reason, &failed);
    if (asked && (!target || *asked != x->dtype)) target = asked;
  }
  if (failed) return Unpriced(reason);
  return target ? PricedConversion(*x, *target) : Unpriced(Reason::kUnsupportedArgs);
}

constexpr auto kViewNames = NamesOf(kViews);
constexpr std::string_view kCloneNames[] = {"clone", "contiguous", "pin_memory", "cuda", "cpu"};
constexpr std::string_view kCopyNames[] = {"copy"};
constexpr auto kConversionNames = NamesOf(kConversions);
constexpr std::string_view kToNames[] = {"to", "type", "type_as"};
constexpr OpModel kDataMovementModels[] = {
    {kViewNames, PriceView}, {kCloneNames, PriceClone},
    {kCopyNames, PriceCopy}, {kConversionNames, PriceNamedConversion},
    {kToNames, PriceTo},
};

}  // namespace

std::span<const OpModel> DataMovementOps() { return kDataMovementModels; }

}  // namespace oplens::ops
