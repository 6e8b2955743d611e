#ifndef OPLENS_PARSE_READERS_KINETO_KINETO_EVENT_H_
#define OPLENS_PARSE_READERS_KINETO_KINETO_EVENT_H_

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "parse/source/json_value.h"

namespace oplens::parse {

/// What an event of a Kineto trace is about, by its category ("cat").
enum class KinetoClass : uint8_t {
  kNone,              ///< No category.
  kOperator,          ///< A call of an operator, or a label that was recorded like one.
  kAnnotation,        ///< A label of the user, or a step.
  kDeviceAnnotation,  ///< The same label on the GPU.
  kPythonFunction,    ///< A Python call or a module.
  kMarker,            ///< An NVTX range, as our own export writes it.
  kRuntimeCall,       ///< A call of the runtime API.
  kDriverCall,        ///< A call of the driver API.
  kKernel,
  kCopy,
  kSet,
  kSynchronization,
  kOverhead,
  kInstant,          ///< A moment; of the allocator when it is named "[memory]".
  kForwardBackward,  ///< An arrow from a forward op to its backward node.
  kLaunchFlow,       ///< An arrow from a call to its GPU work; correlation ids say the same.
  kCounterRange,     ///< Hardware counters of a kernel.
  kSpan,             ///< The whole recording.
  kOther,            ///< Nothing that is read.
};

/// `category` in any case, of any generation.
KinetoClass ClassifyKinetoCategory(std::string_view category);

/// The members of one event that readers use. Views live as long as the event's document.
struct KinetoEvent {
  std::string_view text;  ///< The event as JSON, or "" when it is not known.
  std::string_view name;
  std::string_view category;
  std::string_view scope;  ///< Of an instant: "t" thread, "p" process, "g" the whole trace.
  char phase = 0;          ///< "ph": X, i, s, f, M, ...; 0 when missing or longer than a letter.
  bool has_time = false;
  bool has_duration = false;
  bool has_process = false;
  bool has_thread = false;
  bool has_id = false;
  bool has_args = false;
  int64_t number = 0;  ///< Which event of the file it is, from 1.
  simdjson::dom::element time;
  simdjson::dom::element duration;
  simdjson::dom::element process;
  simdjson::dom::element thread;
  simdjson::dom::element id;
  simdjson::dom::object args;
};

/// Takes an event apart; members of a wrong type count as missing.
KinetoEvent SplitKinetoEvent(simdjson::dom::object object);

/// When something was.
struct KinetoTimes {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool fraction = false;  ///< A time of it is no whole number of microseconds.
  /// Of a start that a double cannot hold to the ns: its text has all three digits of the ns.
  bool all_digits = false;
};

/// Microseconds, whole or with a fraction, as a number or a text, in ns: exact as far as the number
/// itself is, and rounded to the nearest ns. `fraction` is set, never cleared. False when it is no
/// number or does not fit.
bool MicrosecondsToNs(simdjson::dom::element value, int64_t* ns, bool* fraction);

/// When an event was or began. Microseconds since 1970 with a fraction have more digits than a
/// double holds: those are read from the text of the event. False when it has no usable time.
bool ReadKinetoStart(const KinetoEvent& event, KinetoTimes* times);

/// Start and end of an event with a duration. False when one of them is missing or not usable.
/// end_ns may lie before start_ns, when the file says so.
bool ReadKinetoTimes(const KinetoEvent& event, KinetoTimes* times);

/// A text, number or list of numbers as text: "[0, 1]".
std::string PrintKineto(simdjson::dom::element element);

/// "path.py:12" for "path.py(12): function", else the name, without the addresses of objects
/// (" at 0x7f01"), which would make every call another name.
void AppendKinetoFrame(std::string_view name, std::string* out);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_KINETO_KINETO_EVENT_H_
