#include "nvtx_annotate/torch/python_trace.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nvtx_annotate/capture_window.h"
#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/marker_text.h"
#include "nvtx_annotate/torch/python_api.h"
#include "nvtx_annotate/torch/torch_annotate.h"

namespace oplens::annotate::torch {
namespace {

using python::Api;
using python::Object;
using python::Owned;

constexpr size_t kMaxWalked = 256;     // Including machinery.
constexpr size_t kMaxFrames = 64;      // As many as a text holds.
constexpr size_t kMaxStacks = 65'536;  // Beyond that, texts are built per call.

bool IsRequested() {
  const char* const options = std::getenv("OPLENS_ANNOTATE");
  return HasWord(options == nullptr ? "" : options, "trace");
}

/// Identifies a frame: two calls on the same line differ.
struct Frame {
  Object* code;
  int at;
  bool operator==(const Frame& other) const { return code == other.code && at == other.at; }
};

/// A known stack. Keeps references to its code objects, so that their addresses are not reused.
struct Stack {
  std::vector<Frame> frames;  ///< Innermost first.
  std::unique_ptr<const std::string> text;
  WholeText whole;              ///< Without text: no frame is the user's.
  std::unique_ptr<Stack> next;  ///< With the same hash.
};

/// Guarded by the GIL.
struct PythonTraceKnown {
  std::unordered_map<size_t, std::unique_ptr<Stack>> stacks;
  size_t stack_count = 0;
  std::unordered_map<Object*, bool> engine;  ///< Keeps references to its code objects too.
};

/// Never destroyed: ops may run while the process ends.
PythonTraceKnown& TheKnown() {
  static PythonTraceKnown* const known = new PythonTraceKnown;
  return *known;
}

/// The frame that called this thread's last op; only for comparison. While an op runs, its caller's
/// frame lives.
thread_local Object* t_last_frame = nullptr;
thread_local int t_last_at = -1;

bool PythonTraceEndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool Holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// A text attribute of a code object in the file system encoding; "" if there is none.
std::string Attribute(const Api& api, Object* code, const char* name) {
  const Owned value(api, api.PyObject_GetAttrString(code, name));
  if (value.get() == nullptr) return "";
  const Owned bytes(api, api.PyUnicode_EncodeFSDefault(value.get()));
  if (bytes.get() == nullptr) return "";
  const char* const text = api.PyBytes_AsString(bytes.get());
  return text == nullptr ? "" : text;
}

/// Frames between the user's: the call of modules, and what runs the program.
bool IsMachinery(const Api& api, Object* code, std::string_view file) {
  if (Holds(file, "oplens_annotate/") || file == "<frozen runpy>" ||
      PythonTraceEndsWith(file, "/runpy.py")) {
    return true;
  }
  return PythonTraceEndsWith(file, "torch/nn/modules/module.py") &&
         IsOneOf(Attribute(api, code, "co_name"),
                 {"_call_impl", "_wrapped_call_impl", "_slow_forward", "inner"});
}

/// Functions that wait while the engine runs the backward pass.
bool IsEngine(const Api& api, Object* code) {
  auto& engine = TheKnown().engine;
  const auto known = engine.find(code);
  if (known != engine.end()) return known->second;
  const std::string file = Attribute(api, code, "co_filename");
  const bool is_engine =
      (PythonTraceEndsWith(file, "torch/autograd/__init__.py") ||
       PythonTraceEndsWith(file, "torch/autograd/graph.py")) &&
      IsOneOf(Attribute(api, code, "co_name"), {"backward", "grad", "_engine_run_backward"});
  if (engine.size() < kMaxStacks) {
    api.Py_IncRef(code);
    engine.emplace(code, is_engine);
  }
  return is_engine;
}

/// Holds the GIL and saves the pending exception.
class Gil {
 public:
  explicit Gil(const Api& api) noexcept : api_(api), state_(api.PyGILState_Ensure()) {}
  ~Gil() { api_.PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  const Api& api_;
  const int state_;
};

class SavedError {
 public:
  explicit SavedError(const Api& api) noexcept : api_(api) {
    api.PyErr_Fetch(&type_, &value_, &traceback_);
  }
  ~SavedError() { api_.PyErr_Restore(type_, value_, traceback_); }
  SavedError(const SavedError&) = delete;
  SavedError& operator=(const SavedError&) = delete;

 private:
  const Api& api_;
  Object* type_ = nullptr;
  Object* value_ = nullptr;
  Object* traceback_ = nullptr;
};

/// The running frames, innermost first.
class Walk {
 public:
  explicit Walk(const Api& api) noexcept : api_(api), innermost_(api.PyEval_GetFrame()) {}

  /// Whether any Python function is running.
  bool any() const { return innermost_ != nullptr; }
  Object* innermost() const { return innermost_; }
  int At(Object* frame) const {
    return api_.PyFrame_GetLasti == nullptr ? api_.PyFrame_GetLineNumber(frame)
                                            : api_.PyFrame_GetLasti(frame);
  }
  /// Valid while its frame runs.
  Object* CodeOf(Object* frame) const {
    Object* const code = api_.PyFrame_GetCode(frame);
    api_.Py_DecRef(code);
    return code;
  }

  /// Calls visit(frame) from the innermost frame on; a frame is valid while it runs.
  template <typename Visit>
  void ForEach(Visit visit) const {
    api_.Py_IncRef(innermost_);
    Object* frame = innermost_;
    for (size_t i = 0; i < kMaxWalked && frame != nullptr; ++i) {
      visit(frame);
      Object* const back = api_.PyFrame_GetBack(frame);
      api_.Py_DecRef(frame);
      frame = back;
    }
    if (frame != nullptr) api_.Py_DecRef(frame);
  }

 private:
  const Api& api_;
  Object* const innermost_;
};

/// T of the running frames; "" if none is the user's.
std::string FormatStack(const Api& api, const Walk& walk) {
  std::vector<std::string> texts;
  walk.ForEach([&](Object* frame) {
    if (texts.size() == kMaxFrames) return;
    Object* const code = walk.CodeOf(frame);
    const std::string file = Attribute(api, code, "co_filename");
    if (IsMachinery(api, code, file)) return;
    texts.push_back(file + ":" + std::to_string(api.PyFrame_GetLineNumber(frame)));
  });
  if (texts.empty()) return "";
  std::vector<const char*> frames;
  for (size_t i = texts.size(); i > 0; --i) frames.push_back(texts[i - 1].c_str());
  std::string text(markers::kTextBufferBytes, '\0');
  text.resize(markers::FormatTrace(frames.data(), frames.size(), 0, text.data()));
  text.shrink_to_fit();
  return text;
}

const Stack* FindStack(const PythonTraceKnown& known, size_t hash, const Frame* frames,
                       size_t count) {
  const auto first = known.stacks.find(hash);
  if (first == known.stacks.end()) return nullptr;
  for (const Stack* stack = first->second.get(); stack != nullptr; stack = stack->next.get()) {
    if (std::equal(stack->frames.begin(), stack->frames.end(), frames, frames + count)) {
      return stack;
    }
  }
  return nullptr;
}

uint64_t BeginNewStack(const Api& api, const Walk& walk, size_t hash, const Frame* frames,
                       size_t count) {
  const SavedError error(api);
  auto text = std::make_unique<const std::string>(FormatStack(api, walk));
  PythonTraceKnown& known = TheKnown();
  if (known.stack_count >= kMaxStacks) {
    return text->empty() ? 0 : BeginText({text->c_str(), nullptr});
  }
  auto stack = std::make_unique<Stack>();
  stack->frames.assign(frames, frames + count);
  if (!text->empty()) stack->whole = RegisterText(text->c_str());
  stack->text = std::move(text);
  std::unique_ptr<Stack>& first = known.stacks[hash];
  for (const Frame& frame : stack->frames) api.Py_IncRef(frame.code);
  stack->next = std::move(first);
  first = std::move(stack);
  ++known.stack_count;
  return first->whole.text == nullptr ? 0 : BeginText(first->whole);
}

uint64_t BeginStack(const Api& api, const Walk& walk) {
  Frame frames[kMaxWalked];
  size_t count = 0;
  size_t hash = 0;
  walk.ForEach([&](Object* frame) {
    const Frame found = {walk.CodeOf(frame), walk.At(frame)};
    frames[count++] = found;
    hash = (hash ^ reinterpret_cast<uintptr_t>(found.code) ^ static_cast<unsigned>(found.at)) *
           0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  });
  const Stack* const stack = FindStack(TheKnown(), hash, frames, count);
  if (stack == nullptr) return BeginNewStack(api, walk, hash, frames, count);
  return stack->whole.text == nullptr ? 0 : BeginText(stack->whole);
}

uint64_t BeginLocked(const Api& api, Place place) {
  const Walk walk(api);
  if (!walk.any()) return 0;
  Object* const frame = walk.innermost();
  const int at = walk.At(frame);
  const bool same = frame == t_last_frame && at == t_last_at;
  t_last_frame = frame;
  t_last_at = at;
  // Called by the enclosing op, not by Python.
  if (same && place == Place::kOp) return 0;
  // Called by the engine, in the thread that waits for it.
  if (place != Place::kOutside) {
    const SavedError error(api);
    if (IsEngine(api, walk.CodeOf(frame))) return 0;
  }
  return BeginStack(api, walk);
}

/// Null if there is no Python. Limits the number of searches in C++ programs.
const Api* FindPython() noexcept {
  constexpr unsigned kMaxTries = 64;
  static std::atomic<unsigned> tries{0};
  if (tries.load(std::memory_order_relaxed) > kMaxTries) return nullptr;
  const Api* const api = python::FindApi();
  if (api == nullptr) tries.fetch_add(1, std::memory_order_relaxed);
  return api;
}

}  // namespace

std::atomic<bool> g_call_sites{IsRequested()};

uint64_t BeginEnabledCallSite(Place place) noexcept {
  const Api* const api = FindPython();
  // Only threads that run Python anyway take the GIL: others may have been started by a thread that
  // holds it and waits for them.
  if (api == nullptr || api->PyGILState_GetThisThreadState() == nullptr ||
      api->Py_IsFinalizing() != 0) {
    return 0;
  }
  const Gil gil(*api);
  try {
    return BeginLocked(*api, place);
  } catch (...) {
    return 0;
  }
}

}  // namespace oplens::annotate::torch

extern "C" {

/// For oplens_annotate: enables or disables call sites. 0 if the process has no suitable Python.
OPLENS_TORCH_EXPORT int oplens_python_trace(int on);

int oplens_python_trace(int on) {
  oplens::annotate::torch::g_call_sites.store(on != 0, std::memory_order_relaxed);
  return oplens::annotate::torch::python::FindApi() == nullptr ? 0 : 1;
}

}  // extern "C"
