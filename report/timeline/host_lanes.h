#ifndef OPLENS_REPORT_TIMELINE_HOST_LANES_H_
#define OPLENS_REPORT_TIMELINE_HOST_LANES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "report/timeline/event_places.h"
#include "report/timeline/host_names.h"
#include "report/timeline/host_times.h"
#include "report/timeline/path_pairs.h"
#include "report/timeline/timeline.h"

namespace oplens::prof {
class Run;
}  // namespace oplens::prof

namespace oplens::report {

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
