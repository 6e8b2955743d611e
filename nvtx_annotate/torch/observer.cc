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
#include "nvtx_annotate/hot.h"
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

using markers::CallFacts;
using markers::Direction;

ThreadNumbers g_threads;
NodeOwners g_owners;
FormCache g_forms;
NodeNames g_nodes;

/// What every call asks for, in one line of the processor's cache.
struct alignas(64) Settings {
  std::atomic<bool> on{false};     ///< Observing: the capture window is open.
  std::atomic<bool> shapes{true};  ///< Ops carry their arguments.
  bool pyprof = false;             ///< Emit only texts for PyProf's own prof.
  bool outer = false;              ///< No ranges for ops inside ops.
  /// Of operators from the dispatcher, see RecentForms.
  std::atomic<uint64_t> removals{0};
};
Settings g_settings;

bool ObserverStartsWith(const char* text, std::string_view start) {
  return std::strncmp(text, start.data(), start.size()) == 0;
}

/// Whether this is the engine's work for a node: "autograd::engine::evaluate_function:
/// AddmmBackward0". Called for every op; few ops have no inputs, so the first test decides.
bool IsEvaluate(const at::RecordFunction& function) {
  return function.inputs().empty() &&
         ObserverStartsWith(function.name(), "autograd::engine::evaluate_function");
}

/// An open range, kept by the framework until it ends.
class OpenRange : public at::ObserverContext {
 public:
  OpenRange(RangeStack* stack, RangeStack::Mark mark) noexcept : stack_(stack), mark_(mark) {}
  void End() noexcept { stack_->End(mark_); }
  /// The stack of this thread, if it ends on that, and alone; null otherwise.
  RangeStack* EndsAlone() const noexcept {
    return stack_->IsOfThread() && stack_->EndsAlone(mark_) ? stack_ : nullptr;
  }

  static void* operator new(size_t /*size*/, RangeStack* stack) noexcept {
    return stack->NewObject();
  }
  static void operator delete(void* object, RangeStack* /*stack*/) noexcept {
    RangeStack::DeleteObject(object);
  }
  static void operator delete(void* object) noexcept { RangeStack::DeleteObject(object); }

 private:
  RangeStack* stack_;
  RangeStack::Mark mark_;
};
static_assert(sizeof(OpenRange) <= RangeStack::kObjectBytes && alignof(OpenRange) <= 8);

using Context = std::unique_ptr<at::ObserverContext>;

inline __attribute__((always_inline)) Context Keep(RangeStack* stack, uint64_t token,
                                                   const Surroundings& inside) noexcept {
  if (token == 0) return nullptr;
  const RangeStack::Mark mark = stack->Push(token, inside);
  auto* const range = new (stack) OpenRange(stack, mark);
  if (range == nullptr) stack->End(mark);
  return Context(range);
}

/// Assigns the numbers before `next`, the thread's next one, to the call that created their nodes.
void GiveNumbersBefore(RangeStack* stack, uint64_t owner, uint64_t next) noexcept {
  if (next == stack->next_number) return;
  if (owner != 0 && next > stack->next_number) {
    for (uint64_t number = stack->next_number; number < next; ++number) {
      g_owners.Set(stack->framework_thread, number, owner);
    }
  }
  stack->next_number = next;
}

void GiveNumbers(RangeStack* stack, uint64_t owner) noexcept {
  GiveNumbersBefore(stack, owner, at::sequence_number::peek());
}

/// For any arguments, any tool, and what is not an operator: `known` is null then.
uint64_t BeginAnyOperator(const at::RecordFunction& function, const KnownForm* known,
                          CallFacts& facts) {
  CallArgs args;
  if (known != nullptr) {
    if (g_settings.shapes.load(std::memory_order_relaxed))
      args.Fill(known->form, function.inputs());
    return BeginCall(known->names, facts, args.data(), args.size());
  }
  CommunicationCall communication;
  if (communication.Read(function, &args)) {
    return BeginCall(communication.names(), facts, args.data(), args.size());
  }
  CompiledLaunch compiled;
  if (compiled.Read(function, g_settings.shapes.load(std::memory_order_relaxed), &args)) {
    const markers::OpNames names = {"triton", function.name(), nullptr};
    return BeginCall(names, facts, args.data(), args.size());
  }
  const CallForm made = MakeFunctionForm(function);
  if (g_settings.shapes.load(std::memory_order_relaxed)) args.Fill(made, function.inputs());
  return BeginCall(made.names(), facts, args.data(), args.size());
}

inline uint64_t BeginOperator(const at::RecordFunction& function, RangeStack* stack,
                              const KnownForm* known, CallFacts& facts) {
  if (known != nullptr && known->plain.is_plain() && stack->takes_payloads &&
      g_settings.shapes.load(std::memory_order_relaxed)) {
    facts.tid = stack->os_thread;
    PlainPayload payload(known->plain, function.inputs(), facts);
    const uint64_t token = BeginCall(stack->emitter, known->names, &payload);
    if (__builtin_expect(!payload.failed, 1)) return token;
  }
  return BeginAnyOperator(function, known, facts);
}

enum class Extent : uint8_t { kWhole, kNumber, kNothing };

/// Whether all tensors of a call, at least one, are single host numbers: inside an op this converts
/// a number to the op's data type, and nothing reaches a GPU.
bool WorksOnHostNumbers(c10::ArrayRef<const c10::IValue> inputs) {
  bool any = false;
  for (const c10::IValue& value : inputs) {
    if (value.isTensor()) {
      if (!IsHostNumber(*value.unsafeToTensorImpl())) return false;
      any = true;
    } else if (value.isTensorList()) {
      return false;
    }
  }
  return any;
}

/// Whether PyTorch itself reports the kernel of a view's operator once more, which is not one of
/// the dispatcher: aten::detach has a "detach" inside.
bool IsViewAgain(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "detach" || name == "detach_";
}

inline Extent ExtentOf(const at::RecordFunction& function, const KnownForm* known,
                       const Surroundings& around) {
  const bool inside_op = around.place == Place::kOp;
  if (!inside_op && around.place != Place::kNode) return Extent::kWhole;
  const int64_t seq = function.seqNr();
  const bool numbered = seq >= 0 && seq != around.seq;
  if (!g_settings.outer) {
    if (numbered) return Extent::kWhole;
    if (known == nullptr) return IsViewAgain(function) ? Extent::kNothing : Extent::kWhole;
    const bool minor = known->form.minor || (inside_op && WorksOnHostNumbers(function.inputs()));
    return minor ? Extent::kNothing : Extent::kWhole;
  }
  if (!inside_op) return seq >= 0 ? Extent::kWhole : Extent::kNothing;
  return numbered ? Extent::kNumber : Extent::kNothing;
}

/// `extent`: not kNothing.
Context ObserverOnOperator(const at::RecordFunction& function, RangeStack* stack,
                           const KnownForm* known, Extent extent) {
  // Not copied at once: that would stall on the stores of its members.
  const Surroundings& outside = stack->surroundings();
  const Place place = outside.place;
  const Direction dir = outside.dir;
  const bool recorded = outside.recorded;
  const int64_t around_seq = outside.seq;
  CallFacts facts;
  facts.seq = function.seqNr();
  facts.h = function.handle();
  // The number of an operator is that of its thread's next node; one without makes none.
  const uint64_t owner = known != nullptr && facts.seq < 0 ? outside.owner : facts.h;
  if (known == nullptr) {
    GiveNumbers(stack, outside.owner);
  } else if (facts.seq >= 0) {
    GiveNumbersBefore(stack, outside.owner, static_cast<uint64_t>(facts.seq));
  }
  // A function of Python has a number whether or not it makes a node.
  const bool makes_node = facts.seq >= 0 && (known != nullptr || at::GradMode::is_enabled());
  const bool again = place == Place::kNode && makes_node && !recorded;
  facts.dir = again ? Direction::kRecompute : dir;
  const uint64_t site = extent == Extent::kWhole ? BeginCallSite(place) : 0;
  const uint64_t token = extent == Extent::kWhole ? BeginOperator(function, stack, known, facts)
                                                  : BeginSequence(function.name(), facts);
  return Keep(stack, site != 0 ? site : token,
              {facts.seq >= 0 ? facts.seq : around_seq, Place::kOp, facts.dir, recorded, owner});
}

__attribute__((noinline)) OPLENS_HOT Context ObserverOnNode(const at::RecordFunction& function,
                                                            RangeStack* stack) {
  const char* const name = function.name();
  const NodeName* known = stack->node;
  if (known != nullptr && std::strcmp(known->node.names.op, name) != 0) known = nullptr;
  const bool accumulates = known != nullptr ? known->accumulates : IsAccumulation(name);
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
  const uint64_t token = known != nullptr ? BeginNode(known->node, facts) : BeginNode(name, facts);
  return Keep(stack, token, {facts.seq, Place::kNode, facts.dir, at::GradMode::is_enabled(), 0});
}

/// `node`: null if the table of names is full.
__attribute__((noinline)) OPLENS_HOT Context OnEvaluate(const at::RecordFunction& function,
                                                        const NodeName* node, RangeStack* stack) {
  stack->node = node;
  return Keep(stack,
              node != nullptr ? BeginText(node->evaluate) : detail::BeginRange(function.name()),
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
  if (g_settings.outer) return OnLabel(function, stack);
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

/// An operator or a function of Python; `known`: as g_forms has it.
__attribute__((noinline)) OPLENS_HOT Context OnCall(const at::RecordFunction& function,
                                                    const KnownForm* known, RangeStack* stack) {
  const Extent extent = ExtentOf(function, known, stack->surroundings());
  // The enclosing call goes on: its numbers can wait.
  if (extent == Extent::kNothing) return nullptr;
  return ObserverOnOperator(function, stack, known, extent);
}

Context OnFunction(const at::RecordFunction& function, RangeStack* stack) {
  const bool op = !g_settings.pyprof && function.scope() == at::RecordScope::FUNCTION;
  if (op && !IsEvaluate(function) && !framework::IsLabel(function)) {
    return OnCall(function, g_forms.Find(function), stack);
  }
  GiveNumbers(stack, stack->surroundings().owner);
  if (g_settings.pyprof) {
    const PyprofRange begun = BeginPyprof(function, stack->surroundings());
    return Keep(stack, begun.token, begun.inside);
  }
  switch (function.scope()) {
    case at::RecordScope::FUNCTION:
      return IsEvaluate(function) ? OnEvaluate(function, g_nodes.Find(function.name()), stack)
                                  : OnLabel(function, stack);
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

__attribute__((noinline, cold)) Context OnAnyStart(const at::RecordFunction& function,
                                                   RangeStack* stack) {
  if (stack->framework_thread == 0) {
    if (stack->forms == nullptr) stack->forms = new RecentForms;
    // Not the thread of `function`, which may be another one. The number of a thread never changes.
    stack->framework_thread = at::RecordFunction::currentThreadId();
    stack->next_number = at::sequence_number::peek();
    stack->os_thread = CurrentThread();
    stack->takes_payloads = TakesPayloads(*stack->emitter);
    g_threads.Set(stack->framework_thread, stack->os_thread);
  }
  stack->EndRequested();
  if (!stack->HasRoom()) {
    GiveNumbers(stack, stack->surroundings().owner);
    if (IsEmitted(function, stack->surroundings())) NoteLeftOut();
    return nullptr;
  }
  return OnFunction(function, stack);
}

/// Whether the call of a minor operator is inside another or a node, makes no node itself, and is
/// not worth a range: as ExtentOf() says, at once.
bool IsMinorInside(const at::RecordFunction& function, const Surroundings& around) {
  if (g_settings.outer) return false;
  const int64_t seq = function.seqNr();
  const bool inside = around.place == Place::kOp || around.place == Place::kNode;
  return inside && (seq < 0 || seq == around.seq);
}

/// OnAnyStart() for what there is most of, each with few instructions: ops, nodes and the engine's
/// work for them.
Context OnReadyStart(const at::RecordFunction& function, RangeStack* stack) {
  if (function.scope() == at::RecordScope::FUNCTION) {
    if (!function.inputs().empty()) {
      const RecentForms::Found found = stack->forms->Find(
          function, g_settings.removals.load(std::memory_order_relaxed), &g_forms);
      if (found.minor && IsMinorInside(function, stack->surroundings())) return nullptr;
      return OnCall(function, found.known, stack);
    }
    const NodeName* const node = g_nodes.FindKnown(function.name());
    if (node == nullptr) return OnAnyStart(function, stack);
    if (stack->surroundings().owner != 0) GiveNumbers(stack, stack->surroundings().owner);
    return OnEvaluate(function, node, stack);
  }
  if (function.scope() != at::RecordScope::BACKWARD_FUNCTION) return OnAnyStart(function, stack);
  if (stack->surroundings().owner != 0) GiveNumbers(stack, stack->surroundings().owner);
  return ObserverOnNode(function, stack);
}

OPLENS_HOT Context OnStart(const at::RecordFunction& function) noexcept {
  if (!g_settings.on.load(std::memory_order_relaxed)) return nullptr;
  RangeStack* const stack = RangeStack::OfThread();
  if (stack == nullptr) return nullptr;
  try {
    if (stack->IsReady() && !g_settings.pyprof) return OnReadyStart(function, stack);
    return OnAnyStart(function, stack);
  } catch (...) {
    // Ranges that cannot be described are left out.
    return nullptr;
  }
}

OPLENS_HOT void OnEnd(const at::RecordFunction& /*function*/,
                      at::ObserverContext* context) noexcept {
  if (context == nullptr) return;
  auto* const range = static_cast<OpenRange*>(context);
  if (RangeStack* const stack = range->EndsAlone(); __builtin_expect(stack != nullptr, 1)) {
    if (stack->ChangesOwner()) GiveNumbers(stack, stack->surroundings().owner);
    return stack->EndInnermost();
  }
  if (RangeStack* const stack = RangeStack::OfThread())
    GiveNumbers(stack, stack->surroundings().owner);
  range->End();
}

/// The OS gives the only thread of a forked child a new id.
void ForgetThread() {
  RangeStack::UnlockAll();
  if (RangeStack* const stack = RangeStack::OfThread()) stack->framework_thread = 0;
}

std::mutex g_install_mutex;
bool g_installed = false;
bool g_added = false;  ///< The callbacks are registered.
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
  if (on == g_settings.on.load(std::memory_order_relaxed)) return;
  g_settings.on.store(on, std::memory_order_relaxed);
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
  g_added = false;
  g_settings.on.store(false, std::memory_order_relaxed);
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
  g_settings.outer = HasWord(options == nullptr ? "" : options, "outer");
  g_settings.pyprof = HasWord(options == nullptr ? "" : options, "pyprof");
  static const int watching =
      pthread_atfork(RangeStack::LockAll, RangeStack::UnlockAll, ForgetThread);
  static_cast<void>(watching);
  g_forms.WatchOperators(&g_settings.removals);
  g_owners.TakeMemory();
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
  oplens::annotate::torch::g_settings.shapes.store(on != 0, std::memory_order_relaxed);
}

}  // extern "C"
