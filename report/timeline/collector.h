#ifndef OPLENS_REPORT_TIMELINE_COLLECTOR_H_
#define OPLENS_REPORT_TIMELINE_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/path/critical_path.h"
#include "prof/price/priced_kernel.h"
#include "report/timeline/host_lanes.h"
#include "report/timeline/timeline.h"
#include "report/timeline/windows.h"

namespace oplens::prof {
class Run;
}  // namespace oplens::prof

namespace oplens::report {

/// What a timeline shows besides what every trace has. Of API calls it shows those that something
/// of the trace refers to (Trace::launches), that wait, or that take long: all of them may be ten
/// for a kernel, and a third of what a database takes in memory.
inline constexpr TraceNeeds kTimelineNeeds =
    TraceNeeds{TracePart::kMemoryEvents, TracePart::kNames, TracePart::kWaitCalls} |
    prof::kCriticalPathNeeds;
/// Further ones of PyTorch's traces: many tell waits of the host only as calls.
inline constexpr TraceNeeds kJsonTimelineNeeds = {TracePart::kApiCalls};

struct CollectorOptions {
  bool host = true;        ///< Threads too.
  size_t limit_bytes = 0;  ///< Of the page: there is no need to make more.
  size_t inputs = 1;       ///< Which share the limit.
};

/// Makes the timeline of priced kernels and the runs that they are of. For each input: Begin, Add
/// of its kernels, End.
///
///     kernels -> signatures      run -> lanes of streams -> pyramids, chunks
///                                    -> lanes of threads -> pyramids, chunks of steps
///                                    -> links between events of chunks, counters
///
/// Keeps 4 bytes a kernel until the end of its input, then 8 bytes an event of a GPU until links
/// are made, and what is packed.
class Collector {
 public:
  explicit Collector(const CollectorOptions& options) : options_(options) {}

  /// `run`: null where the input holds records only; then there are lanes of streams only.
  void Begin(const prof::Run* run);
  void Add(const prof::PricedKernel& kernel);
  void End(const prof::Run* run);

  Timeline Take() { return std::move(timeline_); }

 private:
  using StreamKey = std::tuple<std::string, int64_t, int64_t>;  // Rank, device, stream.

  /// Where an event of a GPU is among those of its lane.
  struct StreamPlace {
    uint32_t lane = UINT32_MAX;
    uint32_t at = 0;
  };

  void EndRecords();
  Lane StreamOf(const StreamKey& key) const;
  uint32_t SignatureOf(const prof::DeviceEvent& event);
  std::vector<Lane> MakeStreams(std::vector<StreamPlace>* places);
  void PackStream(const std::vector<LaneEvent>& events, std::span<const Window> windows,
                  Lane* lane);
  size_t HostBytes() const;
  void AddLaunches(const HostLanes& host, std::span<const StreamPlace> places);
  void AddPaths(const PathPairs& path, const HostLanes& host, std::span<const StreamPlace> places);
  std::optional<Link::End> PlaceOf(const StreamPlace& place) const;

  CollectorOptions options_;
  Timeline timeline_;
  const prof::Run* run_ = nullptr;                       // Between Begin and End.
  std::vector<uint32_t> kernel_signatures_;              // By kernel of the run.
  std::map<StreamKey, std::vector<LaneEvent>> records_;  // On the clock of the records.
  std::map<std::string, std::map<int64_t, std::string>> record_devices_;  // By rank and id.
  size_t device_bytes_ = 0;                                               // Packed of this input.
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_COLLECTOR_H_
