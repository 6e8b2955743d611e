#ifndef OPLENS_REPORT_TIMELINE_COLLECTOR_H_
#define OPLENS_REPORT_TIMELINE_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// The trace parts for a timeline besides those that every trace has. It shows only API calls that
/// something in the trace refers to (Trace::launches), that wait, or that take long: all calls may
/// be ten per kernel, and a third of a database's memory.
inline constexpr TraceNeeds kTimelineNeeds =
    TraceNeeds{TracePart::kMemoryEvents, TracePart::kNames, TracePart::kWaitCalls} |
    prof::kCriticalPathNeeds;
/// Additional parts for PyTorch traces, many of which record waits of the host only as calls.
inline constexpr TraceNeeds kJsonTimelineNeeds = {TracePart::kApiCalls};

struct CollectorOptions {
  bool host = true;        ///< Show threads too.
  size_t limit_bytes = 0;  ///< Of the page; more is not needed.
  size_t inputs = 1;       ///< They share the limit.
};

/// Builds the timeline of runs and their priced kernels. Call Begin, Add per kernel, End for each
/// input.
///
///     kernels -> signatures      run -> lanes of streams -> pyramids, chunks
///                                    -> lanes of threads -> pyramids, chunks of steps
///                                    -> links between events of chunks, counters
///
/// Keeps 4 bytes per kernel until the end of its input, 8 bytes per GPU event until links are made,
/// and the packed data.
class Collector {
 public:
  explicit Collector(const CollectorOptions& options) : options_(options) {}

  /// `run`: null if the input holds only records, which give lanes of streams only.
  void Begin(const prof::Run* run);
  void Add(const prof::PricedKernel& kernel);
  void End(const prof::Run* run);

  /// Before the inputs of one of two runs: the limit is shared by `inputs`.
  void ShareBy(size_t inputs) { options_.inputs = inputs; }
  /// After the inputs of one of two runs, such as "base": its ranks are called "base", or if there
  /// are several "base, rank 0".
  void NameRun(std::string_view run);

  Timeline Take() { return std::move(timeline_); }

 private:
  using StreamKey = std::tuple<std::string, int64_t, int64_t>;  // Rank, device, stream.

  /// The lane of a GPU event and its index there.
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
  const prof::Run* run_ = nullptr;
  std::vector<uint32_t> kernel_signatures_;                               // By kernel of the run.
  std::map<StreamKey, std::vector<LaneEvent>> records_;                   // In the records' clock.
  std::map<std::string, std::map<int64_t, std::string>> record_devices_;  // By rank and id.
  /// What the runs before have.
  struct Named {
    size_t ranks = 0;
    size_t lanes = 0;
    size_t counters = 0;
    size_t strips = 0;
    size_t host = 0;
  } named_;
  size_t device_bytes_ = 0;  // Packed, of this input.
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_COLLECTOR_H_
