// Recurrent layers and cells: every step multiplies the input and the state with the weights of all
// gates, and combines the gates element by element.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call_args.h"
#include "ops/families/families.h"
#include "ops/families/recurrent_call.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// FLOPs a hidden element and step besides the products: biases, gates and the new state.
struct GateWeight {
  int64_t gates;
  int64_t flops;
};
constexpr GateWeight kGateWeights[] = {{4, 116}, {3, 74}, {1, 23}};

int64_t GateFlops(int64_t gates) {
  for (const GateWeight& row : kGateWeights) {
    if (row.gates == gates) return row.flops;
  }
  return 0;
}

// Elements of the matrices of all layers and directions: W_ih, W_hh and the projection.
Checked MatrixElements(const Recurrence& r) {
  const Checked gate_rows = Checked(r.gates) * r.hidden;
  const Checked projection = Checked(r.projection) * r.hidden;
  const Checked first = gate_rows * (Checked(r.input) + r.output()) + projection;
  const Checked other = gate_rows * (Checked(r.directions) * r.output() + r.output()) + projection;
  return (first + other * (Checked(r.layers) - 1)) * r.directions;
}

Checked BiasElements(const Recurrence& r) {
  return r.bias ? r.groups() * r.gates * r.hidden * 2 : Checked(0);
}

std::string RecurrentParamsText(const Recurrence& r) {
  std::string text = std::string(r.kind);
  if (r.steps == 0) {
    text += fmt::format(",rows={}", r.rows);
  } else if (!r.cell) {
    text += fmt::format(",T={}", r.steps);
  }
  text += fmt::format(",B={},I={},H={}", r.batch, r.input, r.hidden);
  if (r.projection > 0) text += fmt::format(",P={}", r.projection);
  if (!r.cell) text += fmt::format(",L={}", r.layers);
  if (r.directions > 1) text += ",bidirectional";
  return text + fmt::format(",{}", DTypeWord(r.dtype));
}

MatrixProduct InputProduct(const Recurrence& r) {
  MatrixProduct product;
  product.kind = MatrixProduct::Kind::kRecurrent;
  product.left = r.dtype;
  product.right = r.weight_dtype;
  product.output = r.dtype;
  product.m = r.rows;
  product.n = (Checked(r.gates) * r.hidden).Value().value_or(0);
  product.k = r.input;
  product.right_transposed = true;
  product.extents = {{"batch", r.batch}, {"input", r.input}, {"hidden", r.hidden}};
  return product;
}

// Each product has two gradients of its size. What one part hands to the next (the gates'
// gradients) is not in the ideal traffic.
PriceResult PriceRecurrent(std::string_view op, const OpCall& call) {
  Recurrence r;
  if (const auto reason = ReadRecurrence(op, call, &r)) return Unpriced(*reason);
  const Checked mma = MatrixElements(r) * r.rows * 2;
  const Checked weights = BytesOf(MatrixElements(r), r.weight_dtype);
  const Checked biases = BytesOf(BiasElements(r), r.weight_dtype);
  const Checked x = BytesOf(Checked(r.rows) * r.input, r.dtype);
  const Checked y =
      r.cell ? Checked(0) : BytesOf(Checked(r.rows) * r.output() * r.directions, r.dtype);
  const Checked width = Checked(r.output()) + (r.gates == 4 ? r.hidden : 0);
  const Checked state = BytesOf(r.groups() * r.batch * width, r.dtype);
  const Checked elements = Checked(r.rows) * r.hidden * r.groups();
  const Work forward{mma, elements * GateFlops(r.gates), x + y + weights + biases + state * 2};
  std::vector<PartWork> backward = {
      {Part::kDgrad, {mma, 0, x + y + weights + state * 2}},
      {Part::kWgrad, {mma, 0, x + (r.cell ? state : y) + weights}},
  };
  if (r.bias) backward.push_back({Part::kBgrad, {0, BiasElements(r) * r.rows, biases}});
  PriceResult result = Priced(RecurrentParamsText(r), forward, std::move(backward));
  result.price->matmul_like = true;
  result.price->product = InputProduct(r);
  return result;
}

// ---- the elementwise half of a cell, whose products were computed before ----

struct FusedCell {
  std::string_view name;
  int64_t gates;
  int64_t outputs;    // Of H elements.
  int64_t workspace;  // For the backward, in H elements.
};

constexpr FusedCell kFusedCells[] = {
    {"_thnn_fused_gru_cell", 3, 1, 5},
    {"_thnn_fused_lstm_cell", 4, 2, 4},
};

PriceResult PriceFusedCell(std::string_view op, const OpCall& call) {
  const FusedCell* row = FindRow(kFusedCells, op);
  if (row == nullptr) return Unpriced(Reason::kUnknownOp);
  CallArgs args(call, {"input_gates", "hidden_gates", "cx|hx", "input_bias", "hidden_bias"});
  const Tensor input = args.RequireTensor(0);
  const Tensor hidden = args.RequireTensor(1);
  const Tensor state = args.RequireTensor(2);
  const std::optional<Tensor> biases[] = {args.FindTensor(3), args.FindTensor(4)};
  if (args.failed()) return Unpriced(args.reason());
  const Shape shape = state.shape;
  if (shape.size() != 2) return Unpriced(Reason::kShapeMismatch);
  const std::optional<int64_t> gate_width = (Checked(shape[1]) * row->gates).Value();
  if (!gate_width) return Unpriced(Reason::kCostOverflow);
  Checked bytes = input.bytes() + hidden.bytes() + state.bytes() +
                  BytesOf(state.elements() * (row->outputs + row->workspace), state.dtype);
  for (const Tensor& gates : {input, hidden}) {
    if (gates.shape.size() != 2 || gates.shape[0] != shape[0] || gates.shape[1] != *gate_width) {
      return Unpriced(Reason::kShapeMismatch);
    }
  }
  for (const auto& bias : biases) {
    if (!bias) continue;
    if (!(bias->elements() == *gate_width)) return Unpriced(Reason::kShapeMismatch);
    bytes += bias->bytes();
  }
  return Priced(fmt::format("B={},H={},{}", shape[0], shape[1], DTypeWord(state.dtype)),
                {0, state.elements() * GateFlops(row->gates), bytes}, std::vector<PartWork>());
}

constexpr std::string_view kRecurrentNames[] = {
    "_cudnn_rnn", "forward",  "gru",           "gru_cell", "lstm",
    "lstm_cell",  "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell",
};
constexpr auto kRecurrentFusedNames = NamesOf(kFusedCells);

constexpr OpModel kRecurrentModels[] = {{kRecurrentNames, PriceRecurrent},
                                        {kRecurrentFusedNames, PriceFusedCell}};

}  // namespace

std::span<const OpModel> RecurrentOps() { return kRecurrentModels; }

}  // namespace oplens::ops
