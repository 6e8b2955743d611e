#include "ops/families/convolution_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ops/families/window.h"

namespace oplens::ops {
namespace {

constexpr std::pair<char, std::string_view> kLetters[] = {
    {'x', "input"},      {'w', "weight"},      {'b', "bias"},       {'s', "stride"},
    {'p', "padding"},    {'d', "dilation"},    {'t', "transposed"}, {'o', "output_padding"},
    {'g', "groups"},     {'y', "grad_output"}, {'X', "input_size"}, {'W', "weight_size"},
    {'B', "bias_sizes"}, {'m', "output_mask"},
};

// Dimension i of three, with the given values last; `absent` for missing dimensions.
int64_t At(Shape values, size_t i, int64_t absent) {
  const size_t missing = 3 - values.size();
  return i < missing ? absent : values[i - missing];
}

DType ConvolutionCallOutputType(const ConvolutionTensors& t) {
  return PromoteDTypes(t.x.dtype, t.w.dtype);
}

void AppendExtents(std::string_view names, Shape values, int64_t absent, std::string* text) {
  for (size_t i = values.size() == 3 ? 0 : 1; i < 3; ++i) {
    *text += fmt::format(",{}={}", names[i], At(values, i, absent));
  }
}

// Of three dimensions without the depth.
std::vector<NamedExtent> ConvolutionSizes(const ConvolutionTensors& t) {
  return {{"conv_n", t.batch()},
          {"conv_c", t.inputs()},
          {"conv_h", At(t.input_extents(), 1, 1)},
          {"conv_w", At(t.input_extents(), 2, 1)},
          {"conv_k", t.outputs()},
          {"conv_r", At(t.filter(), 1, 1)},
          {"conv_s", At(t.filter(), 2, 1)},
          {"conv_g", t.groups()}};
}

// Height and width only.
void AppendSteps(std::string_view first, std::string_view second, Shape values, int64_t absent,
                 std::string* text) {
  *text += fmt::format(",{}={},{}={}", first, At(values, 1, absent), second, At(values, 2, absent));
}

}  // namespace

int64_t ConvolutionTensors::groups() const {
  const int64_t whole = transposed ? outputs() : inputs();
  return w.shape[1] > 0 ? std::max<int64_t>(whole / w.shape[1], 1) : 1;
}

Checked ConvolutionTensors::MultiplyAdds() const {
  const Shape positions = transposed ? input_extents() : output_extents();
  return Elements(positions) * batch() * w.elements();
}

Checked ConvolutionTensors::TappedBytes() const {
  const Tensor& moved_over = transposed ? y : x;
  if (displaced) return moved_over.bytes();
  const Shape extents = transposed ? output_extents() : input_extents();
  const Shape positions = transposed ? input_extents() : output_extents();
  Checked elements = Checked(batch()) * (transposed ? outputs() : inputs());
  for (size_t i = 0; i < dimensions(); ++i) {
    elements *= WindowCover(extents[i], positions[i], filter()[i]);
  }
  return BytesOf(elements, moved_over.dtype);
}

bool FitTogether(const ConvolutionTensors& t) {
  const size_t rank = t.w.shape.size();
  if (rank < 3 || rank > 5 || t.x.shape.size() > rank || t.x.shape.size() + 1 < rank) return false;
  if (t.y.shape.size() != t.x.shape.size()) return false;
  if (t.batched() && t.x.shape[0] != t.y.shape[0]) return false;
  // Per group: w[1] counts the channels of one side, w[0] all channels of the other.
  const int64_t whole = t.transposed ? t.outputs() : t.inputs();
  const int64_t other = t.transposed ? t.inputs() : t.outputs();
  const int64_t part = t.w.shape[1];
  if (other != t.w.shape[0] || (part == 0 ? whole != 0 : whole % part != 0)) return false;
  if (other % t.groups() != 0) return false;
  return !t.bias || (t.bias->shape.size() == 1 && t.bias->shape[0] == t.outputs());
}

std::string ConvolutionText(const ConvolutionTensors& t, const ConvolutionSteps* steps) {
  std::string text = fmt::format("N={},C={}", t.batch(), t.inputs());
  AppendExtents("DHW", t.input_extents(), 1, &text);
  text += fmt::format(",K={}", t.outputs());
  AppendExtents("ZPQ", t.output_extents(), 1, &text);
  AppendExtents("TRS", t.filter(), 1, &text);
  if (steps != nullptr) {
    AppendSteps("ph", "pw", steps->padding, 0, &text);
    AppendSteps("U", "V", steps->stride, 1, &text);
    AppendSteps("dh", "dw", steps->dilation, 1, &text);
  }
  text += fmt::format(",g={},{}", t.groups(), DTypeWord(t.x.dtype));
  return text;
}

PartWork ConvolutionPart(const ConvolutionTensors& t, Part part) {
  const int per_fma = CategoryOf(ConvolutionCallOutputType(t)) == DTypeCategory::kComplex ? 8 : 2;
  const Checked mma = t.MultiplyAdds() * per_fma;
  // The gradient of what the filter moves over is written whole, with zeros where no tap stands.
  const bool reads_tapped = part != (t.transposed ? Part::kForward : Part::kDgrad);
  const Checked x = reads_tapped && !t.transposed ? t.TappedBytes() : t.x.bytes();
  const Checked y = reads_tapped && t.transposed ? t.TappedBytes() : t.y.bytes();
  PartWork result;
  result.part = part;
  result.work = Work{mma, 0, x + t.w.bytes() + y};
  if (part == Part::kBgrad) {
    const Checked bias = BytesOf(t.outputs(), t.bias ? t.bias->dtype : t.w.dtype);
    result.work = Work{0, t.y.elements(), t.y.bytes() + bias};
  } else if (part == Part::kForward && t.bias) {
    result.work.vec = t.y.elements();
    result.work.bytes += t.bias->bytes();
  }
  return result;
}

PriceResult DescribeConvolution(const ConvolutionTensors& t, const ConvolutionSteps* steps,
                                PriceResult result) {
  MatrixProduct product;
  product.kind = MatrixProduct::Kind::kConvolution;
  product.left = t.x.dtype;
  product.right = t.w.dtype;
  product.output = t.y.dtype;
  product.groups = t.groups();
  const int64_t inputs = t.inputs() / product.groups;
  const int64_t outputs = t.outputs() / product.groups;
  const Shape positions = t.transposed ? t.input_extents() : t.output_extents();
  const auto m = (Elements(positions) * t.batch()).Value();
  const Checked taps = Elements(t.filter());
  // A transposed convolution multiplies first, then sums overlapping patches.
  const auto n = (t.transposed ? taps * outputs : Checked(outputs)).Value();
  const auto k = (t.transposed ? Checked(inputs) : taps * inputs).Value();
  if (!m || !n || !k) return Unpriced(Reason::kCostOverflow);
  product.m = *m;
  product.n = *n;
  product.k = *k;
  product.extents = {{"C", inputs}, {"K", outputs}};
  product.sizes = ConvolutionSizes(t);
  if (steps != nullptr) product.stride = steps->stride;
  result.price->product = std::move(product);
  result.price->matmul_like = true;
  result.price->vec_estimated = false;
  return result;
}

std::optional<OpCall> NameArguments(const OpCall& call, std::string_view layout) {
  OpCall named;
  named.mod = call.mod;
  named.op = call.op;
  size_t position = 0;
  for (const OpArg& arg : call.args) {
    if (!arg.name.empty()) {
      named.args.push_back(arg);
      continue;
    }
    if (position == layout.size()) return std::nullopt;
    const char letter = layout[position++];
    const auto* row = std::find_if(std::begin(kLetters), std::end(kLetters),
                                   [&](const auto& entry) { return entry.first == letter; });
    if (row == std::end(kLetters)) continue;
    named.args.push_back(arg);
    named.args.back().name = row->second;
  }
  return named;
}

}  // namespace oplens::ops
