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

/// Why a GPU or a stream does nothing at a moment: what the work waits for that comes next.
///
///     launching thread   ..| head |python| host-op |sync|host-op|launch call ...
///     GPU                |                                      | launch     |- work -|
enum class IdleCause : uint8_t {
  kLaunch,         ///< Its launch has begun.
  kOtherStream,    ///< Of a stream: its launch is over, and other streams of the GPU work.
  kCommunication,  ///< The same, and these only move data between GPUs; or the launching thread is
                   ///< in a collective.
  kSync,           ///< Before its launch: the launching thread waits for a GPU.
  kDataLoader,     ///< It waits for its next batch.
  kHostOp,         ///< It is in an operator.
  kPython,         ///< It is in none of these.
  kHead,     ///< The same, before the first work of the GPU and what is recorded of the thread.
  kTail,     ///< No work comes.
  kUnknown,  ///< The launch is not known.
};
inline constexpr size_t kIdleCauseCount = 10;

/// "launch", "other-stream", ...
std::string_view IdleCauseWord(IdleCause cause);

/// Time in a window between two pieces of work, or before the first, or after the last.
struct IdleGap {
  int32_t device_id = 0;
  int32_t stream_id = 0;  ///< Of the work that ends it, where gaps are those of streams.
  size_t window = 0;
  Interval time;
  const DeviceEvent* next = nullptr;          ///< The work that ends it; null at the end.
  std::array<int64_t, kIdleCauseCount> ns{};  ///< By cause; the sum is the length of the gap.

  int64_t length_ns() const;
};

/// Parts of the trace without which calls that wait are python or host-op.
inline constexpr TraceNeeds kIdleGapsNeeds = HostActivity::kNeeds;

/// Finds the gaps of each GPU of which all streams are empty, within windows that ascend and share
/// no moment: they and the union of its work are the windows. With `by_stream` those of each
/// stream, from its first work to its last. Gaps of one GPU or stream come in the order of time.
/// O(log n) a gap and what the launching thread did in it.
void FindIdleGaps(const Run& run, std::span<const Interval> windows, bool by_stream,
                  const std::function<void(const IdleGap& gap)>& take);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_IDLE_GAPS_H_
