#ifndef OPLENS_REPORT_TIMELINE_TIMELINE_H_
#define OPLENS_REPORT_TIMELINE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "prof/run/interval_set.h"
#include "report/timeline/event_chunk.h"
#include "report/timeline/pyramid.h"
#include "report/timeline/signatures.h"

namespace oplens::report {

/// One row of the timeline: a stream of a GPU or a thread of the host. Times of all that follows
/// are from the origin of the rank.
struct Lane {
  enum class Kind : uint8_t { kStream, kThread };

  std::string rank;
  Kind kind = Kind::kStream;
  int64_t device = 0;   ///< Of a stream, with
  int64_t stream = 0;   ///< its number.
  int64_t process = 0;  ///< Of a thread, with
  int64_t thread = 0;   ///< its id.
  std::string name;
  int64_t depth = 1;  ///< Levels of events that are around each other.
  size_t events = 0;  ///< All, whether they are on the page or not.
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::vector<Level> levels;       ///< Of a thread: of events that nothing is around.
  std::vector<EventChunk> chunks;  ///< Of a stream all of its events, EventChunk::kMaxEvents each.
};

/// From an event to another, each by its lane, its chunk and its place in that.
struct Link {
  struct End {
    uint32_t lane = 0;
    uint32_t chunk = 0;
    uint32_t place = 0;
  };
  enum class Kind : uint8_t {
    kLaunch,    ///< From an API call to what it launched.
    kBackward,  ///< From a forward op to a node of the backward pass that is for it.
    kCritical,  ///< From an event on the critical path to the next one on it.
  };

  Kind kind = Kind::kLaunch;
  End from;
  End to;
};

/// "launch", "backward", "critical".
std::string_view LinkWord(Link::Kind kind);

/// A number over time.
struct Counter {
  std::string name;
  std::string rank;
  std::string_view unit;
  int64_t device = 0;  ///< -1: of the host.
  std::vector<int64_t> times_ns;
  std::vector<int64_t> values;
  size_t recorded = 0;  ///< How many points there were: more than are kept where it was thinned.
};

/// A step, as the page shows it.
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
  int64_t origin_ns = 0;
  int64_t duration_ns = 0;
  std::vector<Device> devices;
  std::string_view steps_from;
  std::vector<ShownStep> steps;
  size_t steps_left_out = 0;  ///< Further ones.
};

/// Host events that were wanted on the page.
struct HostWish {
  std::string rank;
  std::vector<int64_t> steps;           ///< Numbers of those that come first.
  std::vector<prof::Interval> missing;  ///< Events that start in these times are not wanted.
  size_t events = 0;                    ///< Of the rank.
};

/// What a page can show over time. What of it fits is decided later.
struct Timeline {
  Signatures signatures;
  std::vector<Rank> ranks;
  std::vector<Lane> lanes;
  std::vector<Link> links;
  std::vector<Counter> counters;
  std::vector<HostWish> host;
  size_t lanes_left_out = 0;
};

/// Leaves out lanes until there are no more than `most_lanes`, those with the fewest events, and
/// the steps of each rank that come after its first ones, so that `most_steps` are left of all:
/// they are told one by one, whatever else fits.
void KeepAtMost(size_t most_lanes, size_t most_steps, Timeline* timeline);

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_TIMELINE_H_
