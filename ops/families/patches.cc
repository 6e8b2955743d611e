// Patches of an image as columns of a matrix.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/window.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

constexpr size_t kDimensions = 2;

struct Steps {
  std::vector<int64_t> kernel, dilation, padding, stride;

  Checked Taps() const { return Elements(kernel); }
  std::string Text() const {
    return fmt::format("k={},s={},p={},d={}", TupleText(kernel), TupleText(stride),
                       TupleText(padding), TupleText(dilation));
  }
};

std::vector<int64_t> ReadPatchesPair(CallArgs* args, size_t parameter, int64_t absent) {
  const auto values = PerDimension(args->FindInts(parameter), kDimensions, absent);
  if (!values) args->Fail(Reason::kUnsupportedArgs);
  return values.value_or(std::vector<int64_t>(kDimensions, absent));
}

// In the order kernel, dilation, padding, stride.
Steps ReadPatchesSteps(CallArgs* args, size_t first) {
  Steps steps;
  if (args->Find(first) == nullptr) args->Fail(Reason::kUnsupportedArgs);
  steps.kernel = ReadPatchesPair(args, first, 1);
  steps.dilation = ReadPatchesPair(args, first + 1, 1);
  steps.padding = ReadPatchesPair(args, first + 2, 0);
  steps.stride = ReadPatchesPair(args, first + 3, 1);
  return steps;
}

// The number of patches of an image; nullopt with a reason if it has none.
std::optional<Checked> CountPatches(const Steps& steps, Shape extents, Reason* reason) {
  Checked patches = 1;
  for (size_t i = 0; i < kDimensions; ++i) {
    const Window window{steps.kernel[i], steps.stride[i], steps.padding[i], steps.padding[i],
                        steps.dilation[i]};
    *reason = window.Valid() ? Reason::kShapeMismatch : Reason::kUnsupportedArgs;
    const std::optional<int64_t> count = WindowCount(extents[i], window);
    if (!count) return std::nullopt;
    patches *= *count;
  }
  return patches;
}

// Elements of an image of these extents that any of its patches holds.
Checked CoveredElements(const Steps& steps, Shape extents) {
  Checked elements = 1;
  for (size_t i = 0; i < kDimensions; ++i) {
    const Window window{steps.kernel[i], steps.stride[i], steps.padding[i], steps.padding[i],
                        steps.dilation[i]};
    const int64_t positions = WindowCount(extents[i], window).value_or(0);
    elements *= WindowCover(extents[i], positions, steps.kernel[i]);
  }
  return elements;
}

}  // namespace

PriceResult PriceUnfold(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input|self", "kernel_size", "dilation", "padding", "stride"});
  const Tensor x = args.RequireTensor(0);
  const Steps steps = ReadPatchesSteps(&args, 1);
  if (args.failed()) return Unpriced(args.reason());
  const size_t rank = x.shape.size();
  if (rank != 3 && rank != 4) return Unpriced(Reason::kShapeMismatch);
  Reason reason;
  const std::optional<Checked> patches = CountPatches(steps, x.shape.last(kDimensions), &reason);
  if (!patches) return Unpriced(reason);
  const Checked columns = Elements(x.shape.first(rank - kDimensions)) * steps.Taps() * *patches;
  const Checked written = BytesOf(columns, x.dtype);
  const Checked read = Elements(x.shape.first(rank - kDimensions)) *
                       CoveredElements(steps, x.shape.last(kDimensions));
  PriceResult result =
      Priced(fmt::format("{},{}", NamedTensorText(x), steps.Text()),
             Work{0, 0, BytesOf(read, x.dtype) + written}, Work{0, columns, x.bytes() + written});
  result.price->vec_estimated = false;
  return result;
}

PriceResult PriceFold(std::string_view, const OpCall& call) {
  CallArgs args(call,
                {"input|self", "output_size", "kernel_size", "dilation", "padding", "stride"});
  const Tensor x = args.RequireTensor(0);
  if (args.Find(1) == nullptr) args.Fail(Reason::kUnsupportedArgs);
  const std::vector<int64_t> output = ReadPatchesPair(&args, 1, 1);
  const Steps steps = ReadPatchesSteps(&args, 2);
  if (args.failed()) return Unpriced(args.reason());
  if (output[0] < 0 || output[1] < 0) return Unpriced(Reason::kUnsupportedArgs);
  Reason reason;
  const std::optional<Checked> patches = CountPatches(steps, output, &reason);
  if (!patches) return Unpriced(reason);
  const size_t rank = x.shape.size();
  const std::optional<int64_t> taps = steps.Taps().Value();
  if ((rank != 2 && rank != 3) || !taps || x.shape[rank - 2] % *taps != 0 ||
      !(*patches == Checked(x.shape[rank - 1]))) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked images = Elements(x.shape.first(rank - 1)) / *taps;
  const Checked all = BytesOf(images * Elements(output), x.dtype);
  const Checked covered = BytesOf(images * CoveredElements(steps, output), x.dtype);
  PriceResult result =
      Priced(fmt::format("{},o={},{}", NamedTensorText(x), TupleText(output), steps.Text()),
             Work{0, x.elements(), x.bytes() + all}, Work{0, 0, covered + x.bytes()});
  result.price->vec_estimated = false;
  return result;
}

}  // namespace oplens::ops
