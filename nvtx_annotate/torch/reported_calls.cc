#include "nvtx_annotate/torch/reported_calls.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "nvtx_annotate/torch/framework.h"

// NDEBUG: see observer.cc.

namespace oplens::annotate::torch {
namespace {

// The inputs of record_param_comms by version:
//
//   1.13   [tensors], seq, address of the group, rank, NAME, split sizes in, out
//   2.1    [tensors], seq, number of the group, rank, NAME, splits in, out,
//          first rank, stride, ranks
//   2.3    the group is named by a text
//   2.4    the group is a pair of texts, name and description; seq may be a pair
//   2.9    one more at the end: whether the call is asynchronous
//
// Calls without tensors (a barrier) omit them. So NAME is the last text, and the others are located
// relative to it.
constexpr size_t kBeforeName = 3;  // seq, group, rank
constexpr size_t kRanks = 5;       // After the name.

using CommunicationInputs = c10::ArrayRef<const c10::IValue>;

/// The index of NAME; 0: none.
size_t CommunicationNameOf(CommunicationInputs inputs) {
  size_t name = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].isString()) name = i;
  }
  if (name < kBeforeName || name > kBeforeName + 1) return 0;
  return inputs[name - 1].isInt() ? name : 0;
}

/// The name of a group; "" if only an address is known.
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

void CompiledLaunch::AddText(const at::RecordFunction& function, const char* name, CallArgs* args) {
  const c10::IValue* const value = framework::FindKeyword(function, name);
  if (value == nullptr || !value->isString() || value->toStringRef().empty()) return;
  texts_[used_] = value->toStringRef();
  args->AddText(name, texts_[used_++].c_str());
}

bool CompiledLaunch::Read(const at::RecordFunction& function, bool with_arguments, CallArgs* args) {
  const c10::IValue* const backend = framework::FindKeyword(function, "kernel_backend");
  if (backend == nullptr || !backend->isString() || backend->toStringRef() != "triton")
    return false;
  if (!with_arguments) return true;
  for (const c10::IValue& input : function.inputs()) args->AddNamed(nullptr, input);
  AddText(function, "kernel_kwargs", args);
  AddText(function, "grid", args);
  const c10::IValue* const flops = framework::FindKeyword(function, "kernel_flop");
  if (flops != nullptr && flops->isInt()) args->AddNamed("kernel_flop", flops_ = *flops);
  constexpr double kGigabyte = 1e9;
  constexpr double kMostGigabytes = 9.2e9;
  const c10::IValue* const gigabytes = framework::FindKeyword(function, "kernel_num_gb");
  if (gigabytes != nullptr && gigabytes->isDouble() && gigabytes->toDouble() >= 0 &&
      gigabytes->toDouble() < kMostGigabytes) {
    bytes_ = static_cast<int64_t>(std::llround(gigabytes->toDouble() * kGigabyte));
    args->AddNamed("kernel_bytes", bytes_);
  }
  return true;
}

}  // namespace oplens::annotate::torch
