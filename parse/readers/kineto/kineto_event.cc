#include "parse/readers/kineto/kineto_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/ascii.h"
#include "base/parse_number.h"

namespace oplens::parse {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

struct Category {
  std::string_view name;  // In lower case.
  KinetoClass kind;
};

constexpr Category kCategories[] = {
    {"cpu_op", KinetoClass::kOperator},
    {"operator", KinetoClass::kOperator},
    {"user_annotation", KinetoClass::kAnnotation},
    {"gpu_user_annotation", KinetoClass::kDeviceAnnotation},
    {"python_function", KinetoClass::kPythonFunction},
    {"nvtx", KinetoClass::kMarker},
    {"runtime", KinetoClass::kRuntimeCall},
    {"cuda_driver", KinetoClass::kDriverCall},
    {"driver", KinetoClass::kDriverCall},
    {"xpu_driver", KinetoClass::kDriverCall},
    {"privateuse1_driver", KinetoClass::kDriverCall},
    {"kernel", KinetoClass::kKernel},
    {"memcpy", KinetoClass::kCopy},
    {"gpu_memcpy", KinetoClass::kCopy},
    {"memset", KinetoClass::kSet},
    {"gpu_memset", KinetoClass::kSet},
    {"cuda_sync", KinetoClass::kSynchronization},
    {"overhead", KinetoClass::kOverhead},
    {"cpu_instant_event", KinetoClass::kInstant},
    {"fwdbwd", KinetoClass::kForwardBackward},
    {"forward_backward", KinetoClass::kForwardBackward},
    {"ac2g", KinetoClass::kLaunchFlow},
    {"async", KinetoClass::kLaunchFlow},
    {"async_gpu", KinetoClass::kLaunchFlow},
    {"async_cpu_to_gpu", KinetoClass::kLaunchFlow},
    {"cuda_profiler_range", KinetoClass::kCounterRange},
    {"hardware_counters", KinetoClass::kCounterSample},
    {"trace", KinetoClass::kSpan},
};

constexpr size_t kKinetoEventLongestCategory = 64;
constexpr int64_t kKinetoEventNsPerMicrosecond = 1000;
// Larger numbers overflow 64 bits in ns.
constexpr double kMostMicroseconds = 9.2e15;
// From 2^43 on, neighbouring doubles are more than 0.001 us apart.
constexpr double kLeastCoarse = 8796093022208.0;

bool DoubleToNs(double microseconds, int64_t* ns, bool* fraction) {
  if (!(std::fabs(microseconds) < kMostMicroseconds)) return false;
  // The whole part and the fraction apart: their products with 1000 are exact.
  const double whole = std::trunc(microseconds);
  const double rest = microseconds - whole;
  if (rest != 0) *fraction = true;
  *ns = static_cast<int64_t>(whole) * kKinetoEventNsPerMicrosecond +
        std::llround(rest * kKinetoEventNsPerMicrosecond);
  return true;
}

bool IntToNs(int64_t microseconds, int64_t* ns) {
  return !__builtin_mul_overflow(microseconds, kKinetoEventNsPerMicrosecond, ns);
}

/// Converts a decimal number to ns by its digits, which are exact beyond a double.
bool TextToNs(std::string_view text, int64_t* ns, bool* fraction) {
  const size_t point = text.find('.');
  int64_t whole = 0;
  if (point == std::string_view::npos) return ParseNumber(text, &whole) && IntToNs(whole, ns);
  const std::string_view digits = text.substr(point + 1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit) ||
      !ParseNumber(text.substr(0, point), &whole) || !IntToNs(whole, ns)) {
    double number = 0;
    return ParseNumber(text, &number) && DoubleToNs(number, ns, fraction);
  }
  int64_t rest = 0;
  for (size_t i = 0; i < 3; ++i) rest = rest * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  if (digits.size() > 3 && digits[3] >= '5') ++rest;
  if (rest != 0) *fraction = true;
  return text[0] == '-' ? !__builtin_sub_overflow(*ns, rest, ns)
                        : !__builtin_add_overflow(*ns, rest, ns);
}

/// Returns the number of the member "ts" in the text of an event that reads as `rounded`.
std::string_view FindTime(std::string_view text, double rounded) {
  constexpr std::string_view kKey = "\"ts\"";
  for (size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at)) {
    at += kKey.size();
    const size_t begin = text.find_first_not_of(" \t\r\n:", at);
    if (begin == std::string_view::npos) break;
    const size_t end = text.find_first_not_of("+-.0123456789eE", begin);
    const std::string_view number = text.substr(begin, std::min(end, text.size()) - begin);
    double read = 0;
    if (ParseNumber(number, &read) && read == rounded) return number;
  }
  return {};
}

}  // namespace

KinetoClass ClassifyKinetoCategory(std::string_view category) {
  if (category.empty()) return KinetoClass::kNone;
  if (category.size() > kKinetoEventLongestCategory) return KinetoClass::kOther;
  char buffer[kKinetoEventLongestCategory];
  std::transform(category.begin(), category.end(), buffer, ToLower);
  const std::string_view name(buffer, category.size());
  for (const Category& known : kCategories) {
    if (known.name == name) return known.kind;
  }
  // Of any device: cuda_runtime, xpu_runtime, mtia_runtime, ...
  return name.ends_with("_runtime") ? KinetoClass::kRuntimeCall : KinetoClass::kOther;
}

KinetoEvent SplitKinetoEvent(simdjson::dom::object object) {
  KinetoEvent event;
  for (const simdjson::dom::key_value_pair member : object) {
    const std::string_view key = member.key;
    switch (key.size()) {
      case 1:
        if (Is(key, "s")) event.scope = TextOf(member.value);
        break;
      case 2:
        if (Is(key, "ph")) {
          const std::string_view phase = TextOf(member.value);
          event.phase = phase.size() == 1 ? phase[0] : '\0';
        } else if (Is(key, "ts")) {
          event.time = member.value;
          event.has_time = true;
        } else if (Is(key, "id")) {
          event.id = member.value;
          event.has_id = true;
        }
        break;
      case 3:
        if (Is(key, "cat")) {
          event.category = TextOf(member.value);
        } else if (Is(key, "dur")) {
          event.duration = member.value;
          event.has_duration = true;
        } else if (Is(key, "pid")) {
          event.process = member.value;
          event.has_process = true;
        } else if (Is(key, "tid")) {
          event.thread = member.value;
          event.has_thread = true;
        }
        break;
      case 4:
        if (Is(key, "name")) {
          event.name = TextOf(member.value);
        } else if (Is(key, "args")) {
          event.has_args = member.value.get(event.args) == simdjson::SUCCESS;
        }
        break;
      default:
        break;
    }
  }
  return event;
}

bool MicrosecondsToNs(element value, int64_t* ns, bool* fraction) {
  switch (value.type()) {
    case element_type::INT64:
      return IntToNs(value.get_int64().value_unsafe(), ns);
    case element_type::DOUBLE:
      return DoubleToNs(value.get_double().value_unsafe(), ns, fraction);
    case element_type::STRING:
      return TextToNs(TextOf(value), ns, fraction);
    default:
      return false;
  }
}

bool ReadKinetoStart(const KinetoEvent& event, KinetoTimes* times) {
  if (!event.has_time || !MicrosecondsToNs(event.time, &times->start_ns, &times->fraction)) {
    return false;
  }
  if (event.time.type() != element_type::DOUBLE) return true;
  const double rounded = event.time.get_double().value_unsafe();
  if (std::fabs(rounded) < kLeastCoarse) return true;
  const std::string_view number = FindTime(event.text, rounded);
  if (number.empty()) return true;
  const size_t point = number.find('.');
  times->all_digits = point != std::string_view::npos && number.size() - point > 3;
  return TextToNs(number, &times->start_ns, &times->fraction);
}

bool ReadKinetoTimes(const KinetoEvent& event, KinetoTimes* times) {
  int64_t duration_ns = 0;
  return event.has_duration && ReadKinetoStart(event, times) &&
         MicrosecondsToNs(event.duration, &duration_ns, &times->fraction) &&
         !__builtin_add_overflow(times->start_ns, duration_ns, &times->end_ns) &&
         times->end_ns != std::numeric_limits<int64_t>::max();
}

std::string PrintKineto(element value) {
  if (value.is_string()) return std::string(TextOf(value));
  int64_t number = 0;
  if (TakeInt(value, &number)) return fmt::format("{}", number);
  simdjson::dom::array items;
  if (value.get(items) != simdjson::SUCCESS) return {};
  std::string text = "[";
  for (const element item : items) {
    if (!TakeInt(item, &number)) return {};
    text += fmt::format("{}{}", text.size() > 1 ? ", " : "", number);
  }
  return text + "]";
}

void AppendKinetoFrame(std::string_view name, std::string* out) {
  const size_t close = name.find("): ");
  const size_t open = close == std::string_view::npos ? close : name.rfind('(', close);
  if (open != std::string_view::npos && open + 1 < close) {
    const std::string_view line = name.substr(open + 1, close - open - 1);
    if (std::all_of(line.begin(), line.end(), IsDigit)) {
      out->append(name.substr(0, open));
      out->push_back(':');
      out->append(line);
      return;
    }
  }
  constexpr std::string_view kAddress = " at 0x";
  const size_t address = name.find(kAddress);
  out->append(name.substr(0, address));
  if (address == std::string_view::npos) return;
  const size_t after = name.find_first_not_of("0123456789abcdefABCDEF", address + kAddress.size());
  if (after != std::string_view::npos) out->append(name.substr(after));
}

}  // namespace oplens::parse
