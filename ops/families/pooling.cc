
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/window.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

enum class PoolingKind : uint8_t { kMax, kAverage, kPower };

struct PoolOp {
  std::string_view name;
  PoolingKind kind;
  size_t dimensions;
  bool adaptive = false;
};

constexpr PoolOp kWindowOps[] = {
    {"max_pool1d", PoolingKind::kMax, 1},     {"max_pool2d", PoolingKind::kMax, 2},
    {"max_pool3d", PoolingKind::kMax, 3},     {"avg_pool1d", PoolingKind::kAverage, 1},
    {"avg_pool2d", PoolingKind::kAverage, 2}, {"avg_pool3d", PoolingKind::kAverage, 3},
    {"lp_pool1d", PoolingKind::kPower, 1},    {"lp_pool2d", PoolingKind::kPower, 2},
    {"lp_pool3d", PoolingKind::kPower, 3},
};

constexpr PoolOp kAdaptiveOps[] = {
    {"adaptive_max_pool1d", PoolingKind::kMax, 1, true},
    {"adaptive_max_pool2d", PoolingKind::kMax, 2, true},
    {"adaptive_max_pool3d", PoolingKind::kMax, 3, true},
    {"adaptive_avg_pool1d", PoolingKind::kAverage, 1, true},
    {"adaptive_avg_pool2d", PoolingKind::kAverage, 2, true},
    {"adaptive_avg_pool3d", PoolingKind::kAverage, 3, true},
};

const PoolOp* FindOp(std::string_view name) {
  const PoolOp* op = FindRow(kWindowOps, name);
  return op == nullptr ? FindRow(kAdaptiveOps, name) : op;
}

// lp_pool, per output: sign, absolute value, relu, product of both, times the window's size, and
// the root 20; per input: its power.
constexpr int kPowerOutput = 25;
constexpr int kPowerInput = 20;
constexpr int kSmallPowerInput = 1;

// Input and output of a pooling, with or without batch.
struct Pooled {
  Tensor x;
  std::vector<int64_t> output;
  Checked taps = 1;  // Per window.
  Checked read;      // Elements of x in any window.
  std::string params;

  Checked outputs() const { return Elements(output); }
  Checked output_bytes() const { return BytesOf(outputs(), x.dtype); }
  Checked index_bytes() const { return BytesOf(outputs(), DType::kInt64); }
};

bool HasRank(const Tensor& x, size_t dimensions) {
  return x.shape.size() == dimensions + 1 || x.shape.size() == dimensions + 2;
}

// FLOPs of an average in either direction, and of the forward of a maximum.
Checked WindowFlops(const PoolOp& op, const Pooled& pooled) {
  if (!op.adaptive) return pooled.outputs() * pooled.taps;
  const size_t leading = pooled.x.shape.size() - op.dimensions;
  Checked members = Elements(pooled.x.shape.first(leading));
  for (size_t i = leading; i < pooled.output.size(); ++i) {
    members *= AdaptiveMembers(pooled.x.shape[i], pooled.output[i]);
  }
  // An average divides.
  return op.kind == PoolingKind::kAverage ? members + pooled.outputs() : members;
}

Work PoolingGradient(const PoolOp& op, const Pooled& pooled) {
  const Checked bytes = pooled.output_bytes() + pooled.x.bytes();
  if (op.kind == PoolingKind::kMax) return Work{0, pooled.outputs(), bytes + pooled.index_bytes()};
  return Work{0, WindowFlops(op, pooled), bytes};
}

PriceResult PricePooled(const PoolOp& op, const Pooled& pooled) {
  Work forward{0, WindowFlops(op, pooled),
               BytesOf(pooled.read, pooled.x.dtype) + pooled.output_bytes()};
  if (op.kind == PoolingKind::kMax) forward.bytes += pooled.index_bytes();
  std::vector<PartWork> backward;
  if (pooled.x.Differentiable() && op.kind != PoolingKind::kPower) {
    PartWork part;
    part.part = Part::kBackward;
    part.work = PoolingGradient(op, pooled);
    backward.push_back(std::move(part));
  }
  return Priced(pooled.params, forward, std::move(backward));
}

// Positions of the window's arguments.
struct WindowArguments {
  size_t kernel, stride, padding, dilation, ceil;
};

constexpr size_t kNone = SIZE_MAX;

std::vector<int64_t> ReadPoolingInts(CallArgs* args, size_t parameter, size_t dimensions,
                                     std::vector<int64_t> absent) {
  if (parameter == kNone) return absent;
  const auto given = args->FindInts(parameter);
  if (!given || given->empty()) return absent;
  const auto values = PerDimension(given, dimensions, 0);
  if (!values) args->Fail(Reason::kUnsupportedArgs);
  return values.value_or(absent);
}

// A window on padding only has no maximum, so at most half of its reach may be padded.
bool Exceeds(const Window& window, int64_t padding) {
  const std::optional<int64_t> reach = window.Reach().Value();
  return !reach || padding > *reach / 2;
}

std::optional<Pooled> ReadWindows(const PoolOp& op, const WindowArguments& at, CallArgs* args) {
  Pooled pooled;
  pooled.x = args->RequireTensor(0);
  const size_t d = op.dimensions;
  if (args->Find(at.kernel) == nullptr) args->Fail(Reason::kUnsupportedArgs);
  const std::vector<int64_t> kernel =
      ReadPoolingInts(args, at.kernel, d, std::vector<int64_t>(d, 1));
  const std::vector<int64_t> stride = ReadPoolingInts(args, at.stride, d, kernel);
  const std::vector<int64_t> padding =
      ReadPoolingInts(args, at.padding, d, std::vector<int64_t>(d, 0));
  const std::vector<int64_t> dilation =
      ReadPoolingInts(args, at.dilation, d, std::vector<int64_t>(d, 1));
  const bool ceil = args->BoolOr(at.ceil, false);
  if (!args->failed() && !HasRank(pooled.x, d)) args->Fail(Reason::kShapeMismatch);
  if (args->failed()) return std::nullopt;

  const size_t leading = pooled.x.shape.size() - d;
  pooled.output.assign(pooled.x.shape.begin(), pooled.x.shape.end());
  pooled.read = Elements(pooled.x.shape.first(leading));
  for (size_t i = 0; i < d; ++i) {
    const Window window{kernel[i], stride[i], padding[i], padding[i], dilation[i]};
    if (!window.Valid() || Exceeds(window, padding[i])) args->Fail(Reason::kUnsupportedArgs);
    const std::optional<int64_t> count = WindowCount(pooled.x.shape[leading + i], window, ceil);
    if (!count) args->Fail(Reason::kShapeMismatch);
    if (args->failed()) return std::nullopt;
    pooled.output[leading + i] = *count;
    // The power of lp_pool is a pass of its own over all of x.
    const int64_t extent = pooled.x.shape[leading + i];
    pooled.read *= op.kind == PoolingKind::kPower ? extent : WindowCover(extent, *count, kernel[i]);
    pooled.taps *= kernel[i];
  }
  pooled.params = fmt::format("{},k={},s={},p={}", NamedTensorText(pooled.x), TupleText(kernel),
                              TupleText(stride), TupleText(padding));
  return pooled;
}

PriceResult PriceWindows(std::string_view name, const OpCall& call) {
  const PoolOp* op = FindRow(kWindowOps, name);
  if (op == nullptr) return Unpriced(Reason::kUnknownOp);
  const bool max = op->kind == PoolingKind::kMax;
  CallArgs args = max ? CallArgs(call, {"input|self", "kernel_size", "stride", "padding",
                                        "dilation", "ceil_mode", "return_indices"})
                      : CallArgs(call, {"input|self", "kernel_size", "stride", "padding",
                                        "ceil_mode", "count_include_pad", "divisor_override"});
  const std::optional<Pooled> pooled =
      ReadWindows(*op, WindowArguments{1, 2, 3, max ? 4 : kNone, max ? 5u : 4u}, &args);
  return pooled ? PricePooled(*op, *pooled) : Unpriced(args.reason());
}

// (mean(x^p) k)^(1/p), with the average pooling inside.
PriceResult PricePower(std::string_view name, const OpCall& call) {
  const PoolOp* op = FindRow(kWindowOps, name);
  if (op == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"input", "norm_type", "kernel_size", "stride", "ceil_mode"});
  if (args.Find(1) == nullptr) args.Fail(Reason::kUnsupportedArgs);
  const double power = args.NumberOr(1, 0);
  const std::optional<Pooled> pooled =
      ReadWindows(*op, WindowArguments{2, 3, kNone, kNone, 4}, &args);
  if (!pooled) return Unpriced(args.reason());
  PriceResult result = PricePooled(*op, *pooled);
  const bool small = power == 1 || power == 2 || power == 3;
  result.price->forward.front().work.vec +=
      pooled->x.elements() * (small ? kSmallPowerInput : kPowerInput) +
      pooled->outputs() * kPowerOutput;
  return result;
}

PriceResult PriceAdaptive(std::string_view name, const OpCall& call) {
  const PoolOp* op = FindRow(kAdaptiveOps, name);
  if (op == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"input|self", "output_size", "return_indices"});
  Pooled pooled;
  pooled.x = args.RequireTensor(0);
  const auto sizes = PerDimension(args.FindInts(1), op->dimensions, -1);
  if (!sizes || std::any_of(sizes->begin(), sizes->end(), [](int64_t size) { return size < 0; })) {
    args.Fail(Reason::kUnsupportedArgs);
  }
  if (!args.failed() && !HasRank(pooled.x, op->dimensions)) args.Fail(Reason::kShapeMismatch);
  if (args.failed()) return Unpriced(args.reason());
  pooled.output.assign(pooled.x.shape.begin(), pooled.x.shape.end());
  std::copy(sizes->begin(), sizes->end(),
            pooled.output.end() - static_cast<ptrdiff_t>(sizes->size()));
  pooled.read = pooled.x.elements();
  pooled.params = fmt::format("{},o={}", NamedTensorText(pooled.x), TupleText(*sizes));
  return PricePooled(*op, pooled);
}

// dY gives the output's sizes, which suffice for all gradients except avg_pool's.
PriceResult PriceFromShapes(const PoolOp& op, const Tensor& y, const Tensor& x) {
  if (y.shape.size() != x.shape.size() || !HasRank(x, op.dimensions)) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const auto leading = static_cast<ptrdiff_t>(x.shape.size() - op.dimensions);
  if (!std::equal(x.shape.begin(), x.shape.begin() + leading, y.shape.begin())) {
    return Unpriced(Reason::kShapeMismatch);
  }
  Pooled pooled;
  pooled.x = x;
  pooled.output.assign(y.shape.begin(), y.shape.end());
  const Shape sizes = y.shape.subspan(static_cast<size_t>(leading));
  return Priced(fmt::format("{},o={}", NamedTensorText(x), TupleText(sizes)),
                PoolingGradient(op, pooled), std::vector<PartWork>());
}

// avg_pool2d_backward(dY, x, kernel, stride, padding, ceil_mode, ..)
PriceResult PriceAverageGradient(const PoolOp& op, const OpCall& call, const Tensor& y) {
  OpCall forward{call.mod, call.op, {}};
  for (size_t i = 1; i < call.args.size(); ++i) forward.args.push_back(call.args[i]);
  PriceResult result = PriceWindows(op.name, forward);
  if (!result.price) return result;
  PricedOp& price = *result.price;
  if (price.backward.empty()) return Unpriced(Reason::kUnsupportedArgs);
  const Work& work = price.backward.front().work;
  // dY does not have the shape that these windows give.
  Reason reason;
  const std::optional<Tensor> x = TensorOf(forward.args.front(), &reason);
  if (!x || !(work.bytes == x->bytes() + BytesOf(y.elements(), x->dtype))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  price.forward = std::exchange(price.backward, {});
  return result;
}

constexpr auto kWindowNames = [] {
  std::array<std::string_view, 6> names{};
  for (size_t i = 0; i < names.size(); ++i) names[i] = kWindowOps[i].name;
  return names;
}();
constexpr std::string_view kPowerNames[] = {"lp_pool1d", "lp_pool2d", "lp_pool3d"};
constexpr auto kAdaptiveNames = NamesOf(kAdaptiveOps);

constexpr OpModel kPoolingModels[] = {
    {kWindowNames, PriceWindows},
    {kPowerNames, PricePower},
    {kAdaptiveNames, PriceAdaptive},
};

}  // namespace

std::optional<PriceResult> PricePoolingGradient(std::string_view op, const OpCall& call) {
  const PoolOp* row = FindOp(op);
  if (row == nullptr || row->kind == PoolingKind::kPower) return std::nullopt;
  if (call.args.size() < 2) return Unpriced(Reason::kUnsupportedArgs);
  Reason reason;
  const std::optional<Tensor> y = TensorOf(call.args[0], &reason);
  if (!y) return Unpriced(reason);
  const std::optional<Tensor> x = TensorOf(call.args[1], &reason);
  if (!x) return Unpriced(reason);
  if (row->kind == PoolingKind::kAverage && !row->adaptive)
    return PriceAverageGradient(*row, call, *y);
  PriceResult result = PriceFromShapes(*row, *y, *x);
  if (result.price) result.price->forward.front().part = Part::kBackward;
  return result;
}

std::span<const OpModel> PoolingOps() { return kPoolingModels; }

}  // namespace oplens::ops
