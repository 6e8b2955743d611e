#ifndef OPLENS_REPORT_TIMELINE_COLLECTOR_H_
#define OPLENS_REPORT_TIMELINE_COLLECTOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/run.h"
#include "report/timeline/timeline.h"
#include "report/timeline/windows.h"

namespace oplens::report {

/// What a timeline shows besides what every trace has. Of API calls it shows those that something
/// of the trace refers to (Trace::launches): all of them may be ten for a kernel.
inline constexpr TraceNeeds kTimelineNeeds = {TracePart::kMemoryEvents, TracePart::kNames};
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
///                                    -> lanes of threads -> pyramids, chunks of some steps
///                                    -> links between events of chunks, counters
///
/// Keeps 4 bytes a kernel until the end of its input, and then what is packed.
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

  void EndRecords();
  Lane* AddStream(const StreamKey& key);
  void PackStream(const std::vector<LaneEvent>& events, std::span<const Window> windows,
                  Lane* lane);

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
