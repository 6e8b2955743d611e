#ifndef OPLENS_PARSE_SOURCE_EVENT_PARCELS_H_
#define OPLENS_PARSE_SOURCE_EVENT_PARCELS_H_

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/model/reason.h"
#include "parse/source/json_events.h"

namespace oplens::parse {

/// A piece of a document: a window of events, one event, or a member; or nothing, if only something
/// was counted.
struct EventParcel {
  /// An event's text within `text`.
  struct Span {
    size_t begin = 0;
    size_t end = 0;
    int64_t place = 0;  ///< In the document.
  };

  simdjson::dom::parser parser;  ///< Owns what `value` points to.
  std::vector<char> storage;     ///< Holds `text` if it must outlive the reader's buffer.
  std::string_view text;
  simdjson::dom::element value;  ///< An array of as many events as spans, one event, or a member.
  bool is_window = false;        ///< It is such an array.
  std::vector<Span> spans;
  std::string key;                                      ///< Of a member; empty: events.
  std::vector<std::pair<Reason, int64_t>> counted;      ///< Reasons of events, with their places,
  std::vector<std::pair<Reason, std::string>> members;  ///< and of members, with examples.

  void Clear();
  /// Parses the text, from the byte before the first of the spans to the one behind the last, as
  /// one array; `is_window` says whether it is one of as many events. `mutable_text` is the text,
  /// with room behind it: its ends become brackets meanwhile. Throws std::bad_alloc.
  void ParseWindow(char* mutable_text);
};

/// Whether parsing succeeded. Throws std::bad_alloc if only memory was missing.
bool IsParsed(simdjson::error_code error);

/// Hands parcels to a handler, in the order of the document.
class EventHandover {
 public:
  EventHandover(JsonEventHandler* handler, Diagnostics* diagnostics, const JsonList& list)
      : handler_(*handler), diagnostics_(*diagnostics), list_(list) {}

  void Hand(const EventParcel& parcel);

  int64_t events() const { return events_; }  ///< Handed over.
  int64_t bad() const { return bad_; }        ///< Members of the list that are none.

 private:
  void HandEvent(const EventParcel& parcel, simdjson::dom::element event,
                 const EventParcel::Span& span);
  void Count(Reason reason, int64_t place);

  JsonEventHandler& handler_;
  Diagnostics& diagnostics_;
  const JsonList& list_;
  int64_t events_ = 0;
  int64_t bad_ = 0;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_EVENT_PARCELS_H_
