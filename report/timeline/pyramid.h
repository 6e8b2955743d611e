#ifndef OPLENS_REPORT_TIMELINE_PYRAMID_H_
#define OPLENS_REPORT_TIMELINE_PYRAMID_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/timeline/event_chunk.h"

namespace oplens::report {

/// A zoom level of a lane: buckets of equal length, each with the signature that ran longest, the
/// busy share, and the number of events that start in it.
///
///     start     duration           bucket 0   bucket 1   bucket 2
///     event a  |-------|          |---------|----------|----------|
///     event b       |---------|    a            b          -
///
/// Time in overlapping events counts once, for the one that started first. Events without a
/// duration count no time and are shown only in otherwise idle buckets.
struct Level {
  int64_t bucket_ns = 0;  ///< A power of two.
  int64_t start_ns = 0;   ///< Of the first bucket; a multiple of bucket_ns.
  size_t count = 0;
  std::string packed;  ///< Deflated planes: docs/report_format.md.
};

struct Bucket {
  uint32_t signature = UINT32_MAX;  ///< The one with the most time; on ties, the lowest number.
  uint8_t busy = 0;                 ///< Share of busy time, 255 is all; at least 1 if anything ran.
  uint16_t events = 0;              ///< Events that start in it; 65,535 if more.
};

inline constexpr size_t kMaxBuckets = 65536;
/// Each level's buckets are this many times longer than the previous level's, down to kLeastBuckets
/// buckets.
inline constexpr int kLevelFactor = 4;
inline constexpr size_t kLeastBuckets = 256;

/// Buckets of one length for events ordered by start. O(E + B). `signatures`: upper bound of
/// signature numbers, exclusive.
std::vector<Bucket> MakeBuckets(std::span<const LaneEvent> events, int64_t bucket_ns,
                                size_t signatures);

/// The levels of a lane, finest first; empty without events. The finest has at most kMaxBuckets
/// buckets, and not many more than there are events.
std::vector<Level> MakePyramid(std::span<const LaneEvent> events, size_t signatures);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_PYRAMID_H_
