// libprograms_observer.so: what PyTorch runs, told by PyTorch, to compare the adaptor's ranges
// with. It shares no code with the adaptor. Loaded into a process (ctypes, LD_PRELOAD) with
// OPLENS_PROGRAMS_OBSERVED=FILE in the environment (%p: the process), it writes a line of JSON for
// everything that the framework records, from then on. OPLENS_PROGRAMS_PROGRAM is the program that
// it begins with.
//
//   {"t":"file","pid":N,"ppid":N,"program":NAME}
//   {"t":"program","name":NAME}           programs_observer_program(): what follows is part of it
//   {"t":"schema","op":NAME,"args":[[NAME,KEYWORD_ONLY],..]}          once an operator
//   {"t":"call","h":HANDLE,"name":..,"op":NAME.OVERLOAD,"scope":N,"seq":N,"thread":N,"fthread":N,
//    "here":N,"tid":N,"parent":HANDLE,"grad":B,"async":B,"layer":PATH,"inputs":[VALUE,..]}
//    here: PyTorch's number of this thread, which thread is not where a call began on another;
//    grad: whether a graph is made
//   {"t":"end","h":HANDLE,"tid":N}
//   {"t":"made","h":HANDLE,"seq":N,"thread":N,"node":NAME}            a node, and the op it is from
//
// VALUE: null, an integer, true, a "string", {"f":"text of a float"}, {"c":["re","im"]},
// {"T":[SIZES],"d":"Float"}, {"l":[VALUES]}, {"o":"kind of anything else"}.
//
// The op of a node is the innermost one that returned before any other what has that node in its
// graph: found in the graph, not by sequence numbers, which only name the node. Handle 0: not
// known, the node came from where no op was recorded.

#include <ATen/core/TensorBase.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/tensor.h>
#include <torch/csrc/autograd/variable.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

using torch::autograd::Node;

struct Output {
  std::mutex mutex;
  std::string pattern;
  std::string program;
  std::set<std::string> schemas;
  std::set<std::pair<uint64_t, uint64_t>> nodes;  // Those whose op is told: number, thread.
  std::set<uint64_t> open;                        // Handles, of all threads.
  pid_t pid = 0;
  int file = -1;
};

Output& TheOutput() {
  static auto* const output = new Output;
  return *output;
}

struct OpenCall {
  uint64_t handle;
  bool is_operator;
};

thread_local std::vector<OpenCall> t_open;  // Innermost last.
thread_local std::string t_layer;

void AppendText(const std::string& text, std::string* out) {
  *out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e || c == '"' || c == '\\') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      *out += escape;
    } else {
      *out += c;
    }
  }
  *out += '"';
}

std::string FloatText(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

void AppendTensor(const at::TensorBase& tensor, std::string* out) {
  if (!tensor.defined()) {
    *out += "null";
    return;
  }
  if (tensor.is_nested()) {
    *out += R"({"o":"nested tensor"})";
    return;
  }
  if (tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides()) {
    *out += R"({"o":"symbolic tensor"})";
    return;
  }
  *out += R"({"T":[)";
  const char* comma = "";
  for (const int64_t size : tensor.sizes()) {
    *out += comma + std::to_string(size);
    comma = ",";
  }
  *out += R"(],"d":)";
  AppendText(c10::toString(tensor.scalar_type()), out);
  *out += '}';
}

void AppendValue(const c10::IValue& value, std::string* out) {
  if (value.isNone()) {
    *out += "null";
  } else if (value.isTensor()) {
    AppendTensor(value.toTensor(), out);
  } else if (value.isBool()) {
    *out += value.toBool() ? "true" : "false";
  } else if (value.isInt()) {
    *out += std::to_string(value.toInt());
  } else if (value.isDouble()) {
    *out += R"({"f":")" + FloatText(value.toDouble()) + "\"}";
  } else if (value.isComplexDouble()) {
    const auto number = value.toComplexDouble();
    *out += R"({"c":[")" + FloatText(number.real()) + "\",\"" + FloatText(number.imag()) + "\"]}";
  } else if (value.isString()) {
    AppendText(value.toStringRef(), out);
  } else if (value.isList()) {
    *out += R"({"l":[)";
    const char* comma = "";
    for (const c10::IValue& item : value.toListRef()) {
      *out += comma;
      AppendValue(item, out);
      comma = ",";
    }
    *out += "]}";
  } else {
    *out += R"({"o":)";
    AppendText(value.tagKind(), out);
    *out += '}';
  }
}

/// With the mutex held.
void Write(const std::string& line) {
  Output& output = TheOutput();
  if (output.file < 0) return;
  const std::string whole = line + "\n";
  for (size_t done = 0; done < whole.size();) {
    const ssize_t written = write(output.file, whole.data() + done, whole.size() - done);
    if (written <= 0) std::abort();  // A test that says nothing must not pass.
    done += static_cast<size_t>(written);
  }
}

/// With the mutex held: a process has a file of its own, also one that was forked.
void OpenFile() {
  Output& output = TheOutput();
  if (output.pid == getpid()) return;
  if (output.file >= 0) close(output.file);
  output.pid = getpid();
  output.schemas.clear();
  std::string path = output.pattern;
  const size_t at = path.find("%p");
  if (at != path.npos) path.replace(at, 2, std::to_string(output.pid));
  output.file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (output.file < 0) std::abort();
  std::string line = R"({"t":"file","pid":)" + std::to_string(output.pid) + R"(,"ppid":)" +
                     std::to_string(getppid()) + R"(,"program":)";
  AppendText(output.program, &line);
  Write(line + "}");
}

std::string SchemaName(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  if (!name) return "";
  return name->overload_name.empty() ? name->name : name->name + "." + name->overload_name;
}

/// With the mutex held.
void TellSchema(const std::string& op, const at::RecordFunction& function) {
  if (op.empty() || !TheOutput().schemas.insert(op).second) return;
  std::string line = R"({"t":"schema","op":)";
  AppendText(op, &line);
  line += R"(,"args":[)";
  const char* comma = "";
  const auto schema = function.operator_schema();
  for (const c10::Argument& argument : schema->arguments()) {
    line += comma + std::string("[");
    AppendText(argument.name(), &line);
    line += argument.kwarg_only() ? ",true]" : ",false]";
    comma = ",";
  }
  Write(line + "]}");
}

constexpr uint64_t kNoNumber = UINT64_MAX;  // That of AccumulateGrad.

/// With the mutex held: the nodes that can be reached from a tensor and were not seen before are
/// those of `handle`.
void TellNodes(const at::TensorBase& tensor, uint64_t handle) {
  if (!tensor.defined()) return;
  // As it is: tensor.grad_fn() may make a node.
  const auto* const meta = torch::autograd::impl::get_autograd_meta(tensor);
  if (meta == nullptr || meta->grad_fn_ == nullptr) return;
  std::vector<Node*> open = {meta->grad_fn_.get()};
  while (!open.empty()) {
    Node* const node = open.back();
    open.pop_back();
    const uint64_t number = node->sequence_nr();
    if (number == kNoNumber || !TheOutput().nodes.insert({number, node->thread_id()}).second) {
      continue;
    }
    std::string line = R"({"t":"made","h":)" + std::to_string(handle) + R"(,"seq":)" +
                       std::to_string(number) + R"(,"thread":)" +
                       std::to_string(node->thread_id()) + R"(,"node":)";
    AppendText(node->name(), &line);
    Write(line + "}");
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      if (edge.function != nullptr) open.push_back(edge.function.get());
    }
    // The node of an in-place operation on a view is inside another.
    const auto* const slices = dynamic_cast<torch::autograd::CopySlices*>(node);
    if (slices != nullptr && slices->fn != nullptr) open.push_back(slices->fn.get());
  }
}

template <typename Values>
void TellNodesOf(const Values& values, uint64_t handle) {
  for (const c10::IValue& value : values) {
    if (value.isTensor()) {
      TellNodes(value.toTensor(), handle);
    } else if (value.isTensorList()) {
      for (const c10::IValue& item : value.toListRef()) TellNodes(item.toTensor(), handle);
    }
  }
}

/// What is found in the inputs of a call only was made by the operator around it, if there is one.
uint64_t MakerOfInputs() {
  return t_open.empty() || !t_open.back().is_operator ? 0 : t_open.back().handle;
}

std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction& function) {
  Output& output = TheOutput();
  const std::lock_guard lock(output.mutex);
  OpenFile();
  // Some end on another thread.
  while (!t_open.empty() && output.open.count(t_open.back().handle) == 0) t_open.pop_back();
  const std::string op = SchemaName(function);
  TellSchema(op, function);
  TellNodesOf(function.inputs(), MakerOfInputs());
  std::string line = R"({"t":"call","h":)" + std::to_string(function.handle()) + R"(,"name":)";
  AppendText(function.name(), &line);
  line += R"(,"op":)";
  AppendText(op, &line);
  line += R"(,"scope":)" + std::to_string(static_cast<int>(function.scope()));
  line += R"(,"seq":)" + std::to_string(function.seqNr());
  line += R"(,"thread":)" + std::to_string(function.threadId());
  line += R"(,"fthread":)" + std::to_string(function.forwardThreadId());
  line += R"(,"here":)" + std::to_string(at::RecordFunction::currentThreadId());
  line += R"(,"tid":)" + std::to_string(syscall(SYS_gettid));
  line += R"(,"parent":)" + std::to_string(t_open.empty() ? 0 : t_open.back().handle);
  line += at::GradMode::is_enabled() ? R"(,"grad":true)" : R"(,"grad":false)";
  line += function.isAsync() ? R"(,"async":true,"layer":)" : R"(,"async":false,"layer":)";
  AppendText(t_layer, &line);
  line += R"(,"inputs":[)";
  const char* comma = "";
  for (const c10::IValue& value : function.inputs()) {
    line += comma;
    AppendValue(value, &line);
    comma = ",";
  }
  Write(line + "]}");
  if (!function.isAsync()) {
    t_open.push_back({function.handle(), !op.empty()});
    output.open.insert(function.handle());
  }
  return nullptr;
}

void OnEnd(const at::RecordFunction& function, at::ObserverContext* /*context*/) {
  Output& output = TheOutput();
  const std::lock_guard lock(output.mutex);
  OpenFile();
  output.open.erase(function.handle());
  const c10::ArrayRef<c10::IValue> outputs = function.outputs();
  TellNodesOf(outputs, function.handle());
  Write(R"({"t":"end","h":)" + std::to_string(function.handle()) + R"(,"tid":)" +
        std::to_string(syscall(SYS_gettid)) + "}");
}

void LockOutput() { TheOutput().mutex.lock(); }
void UnlockOutput() { TheOutput().mutex.unlock(); }

bool Begin() {
  const char* const pattern = std::getenv("OPLENS_PROGRAMS_OBSERVED");
  if (pattern == nullptr) return false;
  TheOutput().pattern = pattern;
  const char* const program = std::getenv("OPLENS_PROGRAMS_PROGRAM");
  if (program != nullptr) TheOutput().program = program;
  pthread_atfork(LockOutput, UnlockOutput, UnlockOutput);
  // The inputs of a node, if asked for, are gradients that then have one user more, and are copied
  // where they would be kept.
  std::unordered_set<at::RecordScope, std::hash<at::RecordScope>> others;
  for (size_t i = 0; i < static_cast<size_t>(at::RecordScope::NUM_SCOPES); ++i) {
    const auto scope = static_cast<at::RecordScope>(i);
    if (scope != at::RecordScope::BACKWARD_FUNCTION) others.insert(scope);
  }
  at::addGlobalCallback(at::RecordFunctionCallback(OnStart, OnEnd)
                            .needsInputs(true)
                            .needsOutputs(true)
                            .needsIds(true)
                            .scopes(others));
  at::addGlobalCallback(at::RecordFunctionCallback(OnStart, OnEnd)
                            .needsIds(true)
                            .scopes({at::RecordScope::BACKWARD_FUNCTION}));
  return true;
}

const bool g_begun = Begin();

}  // namespace

extern "C" {

/// Whatever is recorded from now on belongs to a program; "": to none.
__attribute__((visibility("default"))) void programs_observer_program(const char* name) {
  Output& output = TheOutput();
  const std::lock_guard lock(output.mutex);
  if (!g_begun) return;
  OpenFile();
  output.program = name;
  std::string line = R"({"t":"program","name":)";
  AppendText(name, &line);
  Write(line + "}");
}

/// The layer that this thread is in from now on.
__attribute__((visibility("default"))) void programs_observer_layer(const char* path) {
  t_layer = path;
}
}
