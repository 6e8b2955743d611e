#ifndef OPLENS_PARSE_SOURCE_WINDOW_CUTTER_H_
#define OPLENS_PARSE_SOURCE_WINDOW_CUTTER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parse/source/event_parcels.h"
#include "parse/source/stream_buffer.h"

namespace oplens::parse {

/// A window of events that owns its bytes, so that it can be parsed beside others; in cache lines
/// of its own.
struct alignas(128) CutWindow {
  EventParcel parcel;     ///< Its storage: bytes of the document, and room for simdjson.
  int64_t begin = 0;      ///< Place of the first of these bytes in the document.
  size_t size = 0;        ///< How many there are.
  size_t text_begin = 0;  ///< Of the parcel's text among them.

  /// EventParcel::ParseWindow().
  void Parse() { parcel.ParseWindow(parcel.storage.data() + text_begin); }
};

/// Cuts a list of events into windows of about `window_bytes`, which are read from the stream into
/// their own storage. Knows only whole objects of at most `most_event_bytes`; before anything else
/// it ends, and the stream is given back to its buffer.
class WindowCutter {
 public:
  /// Goes on at `place` of the document, behind the list's bracket or a member.
  WindowCutter(StreamBuffer* buffer, int64_t place, size_t window_bytes, size_t most_event_bytes);

  /// Cuts the next window; false: what follows, or that it cannot be read, is for others to see.
  bool Cut(CutWindow* window);

  /// Ends the work: the buffer goes on with what follows the byte before `place`, which is in what
  /// was cut last. `windows`: all that Cut() was given, unless used again.
  void GiveBack(int64_t place, std::span<const CutWindow> windows);

  /// Behind the last event that was cut.
  int64_t place() const { return begin_ + 1; }

 private:
  void FindEvents(CutWindow* window) const;

  StreamBuffer& buffer_;
  size_t window_bytes_;
  size_t most_event_bytes_;
  int64_t begin_;           // Of rest_: the last byte of what was cut.
  std::vector<char> rest_;  // Read, but not cut yet.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_WINDOW_CUTTER_H_
