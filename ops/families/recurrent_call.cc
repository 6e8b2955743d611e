#include "ops/families/recurrent_call.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "ops/families/recurrent_args.h"
#include "ops/pricing.h"
#include "ops/tensor.h"

namespace oplens::ops {
namespace {

// ---- which kind ----

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

// By the number that cuDNN gives them.
constexpr RecurrentCallKind kRecurrentCallModes[] = {
    {"RNN_RELU", "RNN", 1, false},
    {"RNN_TANH", "RNN", 1, false},
    {"LSTM", "LSTM", 4, false},
    {"GRU", "GRU", 3, false},
};

// ---- sizes from shapes ----

int64_t LastExtent(const Tensor& tensor) { return tensor.shape.empty() ? 0 : tensor.shape.back(); }

// The weights of one layer and direction: W_ih [GH,I], W_hh [GH,R], two biases [GH], W_hr [P,H].
struct RecurrentCallGroup {
  size_t size = 2;
  bool bias = false;
  bool projected = false;
};

// How PyTorch's list of weights is divided; nullopt when it is none.
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

// Whether the weights are those of a stack of such sizes.
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

// Layers and directions: both given, or as many as the states or the weights are.
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
    // Two directions, or twice as many layers. The second W_ih tells, unless both are as wide.
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

// What _cudnn_rnn computes: its mode, or what the states and weights can only be.
const RecurrentCallKind* ModeOf(const RecurrentArgs& given) {
  if (given.mode) {
    return *given.mode < static_cast<int64_t>(std::size(kRecurrentCallModes))
               ? &kRecurrentCallModes[*given.mode]
               : nullptr;
  }
  if (given.c) return &kRecurrentCallModes[2];
  if (given.weights.size() < 2 || given.weights[1].shape.size() != 2) return nullptr;
  // Only LSTM projects, so that the others' W_hh is [GH,H].
  const Shape shape = given.weights[1].shape;
  if (shape[1] > 0 && Checked(shape[1]) * 3 == shape[0]) return &kRecurrentCallModes[3];
  return shape[0] == shape[1] ? &kRecurrentCallModes[1] : nullptr;
}

}  // namespace

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

}  // namespace oplens::ops
