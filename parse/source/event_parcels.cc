#include "parse/source/event_parcels.h"

#include <fmt/format.h>

#include <new>

namespace oplens::parse {

bool IsParsed(simdjson::error_code error) {
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error == simdjson::SUCCESS;
}

void EventParcel::Clear() {
  text = {};
  is_window = false;
  spans.clear();
  key.clear();
  counted.clear();
  members.clear();
}

void EventParcel::ParseWindow(char* mutable_text) {
  const size_t size = text.size();
  const char byte_before = mutable_text[0];
  const char byte_after = mutable_text[size - 1];
  mutable_text[0] = '[';
  mutable_text[size - 1] = ']';
  simdjson::dom::array events;
  const auto error = parser.parse(mutable_text, size, false).get(value);
  mutable_text[0] = byte_before;
  mutable_text[size - 1] = byte_after;
  is_window =
      IsParsed(error) && value.get(events) == simdjson::SUCCESS && events.size() == spans.size();
}

void EventHandover::Hand(const EventParcel& parcel) {
  for (const auto& [reason, place] : parcel.counted) Count(reason, place);
  for (const auto& [reason, example] : parcel.members) diagnostics_.Count(reason, example);
  if (!parcel.key.empty()) return handler_.OnMember(parcel.key, parcel.value);
  if (parcel.spans.empty()) return;
  if (!parcel.is_window) return HandEvent(parcel, parcel.value, parcel.spans.front());
  size_t i = 0;
  for (const simdjson::dom::element event : simdjson::dom::array(parcel.value)) {
    HandEvent(parcel, event, parcel.spans[i++]);
  }
}

void EventHandover::HandEvent(const EventParcel& parcel, simdjson::dom::element event,
                              const EventParcel::Span& span) {
  simdjson::dom::object object;
  if (event.get(object) != simdjson::SUCCESS) {
    ++bad_;
    return Count(list_.bad, span.place);
  }
  handler_.event_text = parcel.text.substr(span.begin, span.end - span.begin);
  handler_.OnEvent(object);
  ++events_;
}

void EventHandover::Count(Reason reason, int64_t place) {
  diagnostics_.Count(
      reason, diagnostics_.KeepsExample(reason) ? fmt::format("at byte {}", place) : std::string());
}

}  // namespace oplens::parse
