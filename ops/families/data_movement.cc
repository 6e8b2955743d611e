// Views, copies and conversions: no FLOPs, only bytes.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/op_model.h"
#include "ops/pricing.h"
#include "ops/tensor.h"
#include "parse/model/op_call.h"

namespace oplens::ops {
namespace {

// dY is read and dX written whole.
Work Fill(const Tensor& x, Checked elements) {
  return {0, 0, BytesOf(elements, x.dtype) + x.bytes()};
}

// As Fill; elements of dY that fall on one of dX are added up.
Work AddUp(const Tensor& x, Checked elements) {
  Work work = Fill(x, elements);
  work.vec = elements;
  return work;
}

std::optional<int64_t> ExtentOf(const Tensor& x, CallArgs* args, size_t parameter, int64_t absent) {
  const std::optional<size_t> dim = DimIndex(args->IntOr(parameter, absent), x.shape.size());
  if (args->failed() || !dim || x.shape.empty()) return std::nullopt;
  return x.shape[*dim];
}

// Of `length` elements along a dimension of that extent.
std::optional<Work> FillSlice(const Tensor& x, int64_t extent, int64_t length) {
  if (length < 0 || length > extent) return std::nullopt;
  if (extent == 0) return Fill(x, 0);
  return Fill(x, x.elements() / extent * length);
}

// ---- parts ----

std::optional<Work> OfSelect(const OpCall& call, const Tensor& x) {
  CallArgs args(call, {"input|self", "dim", "index"});
  const auto extent = ExtentOf(x, &args, 1, INT64_MAX);
  return extent ? FillSlice(x, *extent, 1) : std::nullopt;
}

std::optional<Work> OfNarrow(const OpCall& call, const Tensor& x) {
  CallArgs args(call, {"input|self", "dim", "start", "length"});
  const auto extent = ExtentOf(x, &args, 1, INT64_MAX);
  const int64_t length = args.IntOr(3, -1);
  if (!extent || args.failed()) return std::nullopt;
  return FillSlice(x, *extent, length);
}

// A bound of a slice, negative ones counted from the end, within 0 and the extent.
int64_t ViewGradientBound(int64_t value, int64_t extent) {
  if (value < 0) value += extent;  // Cannot overflow: the signs differ.
  return std::clamp<int64_t>(value, 0, extent);
}

// slice(x, dim, start, end, step)
std::optional<Work> OfSlice(const OpCall& call, const Tensor& x) {
  CallArgs args(call, {"input|self", "dim", "start", "end", "step"});
  const auto extent = ExtentOf(x, &args, 1, 0);
  if (!extent) return std::nullopt;
  const int64_t start = ViewGradientBound(args.IntOr(2, 0), *extent);
  const int64_t end = ViewGradientBound(args.IntOr(3, INT64_MAX), *extent);
  const int64_t step = args.IntOr(4, 1);
  if (args.failed() || step <= 0) return std::nullopt;
  const int64_t span = std::max<int64_t>(end - start, 0);
  return FillSlice(x, *extent, span / step + (span % step != 0 ? 1 : 0));
}

std::optional<Work> OfDiagonal(const OpCall& call, const Tensor& x) {
  CallArgs args(call, {"input|self", "offset", "dim1", "dim2"});
  const auto rows = ExtentOf(x, &args, 2, 0);
  const auto columns = ExtentOf(x, &args, 3, 1);
  const int64_t offset = args.IntOr(1, 0);
  if (args.failed() || !rows || !columns) return std::nullopt;
  if (DimIndex(args.IntOr(2, 0), x.shape.size()) == DimIndex(args.IntOr(3, 1), x.shape.size())) {
    return std::nullopt;
  }
  const Checked below = Checked(*rows) + std::min<int64_t>(offset, 0);
  const Checked right = Checked(*columns) - std::max<int64_t>(offset, 0);
  const int64_t length =
      std::max<int64_t>(std::min(below.Value().value_or(0), right.Value().value_or(0)), 0);
  if (*rows == 0 || *columns == 0) return Fill(x, 0);
  return Fill(x, x.elements() / *rows / *columns * length);
}

// All parts together are as large as x.
std::optional<Work> OfParts(const OpCall&, const Tensor& x) { return Fill(x, x.elements()); }

// ---- elements that appear more than once ----

std::optional<Work> OfExpanded(const Tensor& x, Checked elements) {
  return elements == x.elements() ? Work() : AddUp(x, elements);
}

// expand(x, sizes): -1 keeps an extent.
std::optional<Work> OfExpand(const OpCall& call, const Tensor& x) {
  std::vector<int64_t> sizes;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const OpArg& arg = call.args[i];
    if (arg.kind == OpArg::Kind::kInt) sizes.push_back(arg.int_value);
    if (arg.kind == OpArg::Kind::kIntList) sizes = arg.int_list;
  }
  if (sizes.empty() || sizes.size() < x.shape.size()) return std::nullopt;
  const size_t added = sizes.size() - x.shape.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && i >= added) sizes[i] = x.shape[i - added];
    if (sizes[i] < 0) return std::nullopt;
    if (i >= added && x.shape[i - added] != 1 && x.shape[i - added] != sizes[i]) {
      return std::nullopt;
    }
  }
  return OfExpanded(x, Elements(sizes));
}

std::optional<Work> OfExpandAs(const OpCall& call, const Tensor& x) {
  CallArgs args(call, {"input|self", "other"});
  const Tensor other = args.RequireTensor(1);
  if (args.failed() || !Broadcast({x.shape, other.shape})) return std::nullopt;
  return OfExpanded(x, other.elements());
}

// unfold(x, dim, size, step): windows, which overlap where the step is smaller.
std::optional<Work> OfUnfold(const OpCall& call, const Tensor& x) {
  CallArgs args(call, {"input|self", "dimension|dim", "size", "step"});
  const auto extent = ExtentOf(x, &args, 1, INT64_MAX);
  const int64_t size = args.IntOr(2, -1);
  const int64_t step = args.IntOr(3, 0);
  if (args.failed() || !extent || *extent == 0 || size < 0 || size > *extent || step <= 0) {
    return std::nullopt;
  }
  return AddUp(x, x.elements() / *extent * ((*extent - size) / step + 1) * size);
}

// as_strided(x, size, stride): an element of dX may get several of dY.
std::optional<Work> OfStrided(const OpCall& call, const Tensor& x) {
  CallArgs args(call, {"input|self", "size", "stride", "storage_offset"});
  const auto sizes = args.FindInts(1);
  if (args.failed() || !sizes ||
      std::any_of(sizes->begin(), sizes->end(), [](int64_t size) { return size < 0; })) {
    return std::nullopt;
  }
  return Fill(x, Elements(*sizes));
}

struct ViewGradientRule {
  std::string_view name;
  std::optional<Work> (*gradient)(const OpCall& call, const Tensor& x);
};

constexpr ViewGradientRule kViewGradientRules[] = {
    {"expand", OfExpand},      {"broadcast_to", OfExpand}, {"expand_as", OfExpandAs},
    {"narrow", OfNarrow},      {"slice", OfSlice},         {"select", OfSelect},
    {"diagonal", OfDiagonal},  {"as_strided", OfStrided},  {"unfold", OfUnfold},
    {"unbind", OfParts},       {"split", OfParts},         {"split_with_sizes", OfParts},
    {"tensor_split", OfParts}, {"chunk", OfParts},         {"unsafe_split", OfParts},
    {"unsafe_chunk", OfParts}, {"hsplit", OfParts},        {"vsplit", OfParts},
    {"dsplit", OfParts},
};

// slice_backward(dY, sizes, ..), and those of select, diagonal and unfold: dX has the sizes.
PriceResult PriceViewGradient(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"grad_output|grad|grad_in", "input_sizes", "-", "-", "-", "-"});
  const Tensor dy = args.RequireTensor(0);
  const auto sizes = args.FindInts(1);
  if (!sizes || std::any_of(sizes->begin(), sizes->end(), [](int64_t size) { return size < 0; })) {
    args.Fail(Reason::kUnsupportedArgs);
  }
  if (args.failed()) return Unpriced(args.reason());
  const Tensor x{*sizes, dy.dtype, false};
  const Work work = op == "unfold" ? AddUp(x, dy.elements()) : Fill(x, dy.elements());
  return Priced(NamedTensorText(dy), work, std::vector<PartWork>());
}

constexpr std::string_view kViewGradientNames[] = {"slice", "select", "diagonal", "unfold"};
constexpr OpModel kViewGradientGradients[] = {{kViewGradientNames, PriceViewGradient}};

/// The backward of a view that is not one itself: of a part of `x` (slice, select, narrow, ...) dX
/// is filled with zeros but for dY; of all parts (split, chunk, unbind) dX is put together; of an
/// expanded x dY is added up. nullopt when the arguments do not tell the size of dY.
std::optional<Work> ViewGradient(std::string_view op, const OpCall& call, const Tensor& x) {
  const ViewGradientRule* rule = FindRow(kViewGradientRules, op);
  return rule == nullptr ? std::nullopt : rule->gradient(call, x);
}

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

std::span<const OpModel> ViewGradients() { return kViewGradientGradients; }

}  // namespace oplens::ops
