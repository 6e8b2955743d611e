#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/torch/python_api.h"
#include "nvtx_annotate/torch/recent.h"
#include "nvtx_annotate/torch/torch_annotate.h"

// Called by oplens_annotate around every module run. Python builds each module's path once; the
// texts are kept here by module address. Guarded by the GIL, except for the threads' stacks.

namespace oplens::annotate::torch::python {
namespace {

/// The modules that a thread is running, innermost last.
struct Running {
  struct Entry {
    Object* module;
    uint64_t token;
  };
  static constexpr size_t kMaxDepth = 4096;
  size_t depth = 0;
  Entry entries[kMaxDepth];
};

thread_local Running* t_running = nullptr;

class RunningOwner {
 public:
  RunningOwner() noexcept : running_(new (std::nothrow) Running) {}
  ~RunningOwner() {
    t_running = nullptr;
    gone = true;
    delete running_;
  }
  RunningOwner(const RunningOwner&) = delete;
  RunningOwner& operator=(const RunningOwner&) = delete;
  Running* get() const noexcept { return running_; }

  static thread_local bool gone;

 private:
  Running* const running_;
};
thread_local bool RunningOwner::gone = false;

Running* MakeRunning() noexcept {
  if (RunningOwner::gone) return nullptr;
  static thread_local const RunningOwner owner;
  t_running = owner.get();
  return t_running;
}

/// Null if out of memory or the thread is ending.
Running* RunningOfThread() noexcept { return t_running != nullptr ? t_running : MakeRunning(); }

struct Text {
  std::string text;
  WholeText whole;
};

/// The text of a module.
struct PythonLayersKnown {
  const Text* text = nullptr;
  std::unique_ptr<const Text> own;  ///< If there are too many texts to keep.
};

struct Layers {
  const Api* api = nullptr;
  Object* name = nullptr;      ///< The Python function that names a module and calls set().
  Object* original = nullptr;  ///< The original Module.__call__.
  std::unordered_map<uintptr_t, PythonLayersKnown> modules;
  Recent<WholeText, 512> recent;  ///< Of `modules`, by their addresses.
  std::unordered_map<std::string_view, std::unique_ptr<const Text>> texts;
};

/// Never destroyed: modules may run while the process ends.
Layers& TheLayers() {
  static Layers* const layers = new Layers;
  return *layers;
}

uintptr_t PythonLayersAddress(const Object* module) { return reinterpret_cast<uintptr_t>(module); }

/// TextOf() of a module that is not among the last ones.
__attribute__((noinline)) const WholeText* FindText(Layers* layers, Object* module,
                                                    const Running& running) {
  const auto known = layers->modules.find(PythonLayersAddress(module));
  if (known != layers->modules.end()) {
    const WholeText* const text = &known->second.text->whole;
    layers->recent.Keep(module, *text);
    return text;
  }
  const Api& api = *layers->api;
  Object* const around = running.depth == 0 ? api.none : running.entries[running.depth - 1].module;
  const Owned answer(api, api.PyObject_CallFunctionObjArgs(layers->name, module, around, nullptr));
  if (answer.get() == nullptr) api.PyErr_Clear();
  const auto added = layers->modules.find(PythonLayersAddress(module));
  return added == layers->modules.end() ? nullptr : &added->second.text->whole;
}

/// The text of a module; null if it has none.
inline const WholeText* TextOf(Layers* layers, Object* module, const Running& running) {
  const WholeText* const recent = layers->recent.Find(module);
  return recent != nullptr ? recent : FindText(layers, module, running);
}

/// Returns a number for LeaveModule(), 0 if nothing was begun.
size_t TryEnterModule(Layers* layers, Object* module) {
  if (!Enabled()) return 0;
  Running* const running = RunningOfThread();
  if (running == nullptr || running->depth == Running::kMaxDepth) return 0;
  const WholeText* const text = TextOf(layers, module, *running);
  if (text == nullptr) return 0;
  const uint64_t token = BeginText(*text);
  if (token == 0) return 0;
  running->entries[running->depth] = {module, token};
  return ++running->depth;
}

size_t EnterModule(Object* module) noexcept {
  try {
    return TryEnterModule(&TheLayers(), module);
  } catch (...) {
    return 0;
  }
}

void LeaveModule(size_t number) noexcept {
  Running* const running = number == 0 ? nullptr : RunningOfThread();
  if (running == nullptr || number > running->depth) return;
  detail::End(running->entries[number - 1].token);
  running->depth = number - 1;
}

Object* None(const Api& api) noexcept {
  api.Py_IncRef(api.none);
  return api.none;
}

Object* Enter(Object* /*self*/, Object* module) noexcept {
  return TheLayers().api->PyLong_FromUnsignedLongLong(EnterModule(module));
}

Object* Leave(Object* /*self*/, Object* number) noexcept {
  const Api& api = *TheLayers().api;
  LeaveModule(api.PyLong_AsUnsignedLongLong(number));
  return None(api);
}

/// Module.__call__ as the interpreter calls it, `arguments[0]` the module: without ranges an eighth
/// of what the Python version costs.
Object* CallModule(Object* /*function*/, Object* const* arguments, size_t count,
                   Object* names) noexcept {
  const Layers& layers = TheLayers();
  const size_t number = count << 1 == 0 ? 0 : EnterModule(arguments[0]);
  Object* const result = layers.api->PyObject_Vectorcall(layers.original, arguments, count, names);
  LeaveModule(number);
  return result;
}

/// Lets a Python version of Module.__call__ be called as CallModule(): (function, Module.__call__
/// as it was). A compiler of PyTorch, and whoever looks at it, still sees the Python version, which
/// does the same. Returns None.
Object* Divert(Object* /*self*/, Object* pair) noexcept {
  Layers& layers = TheLayers();
  const Api& api = *layers.api;
  Object* const function = api.PyTuple_GetItem(pair, 0);
  Object* const original = api.PyTuple_GetItem(pair, 1);
  if (function == nullptr || original == nullptr) return nullptr;
  if (api.PyObject_Vectorcall == nullptr) return None(api);
  api.Py_IncRef(original);
  layers.original = original;
  SetVectorcall(api, function, CallModule);
  return None(api);
}

/// Shares one text between all modules that have it.
PythonLayersKnown KnownOf(Layers* layers, const char* text) {
  constexpr size_t kMaxTexts = 65'536;
  const auto kept = layers->texts.find(text);
  if (kept != layers->texts.end()) return {kept->second.get(), nullptr};
  auto made = std::make_unique<Text>();
  made->text = text;
  if (layers->texts.size() >= kMaxTexts) {
    made->whole.text = made->text.c_str();
    const Text* const own = made.get();
    return {own, std::move(made)};
  }
  made->whole = RegisterText(made->text.c_str());
  const std::string_view key = made->text;
  return {layers->texts.emplace(key, std::move(made)).first->second.get(), nullptr};
}

/// Sets the path of a module: (id(module), bytes).
Object* Set(Object* /*self*/, Object* pair) noexcept {
  Layers& layers = TheLayers();
  const Api& api = *layers.api;
  Object* const number = api.PyTuple_GetItem(pair, 0);
  Object* const bytes = api.PyTuple_GetItem(pair, 1);
  if (number == nullptr || bytes == nullptr) return nullptr;
  const char* const path = api.PyBytes_AsString(bytes);
  if (path == nullptr) return nullptr;
  char text[markers::kLayerBufferBytes];
  markers::FormatLayer(path, text);
  const auto address = static_cast<uintptr_t>(api.PyLong_AsUnsignedLongLong(number));
  try {
    layers.recent.Forget(reinterpret_cast<const void*>(address));
    layers.modules[address] = KnownOf(&layers, text);
  } catch (...) {
    // The module runs without a layer.
    return None(api);
  }
  return None(api);
}

/// Forgets a module by its id(), before its address can be reused.
Object* Forget(Object* /*self*/, Object* number) noexcept {
  Layers& layers = TheLayers();
  const auto address = static_cast<uintptr_t>(layers.api->PyLong_AsUnsignedLongLong(number));
  layers.recent.Forget(reinterpret_cast<const void*>(address));
  layers.modules.erase(address);
  return None(*layers.api);
}

MethodDef g_functions[] = {
    MethodDef("enter", Enter),   MethodDef("leave", Leave),   MethodDef("set", Set),
    MethodDef("forget", Forget), MethodDef("divert", Divert),
};

/// The functions above as a tuple; null: an exception is set.
Object* MakeFunctions(const Api& api) {
  constexpr ptrdiff_t kCount = sizeof g_functions / sizeof *g_functions;
  Owned tuple(api, api.PyTuple_New(kCount));
  if (tuple.get() == nullptr) return nullptr;
  for (ptrdiff_t i = 0; i < kCount; ++i) {
    Object* const function = api.PyCFunction_NewEx(&g_functions[i], nullptr, nullptr);
    if (function == nullptr) return nullptr;
    if (api.PyTuple_SetItem(tuple.get(), i, function) != 0) return nullptr;
  }
  return tuple.Release();
}

}  // namespace
}  // namespace oplens::annotate::torch::python

extern "C" {

/// For oplens_annotate; needs the GIL. `name(module, around)` names a module for which set() was
/// not called; `around` is the enclosing running module, or None. Returns (enter, leave, set,
/// forget, divert), where leave() takes the result of enter(module); null if the process has no
/// suitable Python.
OPLENS_TORCH_EXPORT oplens::annotate::torch::python::Object* oplens_python_layers(
    oplens::annotate::torch::python::Object* name);

oplens::annotate::torch::python::Object* oplens_python_layers(
    oplens::annotate::torch::python::Object* name) {
  using namespace oplens::annotate::torch::python;  // NOLINT
  const Api* const api = FindApi();
  if (api == nullptr) return nullptr;
  Layers& layers = TheLayers();
  api->Py_IncRef(name);
  if (layers.name != nullptr) api->Py_DecRef(layers.name);
  layers.api = api;
  layers.name = name;
  return MakeFunctions(*api);
}

}  // extern "C"
