#ifndef OPLENS_REPORT_TIMELINE_PYRAMID_H_
#define OPLENS_REPORT_TIMELINE_PYRAMID_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/timeline/event_chunk.h"

namespace oplens::report {

/// A lane seen from afar: equal stretches of time, each with what ran most, for how much of it,
/// and how many events start there.
///
///     start     duration           bucket 0   bucket 1   bucket 2
///     event a  |-------|          |---------|----------|----------|
///     event b       |---------|    a            b          -
///
/// Where events overlap, the time is that of the one that started first: each moment counts once.
/// An event without a duration counts no time; it is shown where nothing else is.
struct Level {
  int64_t bucket_ns = 0;  ///< A power of two.
  int64_t start_ns = 0;   ///< Of the first bucket; a multiple of bucket_ns.
  size_t count = 0;
  std::string packed;  ///< Deflated planes: docs/report_format.md.
};

/// What a bucket shows.
struct Bucket {
  uint32_t signature = UINT32_MAX;  ///< With most time; of equals the least number.
  uint8_t busy = 0;     ///< Share of the time in which anything ran, 255 is all; at least 1 then.
  uint16_t events = 0;  ///< That start in it; 65,535 stands for more.
};

inline constexpr size_t kMaxBuckets = 65536;
/// Each level has buckets so many times longer than the one before, down to kLeastBuckets.
inline constexpr int kLevelFactor = 4;
inline constexpr size_t kLeastBuckets = 256;

/// The buckets of one length over events that ascend by start. O(E + B).
/// `signatures`: all numbers of signatures are less.
std::vector<Bucket> MakeBuckets(std::span<const LaneEvent> events, int64_t bucket_ns,
                                size_t signatures);

/// The levels of a lane, finest first: that has at most kMaxBuckets buckets, and not many more
/// than there are events. None without events.
std::vector<Level> MakePyramid(std::span<const LaneEvent> events, size_t signatures);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_PYRAMID_H_
