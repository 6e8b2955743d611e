#ifndef OPLENS_PARSE_SOURCE_EVENT_PARCELS_H_
#define OPLENS_PARSE_SOURCE_EVENT_PARCELS_H_

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/model/reason.h"
#include "parse/source/json_events.h"

namespace oplens::parse {

/// A parsed piece of a document: a window of events, one event, or a member; or nothing, if only
/// something was counted. In the order of the document.
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
};

/// Hands parcels to a handler: the first ones at once, later ones on a thread of its own while the
/// caller makes more of them, if ThreadLimit() allows. Nothing starts a thread for a small file.
/// Memory: up to kMostParcels parcels of 128 kB text and their parsed form, about 4 MB.
class EventHandover {
 public:
  EventHandover(JsonEventHandler* handler, Diagnostics* diagnostics, const JsonList& list);
  ~EventHandover();
  EventHandover(const EventHandover&) = delete;
  EventHandover& operator=(const EventHandover&) = delete;

  /// Whether the text of parcels must be in their storage.
  bool keeps_text() const { return thread_ != nullptr; }
  /// An empty parcel, to be given back by Give(). Throws what the handler threw.
  EventParcel* Take();
  void Give(EventParcel* parcel);
  /// Waits until all was handed over. Throws what the handler threw. Call it last.
  void Finish();

  /// Events handed over, and members of the list that were none; after Finish().
  int64_t events() const { return events_; }
  int64_t bad() const { return bad_; }

 private:
  class Thread;

  void Hand(const EventParcel& parcel);
  void HandEvent(const EventParcel& parcel, simdjson::dom::element event,
                 const EventParcel::Span& span);
  void Count(Reason reason, int64_t place);

  JsonEventHandler& handler_;
  Diagnostics& diagnostics_;
  const JsonList& list_;
  int64_t events_ = 0;
  int64_t bad_ = 0;
  int handed_ = 0;  // Parcels without a thread.
  std::unique_ptr<EventParcel> own_;
  std::unique_ptr<Thread> thread_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_EVENT_PARCELS_H_
