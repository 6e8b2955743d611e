// Recurrent layers and cells: every step multiplies input and state by the weights of all gates and
// combines the gates elementwise.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "ops/call_args.h"
#include "ops/dtype.h"
#include "ops/families/families.h"
#include "ops/pricing.h"
#include "ops/tensor.h"
#include "parse/model/op_call.h"
#include "parse/model/reason.h"

namespace oplens::ops {
namespace {

/// The arguments of a recurrent call. Shapes point into the call.
struct RecurrentArgs {
  std::optional<Tensor> input;
  std::optional<Tensor> h, c;   ///< The states.
  std::vector<Tensor> weights;  ///< In PyTorch's list order, or those given by name.
  bool packed = false;          ///< Concatenated sequences: the input is [rows,I].
  std::optional<int64_t> layers, hidden, projection, mode;
  std::optional<bool> bias, bidirectional, batch_first;
  std::optional<Reason> error;  ///< Set if an argument is unreadable.
};

void SetInt(const OpArg& arg, std::optional<int64_t>* value, RecurrentArgs* given) {
  if (arg.kind == OpArg::Kind::kNone || arg.kind == OpArg::Kind::kOther) return;
  if (arg.kind != OpArg::Kind::kInt || arg.int_value < 0) {
    given->error = Reason::kUnsupportedArgs;
  } else {
    *value = arg.int_value;
  }
}

void SetBool(const OpArg& arg, std::optional<bool>* value, RecurrentArgs* given) {
  if (arg.kind == OpArg::Kind::kNone || arg.kind == OpArg::Kind::kOther) return;
  if (arg.kind != OpArg::Kind::kBool && arg.kind != OpArg::Kind::kInt) {
    given->error = Reason::kUnsupportedArgs;
  } else {
    *value = arg.int_value != 0;
  }
}

struct IntField {
  std::string_view name;
  std::optional<int64_t> RecurrentArgs::*field;
};
constexpr IntField kInts[] = {
    {"hidden_size", &RecurrentArgs::hidden},
    {"num_layers", &RecurrentArgs::layers},
    {"proj_size", &RecurrentArgs::projection},
    {"mode", &RecurrentArgs::mode},
};

struct BoolField {
  std::string_view name;
  std::optional<bool> RecurrentArgs::*field;
};
constexpr BoolField kBools[] = {
    {"bias", &RecurrentArgs::bias},
    {"has_biases", &RecurrentArgs::bias},
    {"bidirectional", &RecurrentArgs::bidirectional},
    {"batch_first", &RecurrentArgs::batch_first},
};

// Sets the field of that name; unknown names are ignored.
void SetNamed(std::string_view name, const OpArg& arg, RecurrentArgs* given) {
  if (const IntField* row = FindRow(kInts, name)) SetInt(arg, &(given->*(row->field)), given);
  if (const BoolField* row = FindRow(kBools, name)) SetBool(arg, &(given->*(row->field)), given);
}

bool IsRecurrentArgsTensor(const OpArg* arg) { return arg->kind == OpArg::Kind::kTensor; }

std::optional<Tensor> Read(const OpArg& arg, RecurrentArgs* given) {
  Reason reason;
  std::optional<Tensor> tensor = TensorOf(arg, &reason);
  if (!tensor) given->error = reason;
  return tensor;
}

struct RecurrentArgsTensorName {
  std::string_view name;
  size_t slot;
};
enum RecurrentArgsSlot : size_t {
  kSlotInput,
  kSlotStates,
  kSlotCellState,
  kSlotWeightIh,
  kSlotWeightHh,
  kSlotBiasIh,
  kSlotBiasHh,
  kSlots
};
constexpr RecurrentArgsTensorName kRecurrentArgsTensorNames[] = {
    {"input", kSlotInput},        {"hx", kSlotStates},          {"h_0", kSlotStates},
    {"h0", kSlotStates},          {"cx", kSlotCellState},       {"c_0", kSlotCellState},
    {"c0", kSlotCellState},       {"weight_ih", kSlotWeightIh}, {"w_ih", kSlotWeightIh},
    {"weight_hh", kSlotWeightHh}, {"w_hh", kSlotWeightHh},      {"bias_ih", kSlotBiasIh},
    {"b_ih", kSlotBiasIh},        {"bias_hh", kSlotBiasHh},     {"b_hh", kSlotBiasHh},
};

// Keywords: sizes, tensors, and others without cost. Both states may share one name (a tuple).
void ReadKeywords(const OpCall& call, RecurrentArgs* given) {
  std::array<std::optional<Tensor>, kSlots> tensors;
  for (const OpArg& arg : call.args) {
    if (arg.name.empty()) continue;
    if (arg.kind != OpArg::Kind::kTensor) {
      SetNamed(arg.name, arg, given);
      continue;
    }
    const RecurrentArgsTensorName* row = FindRow(kRecurrentArgsTensorNames, arg.name);
    if (row == nullptr) continue;
    const bool second = row->slot == kSlotStates && tensors[kSlotStates];
    tensors[second ? kSlotCellState : row->slot] = Read(arg, given);
  }
  given->input = tensors[kSlotInput];
  given->h = tensors[kSlotStates];
  given->c = tensors[kSlotCellState];
  for (size_t slot = kSlotWeightIh; slot < kSlots; ++slot) {
    if (tensors[slot]) given->weights.push_back(*tensors[slot]);
  }
}

std::vector<const OpArg*> RecurrentArgsPositional(const OpCall& call) {
  std::vector<const OpArg*> args;
  for (const OpArg& arg : call.args) {
    if (arg.name.empty()) args.push_back(&arg);
  }
  return args;
}

// Sets the arguments after the tensors of a positional call; `words` names them.
void ReadValues(std::vector<const OpArg*>::const_iterator arg,
                std::vector<const OpArg*>::const_iterator end, std::string_view words,
                RecurrentArgs* given) {
  for (; arg != end && !words.empty(); ++arg) {
    const size_t blank = std::min(words.find(' '), words.size());
    SetNamed(words.substr(0, blank), **arg, given);
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
}

/// Reads _cudnn_rnn(input, weight.., weight_stride0, weight_buf, hx, cx, mode, hidden_size, ..).
RecurrentArgs ReadCudnnRnnArgs(const OpCall& call) {
  RecurrentArgs given;
  ReadKeywords(call, &given);
  const std::vector<const OpArg*> args = RecurrentArgsPositional(call);
  auto arg = args.begin();
  if (arg != args.end() && IsRecurrentArgsTensor(*arg)) given.input = Read(**arg++, &given);
  std::vector<Tensor> weights;
  for (; arg != args.end() && IsRecurrentArgsTensor(*arg); ++arg) {
    if (const auto tensor = Read(**arg, &given)) weights.push_back(*tensor);
  }
  // An unrecorded list still takes one position.
  if (weights.empty() && arg != args.end()) ++arg;
  given.weights = std::move(weights);
  given.packed = given.input && given.input->shape.size() == 2;
  constexpr std::ptrdiff_t kToState = 2;
  if (args.end() - arg < kToState + 2) return given;
  arg += kToState;
  if (IsRecurrentArgsTensor(*arg)) given.h = Read(**arg, &given);
  ++arg;
  if (IsRecurrentArgsTensor(*arg)) given.c = Read(**arg, &given);
  ReadValues(arg + 1, args.end(),
             "mode hidden_size proj_size num_layers batch_first dropout train bidirectional",
             &given);
  return given;
}

/// Reads lstm(input, hx.., params.., has_biases, num_layers, dropout, train, bidirectional,
/// batch_first), lstm(data, batch_sizes, hx.., params.., has_biases, ..) of packed sequences, and
/// the forward of modules and cells, f(input, hx..), possibly with the module itself first.
/// `states`: 2 for LSTM, otherwise 1.
RecurrentArgs ReadRecurrentArgs(const OpCall& call, int states, bool cell) {
  RecurrentArgs given;
  ReadKeywords(call, &given);
  const std::vector<const OpArg*> args = RecurrentArgsPositional(call);
  auto arg = std::find_if(args.begin(), args.end(), IsRecurrentArgsTensor);
  std::vector<Tensor> tensors;
  for (; arg != args.end() && IsRecurrentArgsTensor(*arg); ++arg) {
    if (const auto tensor = Read(**arg, &given)) tensors.push_back(*tensor);
  }
  const auto has_value = [](const OpArg* value) { return IsNumber(*value); };
  ReadValues(std::find_if(arg, args.end(), has_value), args.end(),
             "has_biases num_layers dropout train bidirectional batch_first", &given);

  auto tensor = tensors.begin();
  if (!given.input && tensor != tensors.end()) given.input = *tensor++;
  // Batch sizes of the steps, and orders of sequences.
  for (; !cell && tensor != tensors.end() && tensor->shape.size() == 1; ++tensor) {
    given.packed = true;
  }
  const auto next_state = [&](std::optional<Tensor>* state) {
    if (!*state && tensor != tensors.end()) *state = *tensor++;
  };
  next_state(&given.h);
  if (states == 2) next_state(&given.c);
  given.weights.insert(given.weights.begin(), tensor, tensors.end());
  return given;
}

/// Sizes of one or a stack of recurrent layers, and of one call.
struct Recurrence {
  std::string_view kind;   ///< "LSTM", "GRU", "RNN"; static storage.
  int64_t gates = 0;       ///< 4, 3, 1.
  bool cell = false;       ///< One step: the output is the new state.
  int64_t input = 0;       ///< I
  int64_t hidden = 0;      ///< H
  int64_t projection = 0;  ///< P: output size in place of H; 0: none.
  int64_t layers = 1;
  int64_t directions = 1;
  bool bias = true;
  int64_t batch = 0;
  int64_t steps = 0;  ///< T; 0 for packed sequences.
  int64_t rows = 0;   ///< Rows of the input: T B, or the sum of the lengths.
  DType dtype = DType::kUnknown;
  DType weight_dtype = DType::kUnknown;

  int64_t output() const { return projection > 0 ? projection : hidden; }
  /// Pairs of layer and direction.
  Checked groups() const { return Checked(layers) * directions; }
};

// ---- kinds ----

struct RecurrentCallKind {
  std::string_view name;  // Normalised op, or class of a module.
  std::string_view kind;
  int64_t gates;
  bool cell;
};

constexpr RecurrentCallKind kRecurrentCallOps[] = {
    {"gru", "GRU", 3, false},      {"gru_cell", "GRU", 3, true},
    {"lstm", "LSTM", 4, false},    {"lstm_cell", "LSTM", 4, true},
    {"rnn_relu", "RNN", 1, false}, {"rnn_relu_cell", "RNN", 1, true},
    {"rnn_tanh", "RNN", 1, false}, {"rnn_tanh_cell", "RNN", 1, true},
};

constexpr RecurrentCallKind kClasses[] = {
    {"GRU", "GRU", 3, false},      {"GRUCell", "GRU", 3, true}, {"LSTM", "LSTM", 4, false},
    {"LSTMCell", "LSTM", 4, true}, {"RNN", "RNN", 1, false},    {"RNNCell", "RNN", 1, true},
};

// By cuDNN's numbering.
constexpr RecurrentCallKind kRecurrentCallModes[] = {
    {"RNN_RELU", "RNN", 1, false},
    {"RNN_TANH", "RNN", 1, false},
    {"LSTM", "LSTM", 4, false},
    {"GRU", "GRU", 3, false},
};

// ---- sizes from shapes ----

int64_t LastExtent(const Tensor& tensor) { return tensor.shape.empty() ? 0 : tensor.shape.back(); }

// Weights of one layer and direction: W_ih [GH,I], W_hh [GH,R], two biases [GH], W_hr [P,H].
struct RecurrentCallGroup {
  size_t size = 2;
  bool bias = false;
  bool projected = false;
};

// How PyTorch's list of weights is grouped; nullopt if it is not such a list.
std::optional<RecurrentCallGroup> RecurrentCallGroupOf(const std::vector<Tensor>& weights,
                                                       int64_t gates) {
  if (weights.size() < 2 || weights[0].shape.size() != 2 || weights[1].shape.size() != 2) {
    return std::nullopt;
  }
  RecurrentCallGroup group;
  group.bias = weights.size() > 3 && weights[2].shape.size() == 1;
  group.projected = gates == 4 && weights[1].shape[0] / 4 != weights[1].shape[1];
  group.size = 2u + (group.bias ? 2u : 0u) + (group.projected ? 1u : 0u);
  if (weights.size() % group.size != 0) return std::nullopt;
  return group;
}

bool HasRecurrentCallShape(const Tensor& tensor, std::initializer_list<int64_t> shape) {
  return std::equal(tensor.shape.begin(), tensor.shape.end(), shape.begin(), shape.end());
}

// Whether the weights fit a stack of these sizes.
bool RecurrentCallWeightsFit(const Recurrence& r, const RecurrentCallGroup& group,
                             const std::vector<Tensor>& weights) {
  const std::optional<int64_t> gate_rows = (Checked(r.gates) * r.hidden).Value();
  const std::optional<int64_t> wide = (Checked(r.directions) * r.output()).Value();
  if (!gate_rows || !wide || group.bias != r.bias || group.projected != (r.projection > 0) ||
      !(r.groups() == static_cast<int64_t>(weights.size() / group.size))) {
    return false;
  }
  for (size_t i = 0; i < weights.size(); i += group.size) {
    const bool first = i / group.size < static_cast<size_t>(r.directions);
    const Tensor* weight = &weights[i];
    if (!HasRecurrentCallShape(weight[0], {*gate_rows, first ? r.input : *wide}) ||
        !HasRecurrentCallShape(weight[1], {*gate_rows, r.output()})) {
      return false;
    }
    if (r.bias && (!HasRecurrentCallShape(weight[2], {*gate_rows}) ||
                   !HasRecurrentCallShape(weight[3], {*gate_rows}))) {
      return false;
    }
    if (group.projected &&
        !HasRecurrentCallShape(weight[group.size - 1], {r.projection, r.hidden})) {
      return false;
    }
  }
  return true;
}

// ---- cells ----

std::optional<Reason> SizeCell(const RecurrentArgs& given, const Tensor& x, Recurrence* r) {
  if (x.shape.empty() || x.shape.size() > 2) return Reason::kShapeMismatch;
  r->batch = x.shape.size() == 2 ? x.shape[0] : 1;
  r->rows = r->batch;
  r->steps = 1;
  if (given.h) {
    r->hidden = LastExtent(*given.h);
  } else if (given.weights.size() > 1) {
    r->hidden = LastExtent(given.weights[1]);
  } else if (given.hidden) {
    r->hidden = *given.hidden;
  } else {
    return Reason::kUnsupportedArgs;
  }
  for (const auto& state : {given.h, given.c}) {
    if (!state) continue;
    const bool fits = x.shape.size() == 2 ? HasRecurrentCallShape(*state, {r->batch, r->hidden})
                                          : HasRecurrentCallShape(*state, {r->hidden});
    if (!fits) return Reason::kShapeMismatch;
  }
  r->bias = given.bias.value_or(given.weights.empty() || given.weights.size() == 4);
  return std::nullopt;
}

// ---- stacks of layers ----

// Layers and directions: given, or by the number of states or weights.
std::optional<Reason> SizeStack(const RecurrentArgs& given,
                                const std::optional<RecurrentCallGroup>& group, Recurrence* r) {
  std::optional<int64_t> groups;
  if (given.h && given.h->shape.size() >= 2) groups = given.h->shape[0];
  if (!groups && group) groups = static_cast<int64_t>(given.weights.size() / group->size);
  if (given.bidirectional) r->directions = *given.bidirectional ? 2 : 1;
  if (!groups) {
    r->layers = given.layers.value_or(1);
    return std::nullopt;
  }
  if (given.layers && !given.bidirectional) {
    r->directions = Checked(*given.layers) * 2 == *groups ? 2 : 1;
  } else if (!given.layers && !given.bidirectional && *groups % 2 == 0) {
    // Two directions, or twice the layers: the second W_ih decides, unless both widths are equal.
    const bool told = group && given.weights.size() > group->size;
    if (!told) return Reason::kUnsupportedArgs;
    const int64_t second = LastExtent(given.weights[group->size]);
    if (r->input == r->output()) return Reason::kUnsupportedArgs;
    r->directions = second == r->input ? 2 : 1;
  }
  r->layers = given.layers.value_or(*groups / r->directions);
  return r->groups() == *groups ? std::nullopt : std::optional(Reason::kShapeMismatch);
}

std::optional<Reason> SizeHidden(const RecurrentArgs& given,
                                 const std::optional<RecurrentCallGroup>& group, Recurrence* r) {
  if (given.hidden) {
    r->hidden = *given.hidden;
  } else if (given.c) {
    r->hidden = LastExtent(*given.c);
  } else if (group) {
    r->hidden = given.weights[1].shape[0] / r->gates;
  } else if (given.h) {
    r->hidden = LastExtent(*given.h);
  } else {
    return Reason::kUnsupportedArgs;
  }
  const int64_t output =
      given.h ? LastExtent(*given.h) : (group ? LastExtent(given.weights[1]) : r->hidden);
  if (given.projection) {
    r->projection = *given.projection;
  } else if (output != r->hidden) {
    r->projection = output;
  }
  if (r->projection > 0 && r->gates != 4) return Reason::kShapeMismatch;
  return std::nullopt;
}

// Rows and batch of the input: [T,B,I], [B,T,I], one sequence [T,I], or packed [rows,I].
std::optional<Reason> SizeInput(const RecurrentArgs& given, const Tensor& x, Recurrence* r) {
  const size_t rank = x.shape.size();
  const bool states = given.h && given.h->shape.size() == 3;
  if (rank == 2) {
    r->rows = x.shape[0];
    if (given.packed || states) {
      if (!states) return Reason::kUnsupportedArgs;
      r->batch = given.h->shape[1];
      return std::nullopt;
    }
    r->steps = r->rows;
    r->batch = 1;
    return std::nullopt;
  }
  if (rank != 3) return Reason::kShapeMismatch;
  const std::optional<int64_t> rows = (Checked(x.shape[0]) * x.shape[1]).Value();
  if (!rows) return Reason::kCostOverflow;
  r->rows = *rows;
  bool first = given.batch_first.value_or(false);
  if (!given.batch_first && states) {
    first = given.h->shape[1] != x.shape[1] && given.h->shape[1] == x.shape[0];
  }
  r->batch = x.shape[first ? 0 : 1];
  r->steps = x.shape[first ? 1 : 0];
  return std::nullopt;
}

bool StateFits(const std::optional<Tensor>& state, const Recurrence& r, int64_t width) {
  if (!state) return true;
  const std::optional<int64_t> groups = r.groups().Value();
  if (!groups) return false;
  return HasRecurrentCallShape(*state, {*groups, r.batch, width}) ||
         (r.batch == 1 && HasRecurrentCallShape(*state, {*groups, width}));
}

std::optional<Reason> SizeLayers(const RecurrentArgs& given, const Tensor& x, Recurrence* r) {
  const std::optional<RecurrentCallGroup> group = RecurrentCallGroupOf(given.weights, r->gates);
  if (!given.weights.empty() && !group) return Reason::kShapeMismatch;
  if (auto reason = SizeInput(given, x, r)) return reason;
  if (auto reason = SizeHidden(given, group, r)) return reason;
  if (auto reason = SizeStack(given, group, r)) return reason;
  if (r->layers < 1) return Reason::kUnsupportedArgs;
  r->bias = given.bias.value_or(!group || group->bias);
  if (!StateFits(given.h, *r, r->output()) || !StateFits(given.c, *r, r->hidden)) {
    return Reason::kShapeMismatch;
  }
  return std::nullopt;
}

// ---- the call ----

std::string_view LastComponent(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// The class whose forward was called: the module, or the argument `mod`.
const RecurrentCallKind* ClassOf(const OpCall& call) {
  for (const OpArg& arg : call.args) {
    if (arg.name == "mod" && arg.kind == OpArg::Kind::kString) {
      return FindRow(kClasses, LastComponent(arg.text));
    }
  }
  return FindRow(kClasses, LastComponent(call.mod));
}

// What _cudnn_rnn computes: its mode, or the only one that the states and weights allow.
const RecurrentCallKind* ModeOf(const RecurrentArgs& given) {
  if (given.mode) {
    return *given.mode < static_cast<int64_t>(std::size(kRecurrentCallModes))
               ? &kRecurrentCallModes[*given.mode]
               : nullptr;
  }
  if (given.c) return &kRecurrentCallModes[2];
  if (given.weights.size() < 2 || given.weights[1].shape.size() != 2) return nullptr;
  // Only LSTM projects, so W_hh of the others is [GH,H].
  const Shape shape = given.weights[1].shape;
  if (shape[1] > 0 && Checked(shape[1]) * 3 == shape[0]) return &kRecurrentCallModes[3];
  return shape[0] == shape[1] ? &kRecurrentCallModes[1] : nullptr;
}

/// Reads a call of a cell (lstm_cell, a class's forward), lstm, gru, rnn_tanh, rnn_relu or
/// _cudnn_rnn. Sizes come from arguments or shapes of states and weights: contradictions are
/// kShapeMismatch, missing ones kUnsupportedArgs. Returns why the call has no price, or nullopt.
std::optional<Reason> ReadRecurrence(std::string_view op, const OpCall& call, Recurrence* result) {
  const bool cudnn = op == "_cudnn_rnn";
  const RecurrentCallKind* kind = op == "forward" ? ClassOf(call) : FindRow(kRecurrentCallOps, op);
  if (kind == nullptr && !cudnn) return Reason::kUnknownOp;
  const RecurrentArgs given = cudnn ? ReadCudnnRnnArgs(call)
                                    : ReadRecurrentArgs(call, kind->gates == 4 ? 2 : 1, kind->cell);
  if (given.error) return *given.error;
  if (cudnn) kind = ModeOf(given);
  if (kind == nullptr || !given.input) return Reason::kUnsupportedArgs;
  const Tensor& x = *given.input;
  if (!x.Differentiable()) return Reason::kUnsupportedArgs;
  Recurrence& r = *result;
  r.kind = kind->kind;
  r.gates = kind->gates;
  r.cell = kind->cell;
  r.dtype = x.dtype;
  r.weight_dtype = given.weights.empty() ? x.dtype : given.weights.front().dtype;
  r.input = LastExtent(x);
  if (auto reason = r.cell ? SizeCell(given, x, &r) : SizeLayers(given, x, &r)) return reason;
  if (given.weights.empty()) return std::nullopt;
  const std::optional<RecurrentCallGroup> group = RecurrentCallGroupOf(given.weights, r.gates);
  return group && RecurrentCallWeightsFit(r, *group, given.weights)
             ? std::nullopt
             : std::optional(Reason::kShapeMismatch);
}

// FLOPs per hidden element and step beside the products: biases, gates and the new state.
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

// Each product has two gradients of its size. The gates' gradients, passed from part to part, are
// not part of the ideal traffic.
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

// ---- elementwise half of a cell, after its products ----

struct FusedCell {
  std::string_view name;
  int64_t gates;
  int64_t outputs;    // In H elements.
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
