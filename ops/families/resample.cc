// Ops that sample an image: interpolation, grids, regions.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

PartWork ResampleBackward(Work work) {
  PartWork part;
  part.part = Part::kBackward;
  part.work = work;
  return part;
}

// The forward and, for a differentiable tensor, the gradient.
PriceResult PricedSample(std::string params, const Tensor& x, Work forward, Work backward) {
  std::vector<PartWork> gradients;
  if (x.Differentiable()) gradients.push_back(ResampleBackward(backward));
  return Priced(std::move(params), forward, std::move(gradients));
}

// ---- interpolation ----

// FLOPs per output, both directions. Linear ones interpolate along one dimension after the other, 3
// each: 1, 1 + 2, 1 + 2 + 4 times. Bicubic: products and coefficients.
struct Mode {
  std::string_view name;
  int per_output;
  size_t dimensions;  // 0: any
  int64_t taps;       // Along a dimension.
};

constexpr Mode kResampleModes[] = {
    {"nearest", 0, 0, 1},  {"nearest-exact", 0, 0, 1}, {"linear", 3, 1, 2},
    {"bilinear", 9, 2, 2}, {"trilinear", 21, 3, 2},    {"bicubic", 35, 2, 4},
};

// Averages over the boxes of the outputs, as adaptive_avg_pool.
constexpr std::string_view kArea = "area";

struct Resized {
  Tensor x;
  std::vector<int64_t> sizes;  // Of the image, one per dimension.

  size_t dimensions() const { return sizes.size(); }
  Checked outputs() const { return Elements(x.shape.first(2)) * Elements(sizes); }
  Checked output_bytes() const { return BytesOf(outputs(), x.dtype); }
  // Of x, where each output reads `taps` elements along a dimension: not all if the image shrinks.
  Checked read_bytes(int64_t taps) const {
    Checked elements = Elements(x.shape.first(2));
    for (size_t i = 0; i < dimensions(); ++i) {
      elements *= WindowCover(x.shape[2 + i], sizes[i], taps);
    }
    return BytesOf(elements, x.dtype);
  }
};

// Windows that cover the image, as those of adaptive_avg_pool.
Work AreaWork(const Resized& resized) {
  Checked members = Elements(resized.x.shape.first(2));
  for (size_t i = 0; i < resized.dimensions(); ++i) {
    members *= AdaptiveMembers(resized.x.shape[2 + i], resized.sizes[i]);
  }
  return {0, members + resized.outputs(), resized.x.bytes() + resized.output_bytes()};
}

PriceResult PriceResized(const Resized& resized, std::string_view mode) {
  std::string params =
      fmt::format("{},o={},{}", NamedTensorText(resized.x), TupleText(resized.sizes), mode);
  if (mode == kArea) {
    const Work work = AreaWork(resized);
    return PricedSample(std::move(params), resized.x, work, work);
  }
  const Mode* row = FindRow(kResampleModes, mode);
  if (row == nullptr) return Unpriced(Reason::kUnsupportedArgs);
  if (row->dimensions != 0 && row->dimensions != resized.dimensions()) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked vec = resized.outputs() * row->per_output;
  const Checked written = resized.output_bytes();
  // The gradient is written whole, with zeros for elements that no output used.
  return PricedSample(std::move(params), resized.x,
                      Work{0, vec, resized.read_bytes(row->taps) + written},
                      Work{0, vec, resized.x.bytes() + written});
}

bool IsImage(const Tensor& x) { return x.shape.size() >= 3 && x.shape.size() <= 5; }

// floor(extent * scale) in each dimension.
std::optional<std::vector<int64_t>> ScaledSizes(Shape extents, const std::vector<double>& scales) {
  constexpr double kLimit = 9.0e18;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < extents.size(); ++i) {
    const double scale = scales.size() == 1 ? scales[0] : scales[i];
    const double size = std::floor(static_cast<double>(extents[i]) * scale);
    if (!(size >= 0 && size < kLimit)) return std::nullopt;
    sizes.push_back(static_cast<int64_t>(size));
  }
  return sizes;
}

// The factors of an argument: a number, or numbers, one per dimension.
std::vector<double> ScalesOf(const OpArg& arg) {
  if (IsNumber(arg)) return {NumberOf(arg)};
  if (arg.kind == OpArg::Kind::kFloatList) return arg.float_list;
  if (arg.kind != OpArg::Kind::kIntList) return {};
  return {arg.int_list.begin(), arg.int_list.end()};
}

std::optional<std::vector<int64_t>> ResampleSizes(const Tensor& x, CallArgs* args, size_t size,
                                                  const std::vector<double>& scales) {
  const Shape extents = x.shape.subspan(2);
  if (args->Find(size) == nullptr) {
    if (scales.size() != 1 && scales.size() != extents.size()) return std::nullopt;
    return ScaledSizes(extents, scales);
  }
  if (!scales.empty()) return std::nullopt;
  const auto sizes = PerDimension(args->FindInts(size), extents.size(), -1);
  const bool bad = !sizes || std::any_of(sizes->begin(), sizes->end(),
                                         [](int64_t extent) { return extent < 0; });
  return bad ? std::nullopt : sizes;
}

// An antialiasing filter has more taps where the image shrinks.
bool HasMoreTaps(const Resized& resized) {
  for (size_t i = 0; i < resized.dimensions(); ++i) {
    if (resized.sizes[i] < resized.x.shape[2 + i]) return true;
  }
  return false;
}

// interpolate and its older names.
PriceResult PriceInterpolate(std::string_view op, const OpCall& call) {
  CallArgs args(call, {"input", "size", "scale_factor", "mode", "align_corners",
                       "recompute_scale_factor", "antialias"});
  Resized resized;
  resized.x = args.RequireTensor(0);
  std::string mode = op == "upsample_bilinear" ? "bilinear" : "nearest";
  if (const OpArg* given = args.Find(3)) {
    if (given->kind != OpArg::Kind::kString) args.Fail(Reason::kUnsupportedArgs);
    mode = given->text;
  }
  if (!args.failed() && !IsImage(resized.x)) args.Fail(Reason::kShapeMismatch);
  if (args.failed()) return Unpriced(args.reason());
  std::vector<double> scales;
  if (const OpArg* scale = args.Find(2)) {
    scales = ScalesOf(*scale);
    if (scales.empty()) return Unpriced(Reason::kUnsupportedArgs);
  }
  const auto sizes = ResampleSizes(resized.x, &args, 1, scales);
  if (!sizes) return Unpriced(Reason::kUnsupportedArgs);
  resized.sizes = *sizes;
  if (args.BoolOr(6, false) && HasMoreTaps(resized)) return Unpriced(Reason::kUnsupportedArgs);
  return args.failed() ? Unpriced(args.reason()) : PriceResized(resized, mode);
}

// The underlying operators, one per mode.
struct UpsampleOp {
  std::string_view name;
  std::string_view mode;
  size_t dimensions;
};

constexpr UpsampleOp kUpsamples[] = {
    {"upsample_nearest1d", "nearest", 1},
    {"upsample_nearest2d", "nearest", 2},
    {"upsample_nearest3d", "nearest", 3},
    {"_upsample_nearest_exact1d", "nearest-exact", 1},
    {"_upsample_nearest_exact2d", "nearest-exact", 2},
    {"_upsample_nearest_exact3d", "nearest-exact", 3},
    {"upsample_linear1d", "linear", 1},
    {"upsample_bilinear2d", "bilinear", 2},
    {"upsample_trilinear3d", "trilinear", 3},
    {"upsample_bicubic2d", "bicubic", 2},
};

// op(x, output_size, [align_corners], scales..): scales only count without sizes.
PriceResult PriceUpsample(std::string_view name, const OpCall& call) {
  const UpsampleOp* op = FindRow(kUpsamples, name);
  if (op == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"input|self", "output_size", "", "", "", ""});
  Resized resized;
  resized.x = args.RequireTensor(0);
  if (!args.failed() && resized.x.shape.size() != op->dimensions + 2) {
    args.Fail(Reason::kShapeMismatch);
  }
  if (args.failed()) return Unpriced(args.reason());
  std::vector<double> scales;
  for (size_t i = 2; args.Find(1) == nullptr && i < 6; ++i) {
    if (args.Find(i) == nullptr || args.Find(i)->kind == OpArg::Kind::kBool) continue;
    for (const double scale : ScalesOf(*args.Find(i))) scales.push_back(scale);
  }
  const auto sizes = ResampleSizes(resized.x, &args, 1, scales);
  if (!sizes || args.failed()) return Unpriced(Reason::kUnsupportedArgs);
  resized.sizes = *sizes;
  return PriceResized(resized, op->mode);
}

// op_backward(dY, output_size, input_size, ..)
PriceResult PriceUpsampleGradient(const UpsampleOp& op, const OpCall& call) {
  CallArgs args(call, {"grad_output", "output_size", "input_size", "", "", "", ""});
  const Tensor y = args.RequireTensor(0);
  const auto sizes = args.FindInts(2);
  if (!sizes || std::any_of(sizes->begin(), sizes->end(), [](int64_t n) { return n < 0; })) {
    args.Fail(Reason::kUnsupportedArgs);
  }
  if (args.failed()) return Unpriced(args.reason());
  const size_t rank = op.dimensions + 2;
  if (y.shape.size() != rank || sizes->size() != rank || (*sizes)[0] != y.shape[0] ||
      (*sizes)[1] != y.shape[1]) {
    return Unpriced(Reason::kShapeMismatch);
  }
  Resized resized;
  resized.x = Tensor{*sizes, y.dtype, false};
  resized.sizes.assign(y.shape.begin() + 2, y.shape.end());
  return PriceResized(resized, op.mode);
}

// ---- grids ----

constexpr int kPerGridSample = 30;
constexpr int kPerGridPoint = 4;

// Bytes of x that so many samples of so many elements each can read.
Checked SampledBytes(const Tensor& x, Checked samples, int64_t elements) {
  const std::optional<int64_t> all = x.elements().Value();
  const std::optional<int64_t> read = (samples * elements).Value();
  return all && read && *read < *all ? BytesOf(*read, x.dtype) : x.bytes();
}

// Samples x [N,C,spatial] at the points of grid [N,spatial,dimensions], each from `taps` elements
// along a dimension.
PriceResult PriceGridTensors(const Tensor& x, const Tensor& grid, int64_t taps) {
  const size_t rank = x.shape.size();
  if ((rank != 4 && rank != 5) || grid.shape.size() != rank || grid.shape[0] != x.shape[0] ||
      grid.shape.back() != static_cast<int64_t>(rank) - 2) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked outputs = Elements(grid.shape.first(rank - 1)) * x.shape[1];
  const Checked vec = outputs * kPerGridSample;
  const int64_t taps_each = rank == 4 ? taps * taps : taps * taps * taps;
  const Checked read =
      SampledBytes(x, outputs, taps_each) + grid.bytes() + BytesOf(outputs, x.dtype);
  const Tensor both[] = {x, grid};
  return PricedSample(TensorsText(both), x, Work{0, vec, read},
                      Work{0, vec, read + x.bytes() + grid.bytes()});
}

// Of a grid's mode, a word or its number: bilinear (also for 3-D), nearest, bicubic.
int64_t GridTaps(const OpArg* mode) {
  if (mode == nullptr) return 2;
  if (mode->kind == OpArg::Kind::kInt)
    return mode->int_value == 1 ? 1 : mode->int_value == 2 ? 4 : 2;
  return mode->text == "nearest" ? 1 : mode->text == "bicubic" ? 4 : 2;
}

PriceResult PriceGridSample(std::string_view, const OpCall& call) {
  CallArgs args(call, {"input", "grid", "mode", "padding_mode", "align_corners"});
  const Tensor x = args.RequireTensor(0);
  const Tensor grid = args.RequireTensor(1);
  return args.failed() ? Unpriced(args.reason())
                       : PriceGridTensors(x, grid, GridTaps(args.Find(2)));
}

// theta [N,d,d+1] to a grid [N,spatial,d] for an image of size [N,C,spatial].
PriceResult PriceAffineGrid(std::string_view, const OpCall& call) {
  CallArgs args(call, {"theta", "size", "align_corners"});
  const Tensor theta = args.RequireTensor(0);
  const auto size = args.FindInts(1);
  if (!size || std::any_of(size->begin(), size->end(), [](int64_t n) { return n < 0; })) {
    args.Fail(Reason::kUnsupportedArgs);
  }
  if (args.failed()) return Unpriced(args.reason());
  const std::vector<int64_t>& n = *size;
  const auto d = static_cast<int64_t>(n.size()) - 2;
  if ((d != 2 && d != 3) || theta.shape.size() != 3 || theta.shape[0] != n[0] ||
      theta.shape[1] != d || theta.shape[2] != d + 1) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked outputs = Elements(Shape(n).subspan(2)) * n[0] * d;
  const Work work{0, outputs * kPerGridPoint, theta.bytes() + BytesOf(outputs, theta.dtype)};
  return PricedSample(fmt::format("{},o={}", NamedTensorText(theta), TupleText(n)), theta, work,
                      work);
}

// ---- regions ----

constexpr int kPerRegionSample = 12;

struct Regions {
  Tensor x;      // [N,C,H,W]
  Tensor boxes;  // [K,5]
  int64_t height = 0;
  int64_t width = 0;
  int64_t ratio = 0;  // Samples per output and direction.
};

PriceResult PriceRegions(const Regions& r) {
  // Otherwise the boxes' sizes decide.
  if (r.ratio <= 0 || r.height <= 0 || r.width <= 0) return Unpriced(Reason::kUnsupportedArgs);
  if (r.x.shape.size() != 4 || r.boxes.shape.size() != 2 || r.boxes.shape[1] != 5) {
    return Unpriced(Reason::kShapeMismatch);
  }
  const Checked outputs = Checked(r.boxes.shape[0]) * r.x.shape[1] * r.height * r.width;
  const Checked samples = outputs * r.ratio * r.ratio;
  const Checked vec = samples * kPerRegionSample;
  const Checked other = r.boxes.bytes() + BytesOf(outputs, r.x.dtype);
  return PricedSample(fmt::format("{};{},o=({},{}),r={}", TensorText(r.x), TensorText(r.boxes),
                                  r.height, r.width, r.ratio),
                      r.x, Work{0, vec, SampledBytes(r.x, samples, 4) + other},
                      Work{0, vec, r.x.bytes() + other});
}

PriceResult PriceRoiAlign(std::string_view, const OpCall& call) {
  Regions regions;
  // torchvision::roi_align takes the output's height and width as two arguments after the scale.
  const bool is_operator = call.mod == "torchvision";
  CallArgs args = is_operator ? CallArgs(call, {"input", "rois", "spatial_scale", "pooled_height",
                                                "pooled_width", "sampling_ratio", "aligned"})
                              : CallArgs(call, {"input", "boxes", "output_size", "spatial_scale",
                                                "sampling_ratio", "aligned"});
  regions.x = args.RequireTensor(0);
  regions.boxes = args.RequireTensor(1);
  if (is_operator) {
    regions.height = args.IntOr(3, 0);
    regions.width = args.IntOr(4, 0);
    regions.ratio = args.IntOr(5, 0);
  } else {
    const std::vector<int64_t> size =
        PerDimension(args.FindInts(2), 2, 0).value_or(std::vector<int64_t>(2, 0));
    regions.height = size[0];
    regions.width = size[1];
    regions.ratio = args.IntOr(4, 0);
  }
  return args.failed() ? Unpriced(args.reason()) : PriceRegions(regions);
}

constexpr std::string_view kInterpolateNames[] = {"interpolate", "upsample", "upsample_nearest",
                                                  "upsample_bilinear"};
constexpr auto kUpsampleNames = NamesOf(kUpsamples);
constexpr std::string_view kGridNames[] = {"grid_sample"};
constexpr std::string_view kResampleAffineNames[] = {"affine_grid"};
constexpr std::string_view kRegionNames[] = {"roi_align"};
constexpr std::string_view kUnfoldNames[] = {"im2col"};
constexpr std::string_view kFoldNames[] = {"fold", "col2im"};

constexpr OpModel kResampleModels[] = {
    {kInterpolateNames, PriceInterpolate},
    {kUpsampleNames, PriceUpsample},
    {kGridNames, PriceGridSample},
    {kResampleAffineNames, PriceAffineGrid},
    {kRegionNames, PriceRoiAlign},
    {kUnfoldNames, PriceUnfold},
    {kFoldNames, PriceFold},
};

}  // namespace

std::optional<PriceResult> PriceResampleGradient(std::string_view op, const OpCall& call) {
  PriceResult result;
  if (const UpsampleOp* upsample = FindRow(kUpsamples, op)) {
    result = PriceUpsampleGradient(*upsample, call);
  } else if (op == "grid_sample") {
    // grid_sampler_2d_backward(dY, input, grid, ..)
    CallArgs args(call, {"grad_output", "input", "grid", "", "", "", ""});
    const Tensor x = args.RequireTensor(1);
    const Tensor grid = args.RequireTensor(2);
    result =
        args.failed() ? Unpriced(args.reason()) : PriceGridTensors(x, grid, GridTaps(args.Find(3)));
  } else {
    return std::nullopt;
  }
  if (!result.price) return result;
  if (result.price->backward.empty()) return Unpriced(Reason::kUnsupportedArgs);
  result.price->forward = std::exchange(result.price->backward, {});
  return result;
}

std::span<const OpModel> ResampleOps() { return kResampleModels; }

}  // namespace oplens::ops
