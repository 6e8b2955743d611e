#include "parse/readers/kineto/kineto_torch_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "parse/readers/kineto/kineto_communication.h"

namespace oplens::parse {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::key_value_pair;
using Kind = TorchEvent::Kind;

/// The categories of the runtime API; others with this ending are new.
constexpr std::string_view kRuntimes[] = {"runtime",      "cuda_runtime", "mtia_runtime",
                                          "glow_runtime", "xpu_runtime",  "privateuse1_runtime"};

bool IsRuntime(std::string_view category) {
  const auto same_letter = [](char a, char b) { return ToLower(a) == b; };
  return std::any_of(std::begin(kRuntimes), std::end(kRuntimes), [&](std::string_view known) {
    return std::equal(category.begin(), category.end(), known.begin(), known.end(), same_letter);
  });
}

std::optional<Kind> KindOf(const KinetoEvent& event, KinetoClass kind) {
  switch (kind) {
    case KinetoClass::kOperator:
      return Kind::kOperator;
    case KinetoClass::kAnnotation:
      return Kind::kAnnotation;
    case KinetoClass::kDeviceAnnotation:
      return Kind::kDeviceAnnotation;
    case KinetoClass::kPythonFunction: {
      element id;
      const bool module = event.has_args &&
                          event.args["Python module id"].get(id) == simdjson::SUCCESS &&
                          !id.is_null();
      return module ? std::optional(Kind::kModule) : std::nullopt;
    }
    case KinetoClass::kRuntimeCall:
      return IsRuntime(event.category) ? std::optional(Kind::kApiCall) : std::nullopt;
    case KinetoClass::kDriverCall:
      return Kind::kDriverCall;
    case KinetoClass::kKernel:
      return Kind::kKernel;
    case KinetoClass::kCopy:
      return Kind::kCopy;
    case KinetoClass::kSet:
      return Kind::kFill;
    default:
      return std::nullopt;
  }
}

/// Prints JSON as Python does.
void AppendPython(element value, std::string* text) {
  switch (value.type()) {
    case element_type::ARRAY: {
      text->push_back('[');
      bool first = true;
      const array items = value.get_array().value_unsafe();
      for (const element item : items) {
        if (!first) *text += ", ";
        first = false;
        AppendPython(item, text);
      }
      text->push_back(']');
      return;
    }
    case element_type::INT64:
      fmt::format_to(std::back_inserter(*text), "{}", value.get_int64().value_unsafe());
      return;
    case element_type::STRING:
      fmt::format_to(std::back_inserter(*text), "'{}'", value.get_string().value_unsafe());
      return;
    case element_type::BOOL:
      *text += value.get_bool().value_unsafe() ? "True" : "False";
      return;
    default:
      *text += simdjson::minify(value);
  }
}

}  // namespace

bool KinetoTorchEvents::ReadTimes(const KinetoEvent& event, TorchEvent* torch) const {
  double duration_us = 0;
  if (!event.has_time || !event.has_duration ||
      event.time.get(torch->start_us) != simdjson::SUCCESS ||
      event.duration.get(duration_us) != simdjson::SUCCESS) {
    return false;
  }
  torch->end_us = torch->start_us + duration_us;
  torch->number = static_cast<uint32_t>(event.number);
  return true;
}

void KinetoTorchEvents::ReadOther(const KinetoEvent& event, KinetoClass kind) {
  const bool accelerator = kind == KinetoClass::kOther && event.category == "mtia_ccp_events";
  if (!accelerator && !context_.needs.Has(TracePart::kOtherEvents)) return;
  if (kind == KinetoClass::kNone || kind == KinetoClass::kSpan) return;
  TorchEvent torch;
  torch.kind = accelerator ? Kind::kAccelerator : Kind::kOther;
  torch.thread_id = -1;
  if (event.has_args) {
    element stream;
    if (event.args["stream"].get(stream) == simdjson::SUCCESS) {
      TakeInt(stream, &torch.thread_id);
    }
  }
  const std::optional<Kind> known = accelerator ? std::nullopt : KindOf(event, kind);
  if (known && (*known != Kind::kOperator || torch.thread_id == -1)) return;
  if (known) torch.kind = *known;
  if (!ReadTimes(event, &torch)) return;
  torch.name = trace_.strings.Intern(event.name);
  if (event.has_args) {
    element id;
    if (event.args["correlation"].get(id) == simdjson::SUCCESS) {
      TakeInt(id, &torch.correlation_id);
    }
  }
  (accelerator ? trace_.accelerator_events : trace_.other_events).push_back(torch);
}

void KinetoTorchEvents::Read(const KinetoEvent& event, KinetoClass kind) {
  const std::optional<Kind> known = KindOf(event, kind);
  TorchEvent torch;
  if (!known || !ReadTimes(event, &torch)) return;
  torch.kind = *known;
  if (event.has_thread) {
    torch.thread_id = context_.NumberOf(event.thread);
    torch.text_thread = event.thread.is_string();
  }
  torch.name = trace_.strings.Intern(event.name);
  if (event.has_args) ReadArguments(event, &torch);
  // A module launches nothing, whatever its number in the file.
  if (torch.kind == Kind::kModule) torch.external_id = TorchEvent::kNone;
  if (torch.kind == Kind::kOperator && torch.dims == 0) torch.dims = trace_.strings.Intern("[]");
  trace_.torch_events.push_back(torch);
}

void KinetoTorchEvents::ReadArguments(const KinetoEvent& event, TorchEvent* torch) {
  const bool collective = torch->kind <= Kind::kDeviceAnnotation && IsCollectiveLabel(event.name);
  const auto print = [&](element value) {
    text_.clear();
    AppendPython(value, &text_);
    return trace_.strings.Intern(text_);
  };
  for (const key_value_pair arg : event.args) {
    const std::string_view key = arg.key;
    if (key == "External id" || key == "external id") {
      TakeInt(arg.value, &torch->external_id);
    } else if (key == (torch->kind == Kind::kModule ? "Python module id" : "correlation")) {
      TakeInt(arg.value, &torch->correlation_id);
    } else if (key == "grid") {
      torch->has_extents = true;
      if (torch->kind == Kind::kKernel) torch->dims = print(arg.value);
    } else if (key == "shared memory") {
      torch->has_shared_memory = true;
    } else if (key == "stream" && torch->kind == Kind::kOperator) {
      int64_t stream = -1;
      torch->has_stream = TakeInt(arg.value, &stream) && stream != -1;
    } else if (key == "stream" && torch->kind >= Kind::kKernel && torch->kind <= Kind::kFill) {
      TakeInt(arg.value, &torch->thread_id);
    } else if (key == "memory bandwidth (GB/s)") {
      if (arg.value.get(torch->gbps) != simdjson::SUCCESS) torch->gbps = 0;
    } else if ((torch->kind == Kind::kOperator || collective) &&
               (key == "Input Dims" || key == "Input dims")) {
      torch->dims = print(arg.value);
    } else if (collective && key == "Input type") {
      torch->types = print(arg.value);
    }
  }
}

}  // namespace oplens::parse
