#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_EVENT_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_EVENT_H_

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "parse/source/json_value.h"

namespace oplens::parse {

/// key == text, for the keys of all events: compiled without a call.
template <size_t kSize>
bool Is(std::string_view key, const char (&text)[kSize]) {
  return key.size() == kSize - 1 && std::memcmp(key.data(), text, kSize - 1) == 0;
}

/// The subject of an event of a Kineto trace, by its category ("cat").
enum class KinetoClass : uint8_t {
  kNone,              ///< No category.
  kOperator,          ///< A call of an operator, or a label recorded like one.
  kAnnotation,        ///< A label of the user, or a step.
  kDeviceAnnotation,  ///< Such a label on the GPU.
  kPythonFunction,    ///< A Python call or a module.
  kMarker,            ///< An NVTX range, as in our own export.
  kRuntimeCall,       ///< A call of the runtime API.
  kDriverCall,        ///< A call of the driver API.
  kKernel,
  kCopy,
  kSet,
  kSynchronization,
  kOverhead,
  kInstant,          ///< A moment; of the allocator if named "[memory]".
  kForwardBackward,  ///< An arrow from a forward op to its backward node.
  kLaunchFlow,       ///< An arrow from a call to its GPU work; redundant to correlation ids.
  kCounterRange,     ///< Hardware counters of a kernel.
  kCounterSample,    ///< A hardware counter of a whole GPU at a moment.
  kSpan,             ///< The whole recording.
  kOther,            ///< Not read.
};

/// `category` may be in any case and of any version.
KinetoClass ClassifyKinetoCategory(std::string_view category);

/// The members of an event that are used. Views live as long as the event's document.
struct KinetoEvent {
  std::string_view text;  ///< The event as JSON, or "" if unknown.
  std::string_view name;
  std::string_view category;
  std::string_view scope;  ///< Of an instant: "t" thread, "p" process, "g" the whole trace.
  char phase = 0;          ///< "ph": X, i, s, f, M, ...; 0 if missing or longer than a letter.
  bool has_time = false;
  bool has_duration = false;
  bool has_process = false;
  bool has_thread = false;
  bool has_id = false;
  bool has_args = false;
  int64_t number = 0;  ///< Number of the event in the file, from 1.
  simdjson::dom::element time;
  simdjson::dom::element duration;
  simdjson::dom::element process;
  simdjson::dom::element thread;
  simdjson::dom::element id;
  simdjson::dom::object args;
};

/// Splits an event into its members; those of a wrong type count as missing.
KinetoEvent SplitKinetoEvent(simdjson::dom::object object);

struct KinetoTimes {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool fraction = false;  ///< One of its times is not a whole number of microseconds.
  /// The start exceeds a double's precision, but its text has all digits of the ns.
  bool all_digits = false;
};

/// Converts microseconds, as a number or a text, to ns, rounding to the nearest. Sets `fraction`,
/// never clears it. Returns false if `value` is no number or does not fit.
bool MicrosecondsToNs(simdjson::dom::element value, int64_t* ns, bool* fraction);

/// Reads the time or start of an event. Microseconds since 1970 with a fraction exceed a double and
/// are read from the event's text. Returns false without a usable time.
bool ReadKinetoStart(const KinetoEvent& event, KinetoTimes* times);

/// Reads start and end of an event with a duration. Returns false if one is missing or unusable.
/// end_ns may be before start_ns, as in the file.
bool ReadKinetoTimes(const KinetoEvent& event, KinetoTimes* times);

/// Prints a text, number or list of numbers: "[0, 1]".
std::string PrintKineto(simdjson::dom::element element);

/// Appends "path.py:12" for "path.py(12): function", else the name without addresses of objects ("
/// at 0x7f01"), which differ in every call.
void AppendKinetoFrame(std::string_view name, std::string* out);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_EVENT_H_
