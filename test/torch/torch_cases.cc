// torch_cases COMMAND: short libtorch programs, one for each thing that the tests beside it look
// at.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/torch/torch_annotate.h"

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor Parameter(torch::IntArrayRef sizes) { return torch::rand(sizes).set_requires_grad(true); }

// What an op's kernel throws, and what the user throws out of a range.
void Exception() {
  for (int i = 0; i < 2; ++i) {
    try {
      RECORD_USER_SCOPE("outer");
      torch::mm(torch::rand({2, 3}), torch::rand({2, 3}));
    } catch (const c10::Error&) {
      torch::rand({1}).neg();
    }
  }
  try {
    RECORD_USER_SCOPE("thrown from");
    throw std::runtime_error("of the user");
  } catch (const std::runtime_error&) {
    torch::rand({1}).abs();
  }
}

class Square : public torch::autograd::Function<Square> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {gradients[0] * context->get_saved_variables()[0] * 2};
  }
};

void CustomFunction() { Square::apply(Parameter({2, 3}).exp()).sum().backward(); }

/// Runs its forward part again in the backward pass, as reentrant checkpointing does.
class Checkpoint : public torch::autograd::Function<Checkpoint> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return x.sin().cos();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const torch::AutoGradMode with_gradients(true);
    const Tensor x = context->get_saved_variables()[0].detach().set_requires_grad(true);
    x.sin().cos().backward(gradients[0]);
    return {x.grad()};
  }
};

void Reentrant() { Checkpoint::apply(Parameter({2, 3}).exp()).sum().backward(); }

// Both threads have the sequence numbers 0, 1, .. The backward pass of the CPU runs on the thread
// that asks for it.
void TwoThreads() {
  Tensor results[2];
  const auto forward = [&results](int i) {
    const Tensor x = Parameter({2, 3 + i});
    results[i] = i == 0 ? x.sin().sum() : x.exp().mean();
  };
  for (int i = 0; i < 2; ++i) std::thread(forward, i).join();
  (results[0] + results[1]).backward();
}

void DoubleBackward() {
  const Tensor x = Parameter({2, 3});
  const Tensor y = x.pow(3).sum();
  const Tensor gradient = torch::autograd::grad({y}, {x}, {}, true, true)[0];
  gradient.sin().sum().backward();
}

void Hook() {
  const Tensor x = Parameter({2, 3});
  const Tensor y = x.exp();
  y.register_hook([](const Tensor& gradient) { return gradient.clamp(-1, 1); });
  (y.sin() + y).sum().backward();
}

// A range that another thread ends, one that ends after the one around it, and an asynchronous one.
void OtherThreads() {
  auto ended_elsewhere = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
  ended_elsewhere->before("ended elsewhere");
  torch::rand({1}).neg();
  std::thread([&] { ended_elsewhere.reset(); }).join();
  torch::rand({1}).abs();

  auto outer = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
  outer->before("outer");
  auto inner = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
  inner->before("inner");
  outer.reset();
  torch::rand({1}).exp();
  inner.reset();
  torch::rand({1}).sin();

  at::RecordFunction asynchronous(at::RecordScope::USER_SCOPE);
  asynchronous._setAsync();
  asynchronous.before("asynchronous");
  torch::rand({1}).cos();
}

// Arguments of all kinds.
void Arguments() {
  const Tensor x = torch::ones({2, 3});
  torch::addmm(torch::ones({4}), x, torch::ones({3, 4}), 2, 0.5);
  torch::cat({x, torch::ones({1, 3}, torch::kFloat64)}, 0);
  torch::linear(x, torch::ones({4, 3}), {});
  torch::where(x > 1, x, torch::ones({}));
  torch::zeros({0, 3}, torch::kInt16);
  x.to(torch::kBFloat16);
  torch::div(x, 2, "floor");
  torch::embedding(torch::ones({5, 2}), torch::zeros({3}, torch::kInt64));
  x.index({torch::zeros({2}, torch::kInt64)});
  torch::sum(x, at::IntArrayRef({0, 1}), true, torch::kFloat64);
  torch::full({2}, c10::complex<double>(1, -2));
  x.add_(1);
  x.to_sparse();
  at::_nested_tensor_from_mask(torch::ones({2, 3, 4}), torch::ones({2, 3}, torch::kBool)).clone();
  torch::_foreach_add({torch::ones({2}), torch::ones({3})}, {torch::ones({2}), torch::ones({3})});
  torch::quantize_per_tensor(x, 0.1, 3, torch::kQUInt8);
}

// Recorded between Start() and Stop() alone.
void Window() {
  oplens::annotate::Stop();
  torch::rand({1}).neg();
  {
    RECORD_USER_SCOPE("begun outside");
    oplens::annotate::Start();
    torch::rand({1}).abs();
  }
  {
    RECORD_USER_SCOPE("ended outside");
    oplens::annotate::Stop();
  }
  oplens::annotate::Start();
  torch::rand({1}).exp();
  oplens::annotate::torch::Uninstall();
  torch::rand({1}).sin();
  oplens::annotate::torch::Install();
  torch::rand({1}).cos();
}

void InnerOps() { torch::linear(torch::ones({2, 3}), Parameter({4, 3})).sum().backward(); }

/// The type of the totals depends on the version.
template <typename Function>
struct ReportedTotal;
template <typename Total>
struct ReportedTotal<void (c10::MemoryReportingInfoBase::*)(void*, int64_t, Total, Total,
                                                            c10::Device)> {
  using Type = Total;
};
using ReportedTotalType =
    ReportedTotal<decltype(&c10::MemoryReportingInfoBase::reportMemoryUsage)>::Type;

/// Stands where torch.profiler does.
struct OtherReporter : c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void* /*data*/, int64_t bytes, ReportedTotalType /*allocated*/,
                         ReportedTotalType /*reserved*/, c10::Device /*device*/) override {
    seen += bytes;
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t seen = 0;
};

// Events of a device's allocator, as PyTorch reports them: what the slot of the thread gets.
void Memory() {
  const auto slot = c10::DebugInfoKind::PROFILER_STATE;
  const auto report = [](uintptr_t address, int64_t bytes) {
    c10::reportMemoryUsageToProfiler(
        reinterpret_cast<void*>(address), bytes, static_cast<ReportedTotalType>(1000 + bytes),
        ReportedTotalType{4096}, c10::Device(c10::DeviceType::CUDA, 2));
  };
  const auto in_op = [&](uintptr_t address, int64_t bytes) {
    RECORD_FUNCTION("my::op", std::vector<c10::IValue>());
    report(address, bytes);
  };
  const bool observed = oplens_torch_memory(1) == 1;
  report(1, 11);
  {
    RECORD_FUNCTION("my::outer", std::vector<c10::IValue>());
    report(2, 22);
    in_op(3, -22);
    std::printf("host %d\n", c10::memoryProfilingEnabled() ? 1 : 0);
    report(4, 44);
  }
  std::thread([&] { in_op(5, 55); }).join();
  try {
    RECORD_FUNCTION("my::op", std::vector<c10::IValue>());
    throw std::runtime_error("of the user");
  } catch (const std::runtime_error&) {
    report(6, 66);
  }
  const auto other = std::make_shared<OtherReporter>();
  {
    const c10::DebugInfoGuard guard(slot, other);
    in_op(7, 77);
    std::printf("other %d\n", c10::ThreadLocalDebugInfo::get(slot) == other.get() ? 1 : 0);
  }
  std::printf("seen by other %d\n", static_cast<int>(other->seen));
  oplens::annotate::Stop();
  in_op(8, 88);
  oplens::annotate::Start();
  if (observed) oplens_torch_memory(0);
  in_op(9, 99);
  std::printf("observed %d, slot %d\n", observed ? 1 : 0,
              c10::ThreadLocalDebugInfo::get(slot) == nullptr ? 0 : 1);
}

/// A tensor that throws when it is asked for its sizes.
class Sizeless : public c10::TensorImpl {
 public:
  Sizeless()
      : TensorImpl(c10::DispatchKeySet(c10::DispatchKey::CPU), caffe2::TypeMeta::Make<float>(),
                   at::kCPU) {
    set_custom_sizes_strides(SizesStridesPolicy::CustomSizes);
  }
  at::IntArrayRef sizes_custom() const override { throw std::runtime_error("no sizes"); }
};

// An op of such a tensor, and another one.
void NoSizes() {
  const c10::IValue input(Tensor(c10::make_intrusive<Sizeless>()));
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::neg", "");
  for (int i = 0; i < 2; ++i) {
    at::RecordFunction function(at::RecordScope::FUNCTION);
    function.before(op.schema(), c10::ArrayRef<const c10::IValue>(&input, 1));
  }
  torch::rand({1}).abs();
}

// Whether the framework calls anything for its ops.
void Callbacks() {
  std::printf("installed %d, callbacks %d\n", oplens::annotate::torch::Install() ? 1 : 0,
              at::hasGlobalCallbacks() ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> commands = {
      {"exception", Exception},
      {"custom", CustomFunction},
      {"reentrant", Reentrant},
      {"threads", TwoThreads},
      {"double", DoubleBackward},
      {"hook", Hook},
      {"other-threads", OtherThreads},
      {"arguments", Arguments},
      {"window", Window},
      {"inner", InnerOps},
      {"callbacks", Callbacks},
      {"memory", Memory},
      {"no-sizes", NoSizes},
  };
  const auto command = commands.find(argc == 2 ? argv[1] : "");
  if (command == commands.end()) return 2;
  torch::set_num_threads(1);
  oplens::annotate::torch::Install();
  command->second();
}
