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

/// Takes the parts of a document, a Chrome trace or one like it, as they come.
class JsonEventHandler {
 public:
  virtual ~JsonEventHandler() = default;
  /// A member of traceEvents that is an object. What it refers to lives until the call returns.
  /// event_text is its text as it was parsed: numbers beyond the precision of a double stand there.
  virtual void OnEvent(simdjson::dom::object event) = 0;
  /// A member of the document other than traceEvents ("deviceProperties", "distributedInfo"), at
  /// most 16 MB of text each; it may come before or after the events.
  virtual void OnMember(std::string_view key, simdjson::dom::element value) = 0;

  std::string_view event_text;
};

/// What became of a document.
struct JsonEventCounts {
  int64_t bytes = 0;     ///< Of JSON text.
  int64_t events = 0;    ///< Handed on, repaired ones included.
  int64_t repaired = 0;  ///< Handed on after bad text or numbers were mended.
  int64_t bad = 0;       ///< Members of traceEvents that could not be read even so, or no objects.
  int64_t lost_bytes = 0;      ///< Of the text at the end of a cut file that is no whole event.
  int64_t trailing_bytes = 0;  ///< Behind the end of the document, but for blanks and bytes 0.
  bool truncated = false;      ///< The document ends early.
  bool has_events = false;     ///< It is an array, or has a member traceEvents that is one.
};

/// Which list of a document is read, and how what is wrong in it is counted.
struct JsonList {
  std::string_view key;  ///< Of the member that is the list.
  /// Keys with which its members begin: there the reader goes on after one that it cannot read.
  std::span<const std::string_view> first_keys;
  /// Only where a blank is before the key: objects inside of the members begin without one.
  bool blank_before_key = false;
  Reason bad = Reason::kBadEvent;
  /// Whether kernels are lost where the file ends early or goes on behind its end, which is counted
  /// then; else it is a note.
  bool holds_kernels = true;
};

/// The events of a Chrome trace.
extern const JsonList kTraceEvents;

/// Reads a document {"traceEvents": [...], ...} or a bare array of events as a stream: cuts it into
/// windows of whole events, each of which simdjson parses; a window that it refuses goes event by
/// event, and an event that it refuses is mended (control characters and lone backslashes in
/// texts, bytes that are not UTF-8, bare NaN, Infinity and N/A, integers beyond 64 bits, which
/// become texts) and tried once more. What is still bad is skipped and counted under `list.bad`
/// with its place in the file. Memory: some 2 windows of 1 MB, and as much as the longest event (at
/// most 64 MB, a longer one is bad). A document that ends early, or goes on behind its end, is
/// counted too (Reason::kFileCut, kTrailingData): `source` is read to its end.
JsonEventCounts ReadJsonEvents(ByteSource* source, const std::string& path,
                               JsonEventHandler* handler, Diagnostics* diagnostics,
                               const JsonList& list = kTraceEvents);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_JSON_EVENTS_H_
