#ifndef OPLENS_REPORT_TIMELINE_EVENT_CHUNK_H_
#define OPLENS_REPORT_TIMELINE_EVENT_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace oplens::report {

/// An event of a lane; times are relative to the origin of its rank.
struct LaneEvent {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;  ///< Not negative.
  uint32_t signature = 0;
  uint8_t depth = 0;  ///< On a thread: number of enclosing events, at most 255.

  int64_t end_ns() const;
};

/// A block of a lane's events.
struct EventChunk {
  static constexpr size_t kMaxEvents = 16384;

  int64_t start_ns = 0;
  int64_t end_ns = 0;  ///< Latest end of its events.
  /// Contains all events of the lane that start in [covers_from, covers_to).
  int64_t covers_from_ns = 0;
  int64_t covers_to_ns = 0;
  size_t count = 0;
  bool wide = false;   ///< Start and duration take 8 bytes each instead of 4.
  std::string packed;  ///< Deflated; "": not made, because it would not fit.
  /// The first window (index in WindowsOf) with events of this chunk; kNoWindow if none.
  size_t window = 0;
  static constexpr size_t kNoWindow = SIZE_MAX;
};

/// Packs 1 to kMaxEvents events, ordered by start. They cover their first start to `covers_to_ns`.
EventChunk PackEvents(std::span<const LaneEvent> events, bool with_depth, int64_t covers_to_ns);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_EVENT_CHUNK_H_
