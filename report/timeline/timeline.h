#ifndef OPLENS_REPORT_TIMELINE_TIMELINE_H_
#define OPLENS_REPORT_TIMELINE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "prof/run/interval_set.h"
#include "report/timeline/event_chunk.h"
#include "report/timeline/path_strip.h"
#include "report/timeline/pyramid.h"
#include "report/timeline/signatures.h"

namespace oplens::report {

/// A row of the timeline: a GPU stream or a host thread. All times below are relative to the origin
/// of the rank.
struct Lane {
  enum class Kind : uint8_t { kStream, kThread };

  std::string rank;
  Kind kind = Kind::kStream;
  int64_t device = 0;   ///< Of a stream.
  int64_t stream = 0;   ///< Of a stream.
  int64_t process = 0;  ///< Of a thread.
  int64_t thread = 0;   ///< Of a thread.
  std::string name;
  int64_t depth = 1;  ///< Number of nesting levels.
  size_t events = 0;  ///< All, on the page or not.
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::vector<Level> levels;       ///< Of a thread: outermost events only.
  std::vector<EventChunk> chunks;  ///< Of a stream: all events, EventChunk::kMaxEvents per chunk.
};

/// A link between two events, each given by lane, chunk and index in the chunk.
struct Link {
  struct End {
    uint32_t lane = 0;
    uint32_t chunk = 0;
    uint32_t place = 0;
  };
  enum class Kind : uint8_t {
    kLaunch,    ///< From an API call to what it launched.
    kBackward,  ///< From a forward op to its backward node.
    kCritical,  ///< From an event on the critical path to the next one.
  };

  Kind kind = Kind::kLaunch;
  End from;
  End to;
};

std::string_view LinkWord(Link::Kind kind);

/// A number over time.
struct Counter {
  std::string name;
  std::string rank;
  std::string_view unit;
  int64_t device = 0;  ///< -1: the host's.
  std::vector<int64_t> times_ns;
  std::vector<int64_t> values;
  size_t recorded = 0;  ///< Number of recorded points, before thinning.
};

/// A step on the page.
struct ShownStep {
  int64_t number = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t host_start_ns = 0;
  int64_t host_end_ns = 0;
  bool complete = true;
};

struct Rank {
  struct Device {
    int64_t id = 0;
    std::string name;
  };
  std::string rank;
  std::string run;  ///< On a page of two runs, which one it is of; else "".
  int64_t origin_ns = 0;
  int64_t duration_ns = 0;
  std::vector<Device> devices;
  std::string_view steps_from;
  std::vector<ShownStep> steps;
  size_t steps_left_out = 0;  ///< Steps beyond the shown ones.
};

/// The host events requested for the page.
struct HostRequest {
  std::string rank;
  std::vector<int64_t> steps;           ///< Steps with windows, by priority.
  std::vector<prof::Interval> missing;  ///< Events that start here are not requested.
  size_t events = 0;                    ///< Of the rank.
  /// If there was room for more events than were requested: as many as further steps may bring the
  /// page to; 0: there was none.
  size_t most_events = 0;
};

/// All candidate data for the timeline of a page; what fits is decided later.
struct Timeline {
  Signatures signatures;
  std::vector<Rank> ranks;
  std::vector<Lane> lanes;
  std::deque<Link> links;  ///< As many as the events of GPUs: grows without copies.
  std::vector<Counter> counters;
  std::vector<PathStrip> strips;
  std::vector<HostRequest> host;
  size_t lanes_left_out = 0;
};

/// Drops the lanes with the fewest events beyond `most_lanes`, and the last steps of each rank, so
/// that `most_steps` remain in total: lanes and steps are listed on the page whatever else fits.
void KeepAtMost(size_t most_lanes, size_t most_steps, Timeline* timeline);
/// Likewise what a page of at most `limit_bytes` may list.
void KeepWhatFits(size_t limit_bytes, Timeline* timeline);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_TIMELINE_H_
