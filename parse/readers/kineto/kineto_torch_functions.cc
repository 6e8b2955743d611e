#include "parse/readers/kineto/kineto_torch_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/ascii.h"

namespace oplens::parse {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::key_value_pair;
using Function = TorchFunction;

constexpr std::string_view kSpanName = "PyTorch Profiler (0)";
constexpr std::string_view kStartName = "Iteration Start: PyTorch Profiler";

bool BeginsCategory(std::string_view category, std::string_view lower_case) {
  const auto same_letter = [](char a, char b) { return ToLower(a) == b; };
  return category.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), category.begin(),
                    [&](char b, char a) { return same_letter(a, b); });
}

bool IsCategory(std::string_view category, std::string_view lower_case) {
  return category.size() == lower_case.size() && BeginsCategory(category, lower_case);
}

std::optional<Function::Kind> FunctionKindOf(std::string_view category, KinetoClass kind) {
  using enum Function::Kind;
  switch (kind) {
    case KinetoClass::kOperator:
      return kOperator;
    case KinetoClass::kAnnotation:
      return kAnnotation;
    case KinetoClass::kPythonFunction:
      return kPython;
    case KinetoClass::kRuntimeCall:
    case KinetoClass::kDriverCall:
    case KinetoClass::kOverhead:
      return kCall;
    case KinetoClass::kKernel:
    case KinetoClass::kCopy:
    case KinetoClass::kSet:
    case KinetoClass::kSynchronization:
    case KinetoClass::kCounterRange:
      return kDevice;
    case KinetoClass::kDeviceAnnotation:
      return kDeviceAnnotation;
    case KinetoClass::kOther:
      if (IsCategory(category, "collective_comm")) return kCall;
      for (const std::string_view other :
           {"mtia_ccp_events", "mtia_insight", "mtia_counters", "hpu_op"}) {
        if (IsCategory(category, other)) return kAccelerator;
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// c10::DeviceType.
Function::Memory MemoryOf(int64_t device_type) {
  switch (device_type) {
    case 0:  // CPU
    case 2:  // MKLDNN
    case 5:  // IDEEP
      return Function::Memory::kHost;
    case 1:   // CUDA
    case 6:   // HIP
    case 12:  // XPU
    case 20:  // PrivateUse1
      return Function::Memory::kDevice;
    default:
      return Function::Memory::kOther;
  }
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !IsDigit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return c == '_' || IsDigit(c) || (ToLower(c) >= 'a' && ToLower(c) <= 'z');
         });
}

/// Where the overload begins in "aten::add.Tensor"; npos: it has none.
size_t PointOf(std::string_view name) {
  const size_t point = name.find('.');
  if (point == std::string_view::npos || !IsIdentifier(name.substr(point + 1))) {
    return std::string_view::npos;
  }
  const std::string_view op = name.substr(0, point);
  const size_t colons = op.find("::");
  const bool is_operator = colons != std::string_view::npos && IsIdentifier(op.substr(0, colons)) &&
                           IsIdentifier(op.substr(colons + 2));
  return is_operator ? point : std::string_view::npos;
}

/// Appends "2, 3" for a list of numbers. Returns false for anything else.
bool AppendExtents(element value, std::string* text) {
  array extents;
  if (value.get(extents) != simdjson::SUCCESS) return false;
  bool first = true;
  for (const element extent : extents) {
    int64_t number = 0;
    if (!TakeInt(extent, &number)) return false;
    fmt::format_to(std::back_inserter(*text), "{}{}", first ? "" : ", ", number);
    first = false;
  }
  return true;
}

/// "[[2, 3], []]"; what is no list of numbers, such as a list of tensors, is [].
void AppendDims(array dims, std::string* text) {
  text->push_back('[');
  for (const element one : dims) {
    *text += text->size() > 1 ? ", [" : "[";
    const size_t begin = text->size();
    if (!AppendExtents(one, text)) text->resize(begin);
    text->push_back(']');
  }
  text->push_back(']');
}

}  // namespace

void KinetoTorchFunctions::TakeStart(int64_t start_ns) {
  std::optional<int64_t>& start = trace_.torch_recording.start_ns;
  start = std::min(start.value_or(start_ns), start_ns);
}

void KinetoTorchFunctions::TakeName(std::string_view name, Function* function) {
  const size_t point =
      function->kind == Function::Kind::kOperator ? PointOf(name) : std::string_view::npos;
  function->name = trace_.strings.Intern(name.substr(0, point));
  if (point != std::string_view::npos) {
    function->overload = trace_.strings.Intern(name.substr(point + 1));
  }
}

void KinetoTorchFunctions::Read(const KinetoEvent& event, KinetoClass kind) {
  const std::optional<Function::Kind> known = FunctionKindOf(event.category, kind);
  const bool span = kind == KinetoClass::kSpan && event.name == kSpanName;
  KinetoTimes times;
  if ((!known && !span) || !ReadKinetoTimes(event, &times) || times.end_ns < times.start_ns) return;
  if (span) return TakeStart(times.start_ns);
  Function function;
  function.kind = *known;
  function.start_ns = times.start_ns;
  function.end_ns = times.end_ns;
  function.number = event.number;
  TakeName(event.name, &function);
  // A label on the GPU has the number of the label.
  const bool own_number = kind == KinetoClass::kOther || kind == KinetoClass::kOverhead ||
                          kind == KinetoClass::kDeviceAnnotation ||
                          function.kind <= Function::Kind::kPython;
  if (event.has_args) ReadArguments(event, !own_number, &function);
  if (function.kind <= Function::Kind::kPython) function.thread = context_.ThreadOf(event);
  any_device_ |= function.kind >= Function::Kind::kDevice;
  xpu_ |= BeginsCategory(event.category, "xpu_");
  private_ |= BeginsCategory(event.category, "privateuse1_");
  mtia_ |= BeginsCategory(event.category, "mtia_");
  hpu_ |= IsCategory(event.category, "hpu_op");
  trace_.torch_functions.push_back(function);
}

void KinetoTorchFunctions::ReadArguments(const KinetoEvent& event, bool linked,
                                         Function* function) {
  const bool is_operator = function->kind == Function::Kind::kOperator;
  int64_t id = 0;
  int64_t correlation = 0;
  for (const key_value_pair arg : event.args) {
    const std::string_view key = arg.key;
    if (key == "External id" || key == "external id") {
      TakeInt(arg.value, &id);
    } else if (key == "correlation") {
      TakeInt(arg.value, &correlation);
    } else if (key == "Ev Idx") {
      TakeInt(arg.value, &function->order);
    } else if (key == "Call stack") {
      function->stack = trace_.strings.Intern(TextOf(arg.value));
    } else if (!is_operator) {
      continue;
    } else if (key == "Sequence number") {
      TakeInt(arg.value, &function->sequence);
    } else if (key == "Fwd thread id") {
      TakeInt(arg.value, &function->forward_thread);
    } else if (key == "Input Dims" || key == "Input dims") {
      array dims;
      if (arg.value.get(dims) != simdjson::SUCCESS) continue;
      text_.clear();
      AppendDims(dims, &text_);
      function->dims = trace_.strings.Intern(text_);
    } else if (key == "Concrete Inputs" || key == "Record function id") {
      trace_.torch_recording.since_2 = true;
    }
  }
  function->id = linked ? correlation : id;
  if (linked) function->linked_id = std::max<int64_t>(id, 0);
}

void KinetoTorchFunctions::ReadInstant(const KinetoEvent& event) {
  const bool memory = event.name == "[memory]";
  if (!memory && event.name != "[OutOfMemory]" && event.name != kStartName) return;
  KinetoTimes times;
  if (!ReadKinetoStart(event, &times)) return;
  if (event.name == kStartName) return TakeStart(times.start_ns);
  Function function;
  function.kind = memory ? Function::Kind::kMemory : Function::Kind::kOutOfMemory;
  function.start_ns = function.end_ns = times.start_ns;
  function.number = event.number;
  function.name = trace_.strings.Intern(event.name);
  bool has_size = false;
  if (event.has_args) {
    int64_t device_type = 0;
    for (const key_value_pair arg : event.args) {
      const std::string_view key = arg.key;
      if (key == "Bytes") has_size = TakeInt(arg.value, &function.bytes);
      if (key == "Device Type") TakeInt(arg.value, &device_type);
      if (key == "Ev Idx") TakeInt(arg.value, &function.order);
    }
    function.memory = MemoryOf(device_type);
  }
  if (!has_size) return;
  function.thread = context_.ThreadOf(event);
  trace_.torch_functions.push_back(function);
}

void KinetoTorchFunctions::ReadMember(std::string_view key, element value) {
  TorchRecording& recording = trace_.torch_recording;
  int64_t number = 0;
  if (key == "profile_memory" && TakeInt(value, &number)) {
    recording.profile_memory = number != 0;
  } else if (key == "displayTimeUnit" || key == "baseTimeNanoseconds") {
    recording.since_2 = true;
  }
}

void KinetoTorchFunctions::Finish() {
  using enum TorchRecording::Device;
  TorchRecording::Device& device = trace_.torch_recording.device;
  if (!any_device_) return;
  if (xpu_) {
    device = kXpu;
  } else if (private_) {
    device = kPrivateUse1;
  } else if (mtia_) {
    device = kMtia;
  } else {
    device = hpu_ ? kHpu : kCuda;
  }
}

}  // namespace oplens::parse
