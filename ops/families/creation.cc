// Creating or overwriting tensors without reading others: one write.

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/list_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// The largest count that a double represents exactly.
constexpr double kMaxExactCount = 9007199254740992.0;

PriceResult PricedWrite(Shape shape, DType type) {
  return Priced(TensorText(shape, type), {0, 0, BytesOf(Elements(shape), type)},
                std::vector<PartWork>());
}

// zeros(sizes), ones(sizes); new_zeros(self, sizes) and new_ones inherit self's type.
PriceResult PriceCreationSized(std::string_view op, const OpCall& call) {
  const bool method = op.starts_with("new_");
  DType inherited = DType::kFloat32;
  if (method) {
    Reason reason = Reason::kUnsupportedArgs;
    const auto self = call.args.empty() ? std::nullopt : TensorOf(call.args.front(), &reason);
    if (!self) return Unpriced(reason);
    inherited = self->dtype;
  }
  size_t next = 0;
  const auto sizes = ReadSizes(call, method ? 1 : 0, &next);
  if (!sizes) return Unpriced(Reason::kUnsupportedArgs);
  DType type;
  if (!ReadDType(call, inherited, &type)) return Unpriced(Reason::kUnknownDType);
  PriceResult result = PricedWrite(*sizes, type);
  if (op.ends_with("empty")) result.price->forward.front().work = Work();
  return result;
}

// full(size, value): the type follows the value.
PriceResult PriceFull(std::string_view, const OpCall& call) {
  size_t next = 0;
  const auto sizes = ReadSizes(call, 0, &next);
  if (!sizes || next >= call.args.size() || !IsNumber(call.args[next])) {
    return Unpriced(Reason::kUnsupportedArgs);
  }
  Reason reason;
  DType type;
  if (!ReadDType(call, TensorOf(call.args[next], &reason)->dtype, &type)) {
    return Unpriced(Reason::kUnknownDType);
  }
  return PricedWrite(*sizes, type);
}

// zeros_like(x), zero_(x), fill_(x, value): x's size.
PriceResult PriceCreationLike(std::string_view op, const OpCall& call) {
  Reason reason = Reason::kUnsupportedArgs;
  const auto x = call.args.empty() ? std::nullopt : TensorOf(call.args.front(), &reason);
  if (!x) return Unpriced(reason);
  DType type;
  if (!ReadDType(call, x->dtype, &type)) return Unpriced(Reason::kUnknownDType);
  PriceResult result = PricedWrite(x->shape, type);
  if (op == "empty_like") result.price->forward.front().work = Work();
  return result;
}

PriceResult PriceEye(std::string_view, const OpCall& call) {
  CallArgs args(call, {"n", "m"});
  const int64_t n = args.IntOr(0, -1);
  const int64_t m = args.IntOr(1, n);
  if (args.failed() || n < 0 || m < 0) return Unpriced(Reason::kUnsupportedArgs);
  DType type;
  if (!ReadDType(call, DType::kFloat32, &type)) return Unpriced(Reason::kUnknownDType);
  const int64_t shape[] = {n, m};
  return PricedWrite(shape, type);
}

// ceil((end - start) / step), exactly for integers.
std::optional<int64_t> RangeCount(const OpArg* start, const OpArg& end, const OpArg* step) {
  const bool exact = (start == nullptr || start->kind == OpArg::Kind::kInt) &&
                     end.kind == OpArg::Kind::kInt &&
                     (step == nullptr || step->kind == OpArg::Kind::kInt);
  if (exact) {
    const int64_t by = step == nullptr ? 1 : step->int_value;
    if (by == 0) return std::nullopt;
    const Checked span = Checked(end.int_value) - (start == nullptr ? 0 : start->int_value);
    const Checked ceiling = (span + (by > 0 ? Checked(by) - 1 : Checked(by) + 1)) / by;
    const std::optional<int64_t> count = ceiling.Value();
    return count && *count >= 0 ? count : std::nullopt;
  }
  const double from = start == nullptr ? 0 : NumberOf(*start);
  const double by = step == nullptr ? 1 : NumberOf(*step);
  const double count = std::ceil((NumberOf(end) - from) / by);
  if (!(count >= 0 && count <= kMaxExactCount)) return std::nullopt;
  return static_cast<int64_t>(count);
}

// arange(end), arange(start, end, step): int64 unless a bound or the step is a float.
PriceResult PriceArange(std::string_view, const OpCall& call) {
  CallArgs args(call, {"start", "end", "step"});
  const OpArg* start = args.Find(0);
  const OpArg* end = args.Find(1);
  const OpArg* step = args.Find(2);
  if (end == nullptr) std::swap(start, end);
  if (args.failed() || end == nullptr) return Unpriced(Reason::kUnsupportedArgs);
  DType type = DType::kInt64;
  for (const OpArg* arg : {start, end, step}) {
    if (arg == nullptr) continue;
    if (!IsNumber(*arg)) return Unpriced(Reason::kUnsupportedArgs);
    if (arg->kind == OpArg::Kind::kFloat) type = DType::kFloat32;
  }
  const std::optional<int64_t> count = RangeCount(start, *end, step);
  if (!count) return Unpriced(Reason::kUnsupportedArgs);
  if (!ReadDType(call, type, &type)) return Unpriced(Reason::kUnknownDType);
  return PricedWrite({&*count, 1}, type);
}

PriceResult PriceLinspace(std::string_view, const OpCall& call) {
  CallArgs args(call, {"start", "end", "steps", "base"});
  const int64_t count = args.IntOr(2, 100);
  if (args.failed() || count < 0) return Unpriced(Reason::kUnsupportedArgs);
  DType type;
  if (!ReadDType(call, DType::kFloat32, &type)) return Unpriced(Reason::kUnknownDType);
  return PricedWrite({&count, 1}, type);
}

constexpr std::string_view kCreationSizedNames[] = {"zeros",     "ones",     "empty",
                                                    "new_zeros", "new_ones", "new_empty"};
constexpr std::string_view kFullNames[] = {"full"};
constexpr std::string_view kCreationLikeNames[] = {"zeros_like", "ones_like", "empty_like",
                                                   "full_like",  "zero",      "fill"};
constexpr std::string_view kEyeNames[] = {"eye"};
constexpr std::string_view kArangeNames[] = {"arange"};
constexpr std::string_view kLinspaceNames[] = {"linspace"};
constexpr OpModel kCreationModels[] = {
    {kCreationSizedNames, PriceCreationSized},
    {kFullNames, PriceFull},
    {kCreationLikeNames, PriceCreationLike},
    {kEyeNames, PriceEye},
    {kArangeNames, PriceArange},
    {kLinspaceNames, PriceLinspace},
};

}  // namespace

std::span<const OpModel> CreationOps() { return kCreationModels; }

}  // namespace oplens::ops
