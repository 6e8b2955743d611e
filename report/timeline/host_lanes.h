#ifndef OPLENS_REPORT_TIMELINE_HOST_LANES_H_
#define OPLENS_REPORT_TIMELINE_HOST_LANES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "prof/run/run.h"
#include "report/timeline/host_names.h"
#include "report/timeline/timeline.h"
#include "report/timeline/windows.h"

namespace oplens::report {

/// What the threads of a run did: a lane each, with the ranges and API calls of some steps in
/// chunks. Every event is visited twice and none is kept but those of chunks.
class HostLanes {
 public:
  /// At most `max_events` events go into chunks. `run` and `timeline` must outlive this object.
  HostLanes(const prof::Run& run, int64_t origin_ns, size_t max_events, Timeline* timeline);

  /// Adds the lanes and their chunks, and the links from forward ops to the nodes of the backward
  /// pass among these.
  void Make();

  /// Adds links from the calls in chunks to what they launched.
  void LinkTo(LaunchIndex launch, const Link::End& work);

 private:
  /// Something on a thread; times from the origin.
  struct HostEvent {
    LaneEvent event;
    int64_t end_ns = 0;
    uint32_t index = 0;  ///< Of the range, or of the call.
    bool is_call = false;
    size_t depth = 0;
  };
  /// A stretch of time whose events go into chunks, with how much it has.
  struct Wanted {
    prof::Interval time;
    size_t events = 0;
    std::vector<size_t> bins;  ///< Events by the part of `time` in which they start.
    size_t place = 0;          ///< Among the windows.
  };
  static constexpr size_t kBins = 1024;

  template <typename F>
  void ForEach(ThreadIndex thread, F visit) const;
  void SortCalls();
  void Survey();
  void ChooseTimes();
  void PackThread(ThreadIndex thread, Lane* lane);
  void PackRun(const std::vector<HostEvent>& events, const Wanted& wanted, Lane* lane);
  void NotePlaces(std::span<const HostEvent> events, const Lane& lane);
  void LinkBackward();
  uint32_t SignatureOf(const HostEvent& event);
  size_t BinOf(const Wanted& wanted, int64_t start_ns) const;

  const prof::Run& run_;
  const Trace& trace_;
  int64_t origin_ns_;
  size_t max_events_;
  Timeline& timeline_;
  HostNames names_;
  int64_t last_ns_ = 0;                                  // Where open ranges end.
  std::vector<LaunchIndex> calls_;                       // By thread, start.
  std::vector<size_t> call_bounds_;                      // By thread; one more at the end.
  std::vector<Wanted> wanted_;                           // By start.
  std::vector<std::pair<ThreadIndex, uint32_t>> lanes_;  // Of this run: thread and lane.
  size_t events_ = 0;
  // Of events in chunks:
  std::unordered_map<LaunchIndex, Link::End> call_places_;
  std::unordered_map<uint32_t, Link::End> forward_places_;  // By number of the forward op.
  std::vector<std::pair<uint32_t, Link::End>> nodes_;       // The same of runs of nodes.
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_HOST_LANES_H_
