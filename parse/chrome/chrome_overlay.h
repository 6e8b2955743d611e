#ifndef OPLENS_PARSE_CHROME_CHROME_OVERLAY_H_
#define OPLENS_PARSE_CHROME_CHROME_OVERLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::parse {

/// What a timeline shows of a profile besides what it holds: what others computed of it.
struct ChromeOverlay {
  /// A number of a GPU over time.
  struct Counter {
    struct Point {
      int64_t time_ns = 0;
      double value = 0;  ///< From then on.
    };
    std::string name;
    std::string unit;  ///< Of its values: "GB/s".
    int32_t device_id = 0;
    std::vector<Point> points;  ///< By time.
  };

  /// A moment on a host thread or on a stream.
  struct Moment {
    int64_t time_ns = 0;
    ThreadIndex thread = kNoThread;  ///< kNoThread: on the stream.
    int32_t device_id = 0;
    int32_t stream_id = 0;
  };
  /// A part of the critical path.
  struct PathEdge {
    Moment from;
    Moment to;
    std::string cause;
  };

  std::vector<Counter> counters;
  std::vector<PathEdge> path;  ///< In its order.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_OVERLAY_H_
