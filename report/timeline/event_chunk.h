#ifndef OPLENS_REPORT_TIMELINE_EVENT_CHUNK_H_
#define OPLENS_REPORT_TIMELINE_EVENT_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace oplens::report {

/// An event of a lane; times from the origin of its rank.
struct LaneEvent {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;  ///< Not negative.
  uint32_t signature = 0;
  uint8_t depth = 0;  ///< On a thread: how many events are around it, at most 255.

  int64_t end_ns() const;
};

/// Events of a lane in one piece of the page.
struct EventChunk {
  static constexpr size_t kMaxEvents = 16384;

  int64_t start_ns = 0;  ///< Of the first event.
  int64_t end_ns = 0;    ///< Of the event that ends last.
  /// All events of the lane that start in [covers_from, covers_to) are in it.
  int64_t covers_from_ns = 0;
  int64_t covers_to_ns = 0;
  size_t count = 0;
  bool wide = false;   ///< Start and duration take 8 bytes each, not 4.
  std::string packed;  ///< Deflated; "" where it was not made, since it would not fit.
  /// The least place of a window (WindowsOf) that it has events of; kNoWindow: of none.
  size_t window = 0;
  static constexpr size_t kNoWindow = SIZE_MAX;
};

/// The chunk of at most kMaxEvents events, which ascend by start; there is at least one. What it
/// covers is from its first start to `covers_to_ns`.
EventChunk PackEvents(std::span<const LaneEvent> events, bool with_depth, int64_t covers_to_ns);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_EVENT_CHUNK_H_
