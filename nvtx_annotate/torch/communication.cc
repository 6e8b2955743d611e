#include "nvtx_annotate/torch/communication.h"

#include <cstddef>
#include <cstring>
#include <string>

namespace oplens::annotate::torch {
namespace {

// The inputs of record_param_comms. What there is of it grew from version to version:
//
//   1.13   [tensors], seq, address of the group, rank, NAME, split sizes in, out
//   2.1    [tensors], seq, number of the group, rank, NAME, splits in, out, first rank, stride,
//   ranks 2.3    the same, the group is named by a text 2.4    the group is a pair of texts, its
//   name and description; seq may be a pair 2.9    one more at the end: whether the call is
//   asynchronous
//
// The tensors are absent where the call has none (a barrier). So NAME is the last text, and the
// rest has its place before and behind it.
constexpr size_t kBeforeName = 3;  // seq, group, rank
constexpr size_t kRanks = 5;       // Behind the name.

using CommunicationInputs = c10::ArrayRef<const c10::IValue>;

/// The place of NAME; 0: none.
size_t CommunicationNameOf(CommunicationInputs inputs) {
  size_t name = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].isString()) name = i;
  }
  if (name < kBeforeName || name > kBeforeName + 1) return 0;
  return inputs[name - 1].isInt() ? name : 0;
}

/// What names a group; "" where that is a mere address.
std::string GroupName(const c10::IValue& value) {
  if (value.isString()) return value.toStringRef();
  if (!value.isTuple()) return "";
  const auto& pair = value.toTupleRef().elements();
  return !pair.empty() && pair[0].isString() ? pair[0].toStringRef() : "";
}

bool HasItems(const c10::IValue& value) { return value.isList() && !value.toListRef().empty(); }

}  // namespace

bool CommunicationCall::Read(const at::RecordFunction& function, CallArgs* args) {
  if (std::strcmp(function.name(), "record_param_comms") != 0) return false;
  const CommunicationInputs inputs = function.inputs();
  const size_t name = CommunicationNameOf(inputs);
  if (name == 0) return false;
  op_ = inputs[name].toStringRef();
  if (name == kBeforeName + 1) args->AddNamed(nullptr, inputs[0]);
  group_ = GroupName(inputs[name - 2]);
  if (!group_.empty()) args->AddText("group", group_.c_str());
  args->AddNamed("rank", inputs[name - 1]);
  if (name + kRanks < inputs.size() && inputs[name + kRanks].isInt()) {
    args->AddNamed("world_size", inputs[name + kRanks]);
  }
  if (name + 2 < inputs.size()) {
    if (HasItems(inputs[name + 1])) args->AddNamed("in_split_sizes", inputs[name + 1]);
    if (HasItems(inputs[name + 2])) args->AddNamed("out_split_sizes", inputs[name + 2]);
  }
  return true;
}

}  // namespace oplens::annotate::torch
