#ifndef OPLENS_PARSE_SOURCE_JSON_EVENTS_H_
#define OPLENS_PARSE_SOURCE_JSON_EVENTS_H_

#include <simdjson.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "parse/model/reason.h"
#include "parse/source/byte_source.h"

namespace oplens::parse {

/// Receives the parts of a document, a Chrome trace or a similar one, in order.
class JsonEventHandler {
 public:
  virtual ~JsonEventHandler() = default;
  /// Takes a member of traceEvents that is an object. Its values and event_text, its text as parsed
  /// (for numbers beyond the precision of a double), live until the call returns.
  virtual void OnEvent(simdjson::dom::object event) = 0;
  /// Takes a member of the document other than traceEvents ("deviceProperties", "distributedInfo"),
  /// of at most 16 MB of text; it may come before or after the events.
  virtual void OnMember(std::string_view key, simdjson::dom::element value) = 0;

  std::string_view event_text;
};

struct JsonEventCounts {
  int64_t bytes = 0;       ///< Of JSON text.
  int64_t events = 0;      ///< Passed on, repaired ones included.
  int64_t repaired = 0;    ///< Passed on after bad text or numbers were fixed.
  int64_t bad = 0;         ///< Members of traceEvents that are no objects, or unreadable even so.
  int64_t lost_bytes = 0;  ///< Of text at the end of a truncated file that is no whole event.
  int64_t trailing_bytes = 0;  ///< Behind the end of the document, except blanks and bytes 0.
  bool truncated = false;      ///< The document ends early.
  bool has_events = false;     ///< It is an array, or has a member traceEvents that is one.
};

/// The list of a document to read, and how its errors are counted.
struct JsonList {
  std::string_view key;  ///< The member that is the list.
  /// Keys with which its members begin: after an unreadable member the reader resumes at one.
  std::span<const std::string_view> first_keys;
  /// Only accept these keys after a blank, because objects inside the members begin without one.
  bool blank_before_key = false;
  Reason bad = Reason::kBadEvent;
  /// Whether a file with a wrong end may lose kernels: then that is counted, else only noted.
  bool holds_kernels = true;
};

extern const JsonList kTraceEvents;

/// Reads a document {"traceEvents": [...], ...} or a bare array of events as a stream, in windows
/// of whole events that simdjson parses. Events of a window that it rejects are parsed one by one,
/// and an event that it rejects is fixed (RepairJson) and parsed again. An event that is still bad
/// is skipped and counted under `list.bad` with its position. Memory: about 1 MB, plus the longest
/// event (at most 64 MB, a longer one is bad). `source` is read to its end; a document that ends
/// early or goes on behind its end is counted (Reason::kFileCut, kTrailingData).
JsonEventCounts ReadJsonEvents(ByteSource* source, const std::string& path,
                               JsonEventHandler* handler, Diagnostics* diagnostics,
                               const JsonList& list = kTraceEvents);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_JSON_EVENTS_H_
