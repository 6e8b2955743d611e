#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>

#include "nvtx_annotate/capture_window.h"
#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/torch/call_args.h"
#include "nvtx_annotate/torch/communication.h"
#include "nvtx_annotate/torch/form_cache.h"
#include "nvtx_annotate/torch/framework.h"
#include "nvtx_annotate/torch/range_stack.h"
#include "nvtx_annotate/torch/thread_numbers.h"
#include "nvtx_annotate/torch/torch_annotate.h"

// What PyTorch's record functions become: docs/markers.md.
//
//   op, in no other op             O, S
//   op inside an op                S where its sequence number is another one
//   op inside a node               nothing; O, S where it has a sequence number, so that a node may
//                                  refer to it (gradients of gradients; checkpoints: dir 'r')
//   node of the backward pass      N, S
//   evaluate_function of a node    a range of that name, so that sums and hooks of gradients in it
//   user scope, TorchScript        a range of that name
//
// This file and its like are compiled with NDEBUG whatever the build: RecordFunction::inputs()
// checks a member that only a debug build of the framework sets. The member does not change the
// layout.

namespace oplens::annotate::torch {
namespace {

using markers::CallFacts;
using markers::Direction;

ThreadNumbers g_threads;
FormCache g_forms;
bool g_inner = false;  ///< Ranges for ops inside ops too.

bool StartsWith(const char* text, std::string_view start) {
  return std::strncmp(text, start.data(), start.size()) == 0;
}

/// What the engine does for a node: "autograd::engine::evaluate_function: AddmmBackward0". Asked
/// for every op, of which few are without inputs, as these are.
bool IsEvaluate(const at::RecordFunction& function) {
  return function.inputs().empty() &&
         StartsWith(function.name(), "autograd::engine::evaluate_function");
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// One range that is open, as the framework keeps it until it ends.
class OpenRange : public at::ObserverContext {
 public:
  OpenRange(RangeStack* stack, const RangeStack::Mark& mark) noexcept
      : stack_(stack), mark_(mark) {}
  void End() noexcept { stack_->End(mark_); }

  static void* operator new(size_t size, RangeStack* stack) noexcept {
    return stack->NewObject(size);
  }
  static void operator delete(void* object, RangeStack* stack) noexcept {
    stack->DeleteObject(object);
  }
  static void operator delete(void* object) noexcept {
    RangeStack* const stack = RangeStack::OfThread();
    if (stack == nullptr) return RangeStack::FreeObject(object);
    stack->DeleteObject(object);
  }

 private:
  RangeStack* stack_;
  RangeStack::Mark mark_;
};

using Context = std::unique_ptr<at::ObserverContext>;

/// `token`: what was begun.
Context Keep(RangeStack* stack, uint64_t token, const Surroundings& inside) noexcept {
  if (token == 0) return nullptr;
  const RangeStack::Mark mark = stack->Push(token, inside);
  auto* const range = new (stack) OpenRange(stack, mark);
  if (range == nullptr) stack->End(mark);
  return Context(range);
}

uint64_t BeginOperator(const at::RecordFunction& function, CallFacts& facts) {
  CallArgs args;
  if (const CallForm* const form = g_forms.Find(function)) {
    args.Fill(*form, function.inputs());
    markers::OpNames names = form->names();
    names.lasting = true;
    return BeginCall(names, facts, args.data(), args.size());
  }
  CommunicationCall communication;
  if (communication.Read(function, &args)) {
    return BeginCall(communication.names(), facts, args.data(), args.size());
  }
  const CallForm form = MakeFunctionForm(function);
  args.Fill(form, function.inputs());
  return BeginCall(form.names(), facts, args.data(), args.size());
}

bool IsMinor(const at::RecordFunction& function) {
  const CallForm* const form = g_forms.Find(function);
  return form != nullptr && form->minor;
}

Context OnOperator(const at::RecordFunction& function, RangeStack* stack) {
  const Surroundings& around = stack->surroundings();
  const int64_t seq = function.seqNr();
  const bool inside_op = around.place == Place::kOp;
  const bool numbered = seq >= 0 && seq != around.seq;
  bool whole = !inside_op && (around.place != Place::kNode || seq >= 0);
  if (g_inner && !whole) whole = !IsMinor(function);
  if (!whole && !(inside_op && numbered)) return nullptr;

  CallFacts facts;
  facts.seq = whole || numbered ? seq : -1;
  facts.h = function.handle();
  const bool again = around.place == Place::kNode && seq >= 0 && !around.recorded;
  facts.dir = again ? Direction::kRecompute : around.dir;
  Surroundings inside = around;
  inside.dir = facts.dir;
  inside.place = Place::kOp;
  if (seq >= 0) inside.seq = seq;
  const uint64_t token =
      whole ? BeginOperator(function, facts) : BeginSequence(function.name(), facts);
  return Keep(stack, token, inside);
}

Context OnNode(const at::RecordFunction& function, RangeStack* stack) {
  const bool accumulates = EndsWith(function.name(), "AccumulateGrad");
  CallFacts facts;
  // AccumulateGrad has the greatest number there is, for its place in the queue.
  facts.seq = accumulates ? -1 : function.seqNr();
  facts.ftid = facts.seq < 0 ? 0 : g_threads.Find(function.forwardThreadId());
  facts.h = function.handle();
  facts.dir = accumulates ? Direction::kGradient : Direction::kBackward;
  return Keep(stack, BeginNode(function.name(), facts),
              {facts.seq, Place::kNode, facts.dir, at::GradMode::is_enabled()});
}

Context OnEvaluate(const at::RecordFunction& function, RangeStack* stack) {
  return Keep(stack, detail::BeginRange(function.name()),
              {-1, Place::kEvaluate, Direction::kGradient, false});
}

Context OnLabel(const at::RecordFunction& function, RangeStack* stack) {
  // It will end on another thread, whatever this one does then.
  if (function.isAsync()) return nullptr;
  Surroundings inside = stack->surroundings();
  if (StartsWith(function.name(), "Optimizer.")) inside.dir = Direction::kOptimizer;
  return Keep(stack, detail::BeginRange(function.name()), inside);
}

Context OnFunction(const at::RecordFunction& function, RangeStack* stack) {
  switch (function.scope()) {
    case at::RecordScope::FUNCTION:
      if (IsEvaluate(function)) return OnEvaluate(function, stack);
      return framework::IsLabel(function) ? OnLabel(function, stack) : OnOperator(function, stack);
    case at::RecordScope::BACKWARD_FUNCTION:
      return OnNode(function, stack);
    default:
      return OnLabel(function, stack);
  }
}

Context OnStart(const at::RecordFunction& function) noexcept {
  if (!Enabled()) return nullptr;
  RangeStack* const stack = RangeStack::OfThread();
  if (stack == nullptr || stack->full()) return nullptr;
  if (stack->framework_thread != function.threadId()) {
    stack->framework_thread = function.threadId();
    g_threads.Set(stack->framework_thread, CurrentThread());
  }
  stack->EndAsked();
  try {
    return OnFunction(function, stack);
  } catch (...) {
    // A range that could not be described is left out.
    return nullptr;
  }
}

void OnEnd(const at::RecordFunction& /*function*/, at::ObserverContext* context) noexcept {
  if (context != nullptr) static_cast<OpenRange*>(context)->End();
}

std::mutex g_install_mutex;
bool g_installed = false;
at::CallbackHandle g_callbacks[2];

/// Inputs cost the framework more than all that is done with them: only ops have them collected.
void AddCallbacks() {
  g_callbacks[0] = at::addGlobalCallback(at::RecordFunctionCallback(OnStart, OnEnd)
                                             .needsInputs(true)
                                             .needsIds(true)
                                             .scopes({at::RecordScope::FUNCTION}));
  g_callbacks[1] = at::addGlobalCallback(
      at::RecordFunctionCallback(OnStart, OnEnd)
          .needsIds(true)
          .scopes({at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::TORCHSCRIPT_FUNCTION,
                   at::RecordScope::USER_SCOPE}));
}

bool InstallOnce() {
  const std::lock_guard lock(g_install_mutex);
  if (g_installed) return true;
  if (EmissionMode() == Mode::kOff) return false;
  const char* const options = std::getenv("OPLENS_ANNOTATE");
  g_inner = HasWord(options == nullptr ? "" : options, "inner");
  AddCallbacks();
  g_installed = true;
  return true;
}

// After the globals above, in this order: loading the library installs it.
const bool g_installed_by_loading = Install();

}  // namespace

bool Install() noexcept {
  try {
    return InstallOnce();
  } catch (...) {
    return false;
  }
}

void Uninstall() noexcept {
  try {
    const std::lock_guard lock(g_install_mutex);
    if (!g_installed) return;
    for (const at::CallbackHandle callback : g_callbacks) at::removeCallback(callback);
    g_installed = false;
  } catch (...) {
    return;
  }
}

}  // namespace oplens::annotate::torch

extern "C" {

int oplens_torch_install(void) { return oplens::annotate::torch::Install() ? 1 : 0; }

void oplens_torch_uninstall(void) { oplens::annotate::torch::Uninstall(); }

}  // extern "C"
