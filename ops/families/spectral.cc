// Fourier transforms.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
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

enum class SpectralKind : uint8_t {
  kComplex,        // Complex to complex; half the work for real data.
  kRealToComplex,  // Drops the mirrored half of the last dimension.
  kComplexToReal,  // Restores it.
};

// How the dimensions are given.
enum class Dims : uint8_t { kOne, kTwo, kAll };

struct Transform {
  std::string_view name;
  SpectralKind kind;
  Dims dims;
};

constexpr Transform kTransforms[] = {
    {"fft_fft", SpectralKind::kComplex, Dims::kOne},
    {"fft_ifft", SpectralKind::kComplex, Dims::kOne},
    {"fft_rfft", SpectralKind::kRealToComplex, Dims::kOne},
    {"fft_irfft", SpectralKind::kComplexToReal, Dims::kOne},
    {"fft_hfft", SpectralKind::kComplexToReal, Dims::kOne},
    {"fft_ihfft", SpectralKind::kRealToComplex, Dims::kOne},
    {"fft_fft2", SpectralKind::kComplex, Dims::kTwo},
    {"fft_ifft2", SpectralKind::kComplex, Dims::kTwo},
    {"fft_rfft2", SpectralKind::kRealToComplex, Dims::kTwo},
    {"fft_irfft2", SpectralKind::kComplexToReal, Dims::kTwo},
    {"fft_hfft2", SpectralKind::kComplexToReal, Dims::kTwo},
    {"fft_ihfft2", SpectralKind::kRealToComplex, Dims::kTwo},
    {"fft_fftn", SpectralKind::kComplex, Dims::kAll},
    {"fft_ifftn", SpectralKind::kComplex, Dims::kAll},
    {"fft_rfftn", SpectralKind::kRealToComplex, Dims::kAll},
    {"fft_irfftn", SpectralKind::kComplexToReal, Dims::kAll},
    {"fft_hfftn", SpectralKind::kComplexToReal, Dims::kAll},
    {"fft_ihfftn", SpectralKind::kRealToComplex, Dims::kAll},
};

constexpr int kFractionBits = 40;

// log2 of a positive number, times 2^40 and rounded down: one fraction bit per squaring. Integers
// only, so figures are equal on every machine.
int64_t FixedLog2(int64_t value) {
  const int whole = 63 - __builtin_clzll(static_cast<uint64_t>(value));
  constexpr int kPoint = 62;
  // value / 2^whole, in [1, 2)
  auto mantissa = static_cast<uint64_t>(value) << (kPoint - whole);
  int64_t result = whole;
  for (int i = 0; i < kFractionBits; ++i) {
    __extension__ using Wide = unsigned __int128;
    mantissa = static_cast<uint64_t>((static_cast<Wide>(mantissa) * mantissa) >> kPoint);
    const bool bit = mantissa >= uint64_t{2} << kPoint;
    result = result * 2 + (bit ? 1 : 0);
    if (bit) mantissa >>= 1;
  }
  return result;
}

// 5 n log2(length), the operations of the radix-2 algorithm, for any length; to the nearest
// integer. `halves`: 1 for half of that.
Checked TransformFlops(Checked n, Checked length, int halves) {
  const std::optional<int64_t> extent = length.Value();
  if (!extent) return Checked(INT64_MAX) * INT64_MAX * INT64_MAX;
  if (*extent <= 1) return 0;
  const Checked scale = Checked(int64_t{1} << (kFractionBits + halves));
  return (n * 5 * FixedLog2(*extent) + scale / 2) / scale;
}

DType ComplexOf(DType type) {
  switch (type) {
    case DType::kUnknown:
    case DType::kComplex32:
    case DType::kComplex64:
    case DType::kComplex128:
      return type;
    case DType::kFloat16:
      return DType::kComplex32;
    case DType::kFloat64:
      return DType::kComplex128;
    default:
      return DType::kComplex64;
  }
}

DType RealOf(DType type) {
  switch (ComplexOf(type)) {
    case DType::kComplex32:
      return DType::kFloat16;
    case DType::kComplex128:
      return DType::kFloat64;
    case DType::kComplex64:
      return DType::kFloat32;
    default:
      return type;
  }
}

struct Spectrum {
  Tensor x;
  SpectralKind kind = SpectralKind::kComplex;
  std::vector<size_t> dims;      // The last one is halved.
  std::vector<int64_t> lengths;  // Of the transforms, one per dimension.
  bool one_sided = true;         // Real to complex: omits the mirrored half.
};

PriceResult PriceSpectrum(const Spectrum& s) {
  std::vector<int64_t> whole(s.x.shape.begin(), s.x.shape.end());
  Checked length = 1;
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (s.lengths[i] < 1) return Unpriced(Reason::kUnsupportedArgs);
    whole[s.dims[i]] = s.lengths[i];
    length *= s.lengths[i];
  }
  const Checked n = Elements(whole);
  const bool real_input =
      s.kind == SpectralKind::kRealToComplex ||
      (s.kind == SpectralKind::kComplex && CategoryOf(s.x.dtype) != DTypeCategory::kComplex &&
       s.x.dtype != DType::kUnknown);
  const bool half = real_input || s.kind == SpectralKind::kComplexToReal;
  std::vector<int64_t> output = whole;
  if (s.kind == SpectralKind::kRealToComplex && s.one_sided && !s.dims.empty()) {
    output[s.dims.back()] = s.lengths.back() / 2 + 1;
  }
  const DType type =
      s.kind == SpectralKind::kComplexToReal ? RealOf(s.x.dtype) : ComplexOf(s.x.dtype);
  const Work work{0, TransformFlops(n, length, half ? 1 : 0),
                  s.x.bytes() + BytesOf(Elements(output), type)};
  std::string text = NamedTensorText(s.x);
  text += fmt::format(",n={}", TupleText(s.lengths));
  if (CategoryOf(s.x.dtype) < DTypeCategory::kFloat) {
    return Priced(std::move(text), work, std::vector<PartWork>());
  }
  // The gradient is the inverse transform.
  return Priced(std::move(text), work, work);
}

// The dimensions' indices; nullopt if one is out of range or repeated.
std::optional<std::vector<size_t>> SpectralIndices(const std::vector<int64_t>& dims, size_t rank) {
  std::vector<size_t> indices;
  for (const int64_t dim : dims) {
    const std::optional<size_t> index = DimIndex(dim, rank);
    if (!index || *index >= rank) return std::nullopt;
    if (std::find(indices.begin(), indices.end(), *index) != indices.end()) return std::nullopt;
    indices.push_back(*index);
  }
  return indices;
}

// The dimensions transformed by default: the last two, the last ones that have lengths, or all.
std::vector<int64_t> DefaultDims(Dims dims, size_t rank, size_t lengths) {
  if (dims == Dims::kTwo) return {-2, -1};
  const size_t count = dims == Dims::kOne ? 1 : lengths > 0 ? lengths : rank;
  std::vector<int64_t> result(count);
  std::iota(result.begin(), result.end(), -static_cast<int64_t>(count));
  return result;
}

// The default length, for a missing length or -1.
int64_t DefaultLength(const Spectrum& s, size_t i) {
  const int64_t extent = s.x.shape[s.dims[i]];
  const bool restored = s.kind == SpectralKind::kComplexToReal && i + 1 == s.dims.size();
  // From extent/2+1 values; 2(extent-1) is negative or 0 for fewer than two.
  return restored ? (extent > INT64_MAX / 2 ? -1 : 2 * (extent - 1)) : extent;
}

PriceResult PriceTransform(std::string_view name, const OpCall& call) {
  const Transform* op = FindRow(kTransforms, name);
  if (op == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"input|self", "n|s", "dim", "norm"});
  Spectrum s;
  s.kind = op->kind;
  s.x = args.RequireTensor(0);
  const std::vector<int64_t> given = args.FindInts(1).value_or(std::vector<int64_t>());
  const std::optional<std::vector<int64_t>> dims = args.FindInts(2);
  if (args.failed()) return Unpriced(args.reason());
  const size_t rank = s.x.shape.size();
  const auto indices =
      SpectralIndices(dims.value_or(DefaultDims(op->dims, rank, given.size())), rank);
  if (!indices || (s.kind == SpectralKind::kRealToComplex &&
                   CategoryOf(s.x.dtype) == DTypeCategory::kComplex)) {
    return Unpriced(Reason::kShapeMismatch);
  }
  s.dims = *indices;
  if (!given.empty() && given.size() != s.dims.size()) return Unpriced(Reason::kUnsupportedArgs);
  for (size_t i = 0; i < s.dims.size(); ++i) {
    const bool has_length = !given.empty() && given[i] != -1;
    s.lengths.push_back(has_length ? given[i] : DefaultLength(s, i));
  }
  return PriceSpectrum(s);
}

// The underlying operators: op(x, dim, normalization, forward / onesided / last_dim_size).
PriceResult PricePlanned(std::string_view name, const OpCall& call) {
  CallArgs args = name == "_fft_c2r"
                      ? CallArgs(call, {"self", "dim", "normalization", "last_dim_size"})
                      : CallArgs(call, {"self", "dim", "normalization", "onesided|forward"});
  Spectrum s;
  s.kind = name == "_fft_c2r"   ? SpectralKind::kComplexToReal
           : name == "_fft_r2c" ? SpectralKind::kRealToComplex
                                : SpectralKind::kComplex;
  s.x = args.RequireTensor(0);
  const std::optional<std::vector<int64_t>> dims = args.FindInts(1);
  if (!dims) args.Fail(Reason::kUnsupportedArgs);
  if (s.kind == SpectralKind::kRealToComplex) s.one_sided = args.BoolOr(3, true);
  if (args.failed()) return Unpriced(args.reason());
  const auto indices = SpectralIndices(*dims, s.x.shape.size());
  if (!indices) return Unpriced(Reason::kShapeMismatch);
  s.dims = *indices;
  for (const size_t dim : s.dims) s.lengths.push_back(s.x.shape[dim]);
  if (s.kind == SpectralKind::kComplexToReal) {
    if (s.lengths.empty() || args.Find(3) == nullptr) return Unpriced(Reason::kUnsupportedArgs);
    s.lengths.back() = args.IntOr(3, 0);
    if (args.failed()) return Unpriced(args.reason());
  }
  return PriceSpectrum(s);
}

// ---- short-time transforms ----

struct WindowedTransform {
  Tensor x;
  std::optional<Tensor> window;
  int64_t length = 0;
  int64_t hop = 0;
  bool centered = true;
  bool one_sided = true;
};

// Frames of `length` samples, each windowed and transformed.
PriceResult PriceWindowed(const WindowedTransform& w) {
  if (w.length < 1 || w.hop < 1) return Unpriced(Reason::kUnsupportedArgs);
  const size_t rank = w.x.shape.size();
  if (rank != 1 && rank != 2) return Unpriced(Reason::kShapeMismatch);
  // Centred frames start half a frame before the signal and end half a frame after it.
  const Checked padding = w.centered ? Checked(w.length / 2) * 2 : Checked(0);
  const std::optional<int64_t> room = (padding + w.x.shape.back() - w.length).Value();
  if (!room || *room < 0) return Unpriced(Reason::kShapeMismatch);
  const Checked positions = Checked(*room) / w.hop + 1;
  const int64_t signals = rank == 2 ? w.x.shape[0] : 1;
  const Checked frames = positions * signals;
  const Checked read =
      Checked(WindowCover(w.x.shape.back(), positions.Value().value_or(0), w.length)) * signals;
  const bool complex = CategoryOf(w.x.dtype) == DTypeCategory::kComplex;
  const bool halved = w.one_sided && !complex;
  const Checked samples = frames * w.length;
  Work work{0, TransformFlops(samples, w.length, complex ? 0 : 1),
            BytesOf(read, w.x.dtype) +
                BytesOf(frames * (halved ? w.length / 2 + 1 : w.length), ComplexOf(w.x.dtype))};
  if (w.window) {
    work.vec += samples;
    work.bytes += w.window->bytes();
  }
  return Priced(fmt::format("{},n={},h={}", NamedTensorText(w.x), w.length, w.hop), work,
                std::vector<PartWork>());
}

PriceResult PriceShortTime(std::string_view, const OpCall& call) {
  // The operator without the argument "center" does not pad.
  const bool is_plain = call.mod == "aten";
  CallArgs args =
      is_plain ? CallArgs(call,
                          {"input|self", "n_fft", "hop_length", "win_length", "window", "onesided"})
               : CallArgs(call, {"input|self", "n_fft", "hop_length", "win_length", "window",
                                 "center", "pad_mode", "normalized", "onesided", "return_complex"});
  WindowedTransform w;
  w.x = args.RequireTensor(0);
  w.length = args.IntOr(1, 0);
  w.hop = args.IntOr(2, w.length / 4);
  w.window = args.FindTensor(4);
  w.centered = !is_plain && args.BoolOr(5, true);
  w.one_sided = args.BoolOr(is_plain ? 5 : 8, true);
  return args.failed() ? Unpriced(args.reason()) : PriceWindowed(w);
}

constexpr auto kTransformNames = NamesOf(kTransforms);
constexpr std::string_view kPlannedNames[] = {"_fft_c2c", "_fft_r2c", "_fft_c2r"};
constexpr std::string_view kShortTimeNames[] = {"stft"};

constexpr OpModel kSpectralModels[] = {
    {kTransformNames, PriceTransform},
    {kPlannedNames, PricePlanned},
    {kShortTimeNames, PriceShortTime},
};

}  // namespace

std::span<const OpModel> SpectralOps() { return kSpectralModels; }

}  // namespace oplens::ops
