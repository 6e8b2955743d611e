#ifndef OPLENS_PROF_RUN_IDLE_GAPS_H_
#define OPLENS_PROF_RUN_IDLE_GAPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "prof/run/host_activity.h"
#include "prof/run/interval_set.h"

namespace oplens::prof {

class Run;
struct DeviceEvent;

/// Why a GPU or stream is idle at a moment: what its next work waits for.
///
///     launching thread   ..| head |python| host-op |sync|host-op|launch call ...
///     GPU                |                                      | launch     |- work -|
enum class IdleCause : uint8_t {
  kLaunch,       ///< Its launch has started.
  kOtherStream,  ///< For a stream: its launch is over, and other streams of the GPU work.
  /// As kOtherStream, but these only communicate; or the launching thread is in a collective.
  kCommunication,
  kSync,        ///< Before its launch, the launching thread waits for a GPU.
  kDataLoader,  ///< The thread waits for its next batch.
  kHostOp,      ///< The thread is in an operator.
  kPython,      ///< The thread is in none of these.
  kHead,        ///< As kPython, before the GPU's first work and the thread's first record.
  kTail,        ///< No more work.
  kUnknown,     ///< Unknown launch.
};
inline constexpr size_t kIdleCauseCount = 10;

/// "launch", "other-stream", ...
std::string_view IdleCauseWord(IdleCause cause);

/// Time in a window between two pieces of work, before the first or after the last.
struct IdleGap {
  int32_t device_id = 0;
  int32_t stream_id = 0;  ///< Of the work that ends it, for gaps of streams.
  size_t window = 0;
  Interval time;
  const DeviceEvent* next = nullptr;          ///< The work that ends it; null at the end.
  std::array<int64_t, kIdleCauseCount> ns{};  ///< By cause; sums to the gap's length.

  int64_t length_ns() const;
};

/// Without these parts, waiting calls count as python or host-op.
inline constexpr TraceNeeds kIdleGapsNeeds = HostActivity::kNeeds;

/// Finds the gaps of each GPU, i.e. times with all streams empty, within ascending disjoint
/// windows; gaps and the union of the GPU's work make up the windows. With `by_stream`, the gaps of
/// each stream between its first and last work. Gaps of one GPU or stream are ordered by time.
/// O(log n) per gap plus the launching thread's activity in it.
void FindIdleGaps(const Run& run, std::span<const Interval> windows, bool by_stream,
                  const std::function<void(const IdleGap& gap)>& take);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_IDLE_GAPS_H_
