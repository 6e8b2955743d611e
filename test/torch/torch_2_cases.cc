// Calls as PyTorch 2 makes them, with stand-ins for its headers: torch_2_cases. What it annotates
// is compared in versions_test.cc.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>

#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "nvtx_annotate/torch/allocations.h"
#include "nvtx_annotate/torch/torch_annotate.h"

namespace oplens::test {
namespace {

using c10::IValue;
using Inputs = std::vector<IValue>;

const c10::FunctionSchema kMm({"aten::mm", ""}, {c10::Argument("self"), c10::Argument("mat2")});
const c10::FunctionSchema kView({"aten::reshape", ""},
                                {c10::Argument("self"), c10::Argument("shape")});

at::TensorImpl g_float({4, 8}, c10::ScalarType::Float);
at::TensorImpl g_float8({8, 16}, c10::ScalarType::Float8_e4m3fn);
at::TensorImpl g_short({6}, c10::ScalarType::UInt16);
at::TensorImpl g_symbolic({}, c10::ScalarType::Float, true);

/// A call with others in it.
template <typename Inside>
void Call(at::RecordFunction::FunctionDescriptor function, const Inputs& inputs, int64_t seq,
          Inside inside) {
  at::RecordFunction call;
  call.before(function, {inputs.data(), inputs.size()}, seq);
  inside();
}
void Call(at::RecordFunction::FunctionDescriptor function, const Inputs& inputs, int64_t seq = -1) {
  Call(function, inputs, seq, [] {});
}

/// A label, as Dynamo and the user set them.
template <typename Inside>
void Label(std::string_view name, at::RecordScope scope, Inside inside) {
  at::RecordFunction call(scope);
  call.before(name);
  inside();
}

/// What is around the calls of a compiled module.
void CompiledRegion() {
  Label("Torch-Compiled Region: 0/0", at::RecordScope::FUNCTION, [] {
    Call("CompiledFunction", {&g_float}, 7, [] {
      Label("## Call CompiledFxGraph f3k ##", at::RecordScope::USER_SCOPE, [] {
        Call(kMm, {&g_float, &g_float8});
      });
    });
  });
}

void Backward() {
  at::RecordFunction node(at::RecordScope::BACKWARD_FUNCTION);
  node.setForwardThreadId(1);
  node.before("CompiledFunctionBackward", 7);
}

void SymbolicSizes() {
  Call(kMm, {&g_symbolic, &g_short}, 8);
  Call(kView, {&g_float, IValue::List({c10::SymInt(int64_t{32}), 1})});
  Call(kView, {&g_float, c10::SymInt(int64_t{32})});
  Call(kView, {&g_float, c10::SymInt(c10::nullopt)});
  Call(kView, {&g_float, c10::SymFloat()});
}

/// record_param_comms of one version after the other, and one that nobody knows.
void Collectives() {
  const IValue tensors = IValue::List({&g_float, &g_float});
  const IValue none = IValue::List({});
  const IValue parts = IValue::List({3, 1});
  Call("record_param_comms", {tensors, 5, 140234, 1, "allreduce", none, none});
  Call("record_param_comms", {tensors, 5, 0, 1, "broadcast", none, none, 0, 1, 8});
  Call("record_param_comms", {tensors, 5, "3", 1, "reduce", none, none, 0, 1, 8});
  Call("record_param_comms", {tensors, 5, IValue::Tuple({"3", "tensor_parallel"}), 1, "all_to_allv",
                              parts, parts, 0, 1, 2});
  Call("record_param_comms", {tensors, IValue::Tuple({5, false}), IValue::Tuple({"0", ""}), 0,
                              "_allgather_base", none, none, 0, 1, 4, true});
  Call("record_param_comms",
       {5, IValue::Tuple({"0", "default_pg"}), 1, "barrier", none, none, 0, 1, 4});
  Call("record_param_comms", {"allreduce"});
}

void Keywords() {
#if OPLENS_STAND_IN_MINOR >= 2
  const Inputs inputs;
  const at::RecordFunction::Keywords keywords = {{"grid", "(1, 1, 1)"}};
  at::RecordFunction call;
  call.before("triton_poi_fused_add_0", {inputs.data(), inputs.size()}, &keywords);
#endif
}

/// Operators that are removed, and others at their addresses.
void Removed() {
  std::optional<c10::FunctionSchema> schema;
  for (const char* const name : {"my::first", "my::second"}) {
    schema.emplace(c10::OperatorName{name, ""}, std::vector<c10::Argument>{c10::Argument("self")});
    for (int i = 0; i < 2; ++i) Call(*schema, {&g_short});
    schema.reset();
    c10::Dispatcher::singleton().Remove();
  }
}

/// Prints what the observer of allocators did.
void Memory() {
  using c10::DebugInfoKind;
  c10::Allocator* const plain = c10::GetAllocator(c10::DeviceType::CPU);
  const bool started = annotate::torch::StartMemory();
  c10::Allocator* const wrapped = c10::GetAllocator(c10::DeviceType::CPU);
  bool observed = false;
  bool slot = false;
  {
    const c10::DataPtr data = wrapped->allocate(64);
    observed = wrapped != plain && data.get_deleter() != plain->raw_deleter();
    const Inputs inputs;
    at::RecordFunction call;
    call.before("aten::empty", {inputs.data(), inputs.size()});
    auto* const reporter = dynamic_cast<c10::MemoryReportingInfoBase*>(
        c10::ThreadLocalDebugInfo::get(DebugInfoKind::PROFILER_STATE));
    slot = reporter != nullptr;
    if (slot) reporter->reportMemoryUsage(data.get(), 64, 64, 128, {c10::DeviceType::CUDA, 0});
  }
  const bool left = c10::ThreadLocalDebugInfo::get(DebugInfoKind::PROFILER_STATE) == nullptr;
  annotate::torch::StopMemory();
  const bool restored = c10::GetAllocator(c10::DeviceType::CPU) == plain;
  std::printf("memory: started %d, observed %d, slot %d and left %d, restored %d\n", started,
              observed, slot, left, restored);
}

}  // namespace
}  // namespace oplens::test

int main(int argc, char** /*argv*/) {
  if (argc > 1) {
    oplens::test::Memory();
    return 0;
  }
  oplens::annotate::torch::Install();
  oplens::test::CompiledRegion();
  oplens::test::Backward();
  oplens::test::SymbolicSizes();
  oplens::test::Collectives();
  oplens::test::Keywords();
  oplens::test::Removed();
  // Nothing is seen from here on.
  oplens::annotate::torch::Uninstall();
  oplens::test::CompiledRegion();
}
