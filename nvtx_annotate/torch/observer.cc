#include <ATen/SequenceNumber.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nvtx_annotate/capture_window.h"
#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/torch/call_args.h"
#include "nvtx_annotate/torch/call_form.h"
#include "nvtx_annotate/torch/form_cache.h"
#include "nvtx_annotate/torch/framework.h"
#include "nvtx_annotate/torch/node_names.h"
#include "nvtx_annotate/torch/node_owners.h"
#include "nvtx_annotate/torch/pyprof_ranges.h"
#include "nvtx_annotate/torch/python_trace.h"
#include "nvtx_annotate/torch/range_stack.h"
#include "nvtx_annotate/torch/reported_calls.h"
#include "nvtx_annotate/torch/torch_annotate.h"

// What is emitted for PyTorch's record functions: docs/markers.md.
//
//   op                             O, S; ops inside ops and inside nodes too, since the innermost
//                                  has the arguments that kernels work on. Not there: what only
//                                  allocates or makes a view, unless a node may refer to it
//   node of the backward pass      N, S
//   evaluate_function of a node    a range of that name, so that sums and hooks of gradients in it
//   function of TorchScript        O without arguments: it makes nodes
//   user scope                     a range of that name
//
// With the word "outer" in OPLENS_ANNOTATE, only outermost ops have an O; ops inside ops have an S
// if their sequence number differs; ops inside a node have nothing or, if numbered, O and S
// (gradients of gradients; checkpoints: dir 'r').
//
// This file and similar ones are always compiled with NDEBUG: RecordFunction::inputs() checks a
// member that only a debug build of the framework sets. The member does not change the layout.

namespace oplens::annotate::torch {
namespace {

CallForm MakeFunctionForm(const at::RecordFunction& function) {
  return FormOfFunction(function.name(), function.inputs().size());
}

std::atomic<bool> g_shapes{true};  ///< Ops carry their arguments.

using markers::CallFacts;
using markers::Direction;

ThreadNumbers g_threads;
NodeOwners g_owners;
FormCache g_forms;
NodeNames g_nodes;
bool g_pyprof = false;  ///< Emit only texts for PyProf's own prof.
bool g_outer = false;   ///< No ranges for ops inside ops.

bool ObserverStartsWith(const char* text, std::string_view start) {
  return std::strncmp(text, start.data(), start.size()) == 0;
}

/// Whether this is the engine's work for a node: "autograd::engine::evaluate_function:
/// AddmmBackward0". Called for every op; few ops have no inputs, so the first test decides.
bool IsEvaluate(const at::RecordFunction& function) {
  return function.inputs().empty() &&
         ObserverStartsWith(function.name(), "autograd::engine::evaluate_function");
}

bool ObserverEndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// An open range, kept by the framework until it ends.
class OpenRange : public at::ObserverContext {
 public:
  OpenRange(RangeStack* stack, RangeStack::Mark mark) noexcept : stack_(stack), mark_(mark) {}
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

Context Keep(RangeStack* stack, uint64_t token, const Surroundings& inside) noexcept {
  if (token == 0) return nullptr;
  const RangeStack::Mark mark = stack->Push(token, inside);
  auto* const range = new (stack) OpenRange(stack, mark);
  if (range == nullptr) stack->End(mark);
  return Context(range);
}

/// Assigns the numbers that the thread's counter has passed to the call that created their nodes.
void GiveNumbers(RangeStack* stack, uint64_t owner) noexcept {
  const uint64_t next = at::sequence_number::peek();
  if (next == stack->next_number) return;
  if (owner != 0 && next > stack->next_number) {
    for (uint64_t number = stack->next_number; number < next; ++number) {
      g_owners.Set(stack->framework_thread, number, owner);
    }
  }
  stack->next_number = next;
}

/// For any arguments, any tool, and what is not an operator: `known` is null then.
uint64_t BeginAnyOperator(const at::RecordFunction& function, const KnownForm* known,
                          CallFacts& facts) {
  CallArgs args;
  if (known != nullptr) {
    if (g_shapes.load(std::memory_order_relaxed)) args.Fill(known->form, function.inputs());
    return BeginCall(known->names, facts, args.data(), args.size());
  }
  CommunicationCall communication;
  if (communication.Read(function, &args)) {
    return BeginCall(communication.names(), facts, args.data(), args.size());
  }
  CompiledLaunch compiled;
  if (compiled.Read(function, g_shapes.load(std::memory_order_relaxed), &args)) {
    const markers::OpNames names = {"triton", function.name(), nullptr};
    return BeginCall(names, facts, args.data(), args.size());
  }
  const CallForm made = MakeFunctionForm(function);
  if (g_shapes.load(std::memory_order_relaxed)) args.Fill(made, function.inputs());
  return BeginCall(made.names(), facts, args.data(), args.size());
}

uint64_t BeginOperator(const at::RecordFunction& function, const KnownForm* known,
                       CallFacts& facts) {
  if (known != nullptr && g_shapes.load(std::memory_order_relaxed)) {
    if (unsigned char* const buffer = PayloadBuffer()) {
      markers::PlainArgs args(buffer);
      if (known->plain.Write(function.inputs(), &args)) return BeginCall(known->names, facts, args);
    }
  }
  return BeginAnyOperator(function, known, facts);
}

enum class Extent : uint8_t { kWhole, kNumber, kNothing };

/// Whether all tensors of a call, at least one, are single host numbers: inside an op this converts
/// a number to the op's data type, and nothing reaches a GPU.
bool WorksOnHostNumbers(c10::ArrayRef<const c10::IValue> inputs) {
  bool any = false;
  for (const c10::IValue& value : inputs) {
    if (value.isTensorList()) return false;
    if (!value.isTensor()) continue;
    if (!IsHostNumber(*value.unsafeToTensorImpl())) return false;
    any = true;
  }
  return any;
}

Extent ExtentOf(const at::RecordFunction& function, const KnownForm* known,
                const Surroundings& around) {
  const bool inside_op = around.place == Place::kOp;
  if (!inside_op && around.place != Place::kNode) return Extent::kWhole;
  const int64_t seq = function.seqNr();
  const bool numbered = seq >= 0 && seq != around.seq;
  if (!g_outer) {
    if (numbered || known == nullptr) return Extent::kWhole;
    const bool minor = known->form.minor || (inside_op && WorksOnHostNumbers(function.inputs()));
    return minor ? Extent::kNothing : Extent::kWhole;
  }
  if (!inside_op) return seq >= 0 ? Extent::kWhole : Extent::kNothing;
  return numbered ? Extent::kNumber : Extent::kNothing;
}

Context ObserverOnOperator(const at::RecordFunction& function, RangeStack* stack) {
  const Surroundings& around = stack->surroundings();
  const int64_t seq = function.seqNr();
  const KnownForm* const known = g_forms.Find(function);
  const Extent extent = ExtentOf(function, known, around);
  // The enclosing call goes on: its numbers can wait.
  if (extent == Extent::kNothing) return nullptr;

  GiveNumbers(stack, around.owner);
  CallFacts facts;
  facts.seq = seq;
  facts.h = function.handle();
  // A function of Python has a number whether or not it makes a node.
  const bool makes_node = seq >= 0 && (known != nullptr || at::GradMode::is_enabled());
  const bool again = around.place == Place::kNode && makes_node && !around.recorded;
  facts.dir = again ? Direction::kRecompute : around.dir;
  Surroundings inside = around;
  inside.dir = facts.dir;
  inside.place = Place::kOp;
  inside.owner = facts.h;
  if (seq >= 0) inside.seq = seq;
  const uint64_t site = extent == Extent::kWhole ? BeginCallSite(around.place) : 0;
  const uint64_t token = extent == Extent::kWhole ? BeginOperator(function, known, facts)
                                                  : BeginSequence(function.name(), facts);
  return Keep(stack, site != 0 ? site : token, inside);
}

Context ObserverOnNode(const at::RecordFunction& function, RangeStack* stack) {
  const bool accumulates = ObserverEndsWith(function.name(), "AccumulateGrad");
  CallFacts facts;
  // AccumulateGrad has the maximum number, for its place in the queue.
  facts.seq = accumulates ? -1 : function.seqNr();
  if (facts.seq >= 0) {
    const uint64_t forward_thread = function.forwardThreadId();
    facts.ftid = g_threads.Find(forward_thread);
    facts.fh = g_owners.Find(forward_thread, static_cast<uint64_t>(facts.seq));
  }
  facts.h = function.handle();
  facts.dir = accumulates ? Direction::kGradient : Direction::kBackward;
  const char* const name = function.name();
  const NodeName* const known = stack->node;
  const bool is_known = known != nullptr && std::strcmp(known->node.names.op, name) == 0;
  return Keep(stack, is_known ? BeginNode(known->node, facts) : BeginNode(name, facts),
              {facts.seq, Place::kNode, facts.dir, at::GradMode::is_enabled(), 0});
}

Context OnEvaluate(const at::RecordFunction& function, RangeStack* stack) {
  const char* const name = function.name();
  stack->node = g_nodes.Find(name);
  return Keep(stack,
              stack->node != nullptr ? BeginText(stack->node->evaluate) : detail::BeginRange(name),
              {-1, Place::kEvaluate, Direction::kGradient, false, 0});
}

Context OnLabel(const at::RecordFunction& function, RangeStack* stack) {
  // It may end on another thread at any time.
  if (function.isAsync()) return nullptr;
  Surroundings inside = stack->surroundings();
  if (ObserverStartsWith(function.name(), "Optimizer.")) inside.dir = Direction::kOptimizer;
  return Keep(stack, detail::BeginRange(function.name()), inside);
}

/// Its arguments would be interpreter objects. It surrounds ops and does not replace them.
Context OnScript(const at::RecordFunction& function, RangeStack* stack) {
  if (g_outer) return OnLabel(function, stack);
  CallFacts facts;
  facts.h = function.handle();
  Surroundings inside = stack->surroundings();
  facts.dir = inside.dir;
  inside.owner = facts.h;
  markers::OpNames names;
  names.mod = "torch.jit";
  names.op = function.name();
  return Keep(stack, BeginCall(names, facts, nullptr, 0), inside);
}

Context OnFunction(const at::RecordFunction& function, RangeStack* stack) {
  const bool op = !g_pyprof && function.scope() == at::RecordScope::FUNCTION;
  if (op && !IsEvaluate(function) && !framework::IsLabel(function)) {
    return ObserverOnOperator(function, stack);
  }
  GiveNumbers(stack, stack->surroundings().owner);
  if (g_pyprof) {
    const PyprofRange begun = BeginPyprof(function, stack->surroundings());
    return Keep(stack, begun.token, begun.inside);
  }
  switch (function.scope()) {
    case at::RecordScope::FUNCTION:
      return IsEvaluate(function) ? OnEvaluate(function, stack) : OnLabel(function, stack);
    case at::RecordScope::BACKWARD_FUNCTION:
      return ObserverOnNode(function, stack);
    case at::RecordScope::TORCHSCRIPT_FUNCTION:
      return OnScript(function, stack);
    default:
      return OnLabel(function, stack);
  }
}

/// Whether the function gets a range, if there is room.
bool IsEmitted(const at::RecordFunction& function, const Surroundings& around) {
  if (function.scope() != at::RecordScope::FUNCTION || IsEvaluate(function)) return true;
  return ExtentOf(function, g_forms.Find(function), around) != Extent::kNothing;
}

Context OnStart(const at::RecordFunction& function) noexcept {
  if (!Enabled()) return nullptr;
  RangeStack* const stack = RangeStack::OfThread();
  if (stack == nullptr) return nullptr;
  if (stack->framework_thread == 0) {
    // Not the thread of `function`, which may be another one. The number of a thread never changes.
    stack->framework_thread = at::RecordFunction::currentThreadId();
    stack->next_number = at::sequence_number::peek();
    g_threads.Set(stack->framework_thread, CurrentThread());
  }
  stack->EndRequested();
  try {
    if (!stack->MakeRoom()) {
      GiveNumbers(stack, stack->surroundings().owner);
      if (IsEmitted(function, stack->surroundings())) NoteLeftOut();
      return nullptr;
    }
    return OnFunction(function, stack);
  } catch (...) {
    // Ranges that cannot be described are left out.
    return nullptr;
  }
}

void OnEnd(const at::RecordFunction& /*function*/, at::ObserverContext* context) noexcept {
  if (context == nullptr) return;
  RangeStack* const stack = RangeStack::OfThread();
  if (stack != nullptr) GiveNumbers(stack, stack->surroundings().owner);
  static_cast<OpenRange*>(context)->End();
}

/// The OS gives the only thread of a forked child a new id.
void ForgetThread() {
  RangeStack::UnlockAll();
  if (RangeStack* const stack = RangeStack::OfThread()) stack->framework_thread = 0;
}

std::mutex g_install_mutex;
bool g_installed = false;
bool g_added = false;      ///< The callbacks are registered.
bool g_observing = false;  ///< The callbacks are enabled.
at::CallbackHandle g_callbacks[2];

/// Collecting inputs is the framework's largest cost: only request them for ops.
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

/// Outside the capture window the framework must not even collect inputs. Ops may be running, so
/// callbacks are enabled and disabled, and removed only at the end.
void Observe(bool on) {
  if (on == g_observing) return;
  g_observing = on;
  if (on && !g_added) {
    AddCallbacks();
    g_added = true;
    return;
  }
  for (const at::CallbackHandle callback : g_callbacks) {
    on ? at::reenableCallback(callback) : at::disableCallback(callback);
  }
}

void RemoveCallbacks() {
  if (!g_added) return;
  for (const at::CallbackHandle callback : g_callbacks) at::removeCallback(callback);
  g_added = g_observing = false;
}

void OnWindow(bool open) noexcept {
  try {
    const std::lock_guard lock(g_install_mutex);
    if (g_installed) Observe(open);
  } catch (...) {
    return;
  }
}

bool InstallOnce() {
  if (EmissionMode() == Mode::kOff) return false;
  OnSwitch(OnWindow);
  const std::lock_guard lock(g_install_mutex);
  if (g_installed) return true;
  const char* const options = std::getenv("OPLENS_ANNOTATE");
  g_outer = HasWord(options == nullptr ? "" : options, "outer");
  g_pyprof = HasWord(options == nullptr ? "" : options, "pyprof");
  static const int watching =
      pthread_atfork(RangeStack::LockAll, RangeStack::UnlockAll, ForgetThread);
  static_cast<void>(watching);
  Observe(Enabled());
  g_installed = true;
  return true;
}

// After the globals above: loading the library installs it.
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
    RemoveCallbacks();
    g_installed = false;
  } catch (...) {
    return;
  }
}

}  // namespace oplens::annotate::torch

extern "C" {

int oplens_torch_install(void) { return oplens::annotate::torch::Install() ? 1 : 0; }

void oplens_torch_uninstall(void) { oplens::annotate::torch::Uninstall(); }

void oplens_torch_shapes(int on) {
  oplens::annotate::torch::g_shapes.store(on != 0, std::memory_order_relaxed);
}

}  // extern "C"
