#include "ops/families/recurrent_args.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "ops/call_args.h"
#include "ops/pricing.h"

namespace oplens::ops {
namespace {

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

}  // namespace

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

}  // namespace oplens::ops
