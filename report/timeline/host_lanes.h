#ifndef OPLENS_REPORT_TIMELINE_HOST_LANES_H_
#define OPLENS_REPORT_TIMELINE_HOST_LANES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "prof/path/critical_path.h"
#include "report/timeline/host_names.h"
#include "report/timeline/host_times.h"
#include "report/timeline/timeline.h"

namespace oplens::prof {
class Run;
}  // namespace oplens::prof

namespace oplens::report {

/// Events of the critical path, each with the next one on it. Work is of Run::device_work().
using PathPairs = std::vector<std::pair<prof::PathSubject, prof::PathSubject>>;

/// Where the critical paths of a run's steps go from one event to the next:
///
///     thread  |- call a -|            |- call b: waits -|          |- call c -|
///                    \                 ^                |               |
///     stream          |- kernel 1 -||- kernel 2 -|                      |- kernel 3 -|
///
/// Those that are on the same thread are left out: there the path goes along the lane. Time that
/// belongs to no event is passed over. O(n log n): see prof::FindCriticalPaths. 16 bytes a pair.
PathPairs CriticalPairsOf(const prof::Run& run);

/// Where events are on the page, by their numbers: of ranges, or of API calls. Add all, then Seal,
/// then Find. 16 bytes an event.
class EventPlaces {
 public:
  void Add(uint32_t event, const Link::End& place) { all_.push_back({event, place}); }
  void Seal();
  /// nullopt: it is not on the page. O(log n).
  std::optional<Link::End> Find(uint32_t event) const;
  size_t size() const { return all_.size(); }

 private:
  struct Entry {
    uint32_t event = 0;
    Link::End place;
  };

  std::vector<Entry> all_;
};

/// What the threads of a run did: a lane each, with the ranges and API calls of some steps, or of
/// all, in chunks. Every event is visited twice and none is kept but those of chunks.
class HostLanes {
 public:
  /// Chunks take about `max_bytes` on a page at most. `run` and `timeline` must outlive this
  /// object.
  HostLanes(const prof::Run& run, int64_t origin_ns, size_t max_bytes, Timeline* timeline);

  /// Adds the lanes and their chunks, and the links from forward ops to the nodes of the backward
  /// pass among these. `path`: whose places will be asked for.
  void Make(const PathPairs& path);

  /// Where a call that launched work, or a call or range of the path, is on the page, after Make;
  /// nullopt: it is in no chunk. O(log n).
  std::optional<Link::End> PlaceOfCall(LaunchIndex call) const { return calls_on_page_.Find(call); }
  std::optional<Link::End> PlaceOfRange(uint32_t range) const {
    return ranges_on_page_.Find(range);
  }

 private:
  /// Something on a thread; times from the origin.
  struct HostEvent {
    LaneEvent event;
    int64_t end_ns = 0;
    uint32_t index = 0;  ///< Of the range, or of the call.
    bool is_call = false;
    size_t depth = 0;
  };
  template <typename F>
  void ForEach(ThreadIndex thread, F visit) const;
  void SortCalls();
  void MarkLinked(const PathPairs& path);
  void Survey();
  size_t MostEvents(const std::vector<LaneEvent>& sample) const;
  size_t CountOf(ThreadIndex thread) const;
  void PackThread(ThreadIndex thread, Lane* lane);
  void PackChunk(const std::vector<HostEvent>& events, int64_t until_ns, Lane* lane);
  void NotePlaces(std::span<const HostEvent> events, const Lane& lane);
  void LinkBackward();
  uint32_t SignatureOf(const HostEvent& event);

  const prof::Run& run_;
  const Trace& trace_;
  int64_t origin_ns_;
  size_t max_bytes_;
  Timeline& timeline_;
  HostNames names_;
  int64_t last_ns_ = 0;              // Where open ranges end.
  std::vector<LaunchIndex> calls_;   // By thread, start.
  std::vector<size_t> call_bounds_;  // By thread; one more at the end.
  HostTimes times_;
  std::vector<std::pair<ThreadIndex, uint32_t>> lanes_;  // Of this run: thread and lane.
  // Of events that links may begin or end at:
  std::vector<bool> calls_linked_;
  std::vector<bool> ranges_linked_;
  // The same in chunks:
  EventPlaces calls_on_page_;
  EventPlaces ranges_on_page_;
  std::vector<std::pair<uint32_t, Link::End>> nodes_;  // By number of the forward op.
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_HOST_LANES_H_
