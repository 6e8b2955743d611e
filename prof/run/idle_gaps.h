#ifndef OPLENS_PROF_RUN_IDLE_GAPS_H_
#define OPLENS_PROF_RUN_IDLE_GAPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "prof/run/host_activity.h"
#include "prof/run/interval_set.h"
#include "prof/verdicts/idle_cause.h"

namespace oplens::prof {

class Run;
struct DeviceEvent;

/// A part of a gap with one cause.
struct IdlePart {
  Interval time;
  IdleCause cause = IdleCause::kUnknown;
  HeldBy held = HeldBy::kDevice;   ///< For kQueued.
  ThreadIndex thread = kNoThread;  ///< That launches the next work.
  LaunchIndex call = kNoLaunch;    ///< kLaunch, kQueued, kSync, kPageableCopy, kApiCall: which.
};

/// Time in a window between two pieces of work, before the first or after the last.
struct IdleGap {
  int32_t device_id = 0;  ///< 0 for IdleOf::kRank.
  int32_t stream_id = 0;  ///< Of the work that ends it, for gaps of streams.
  size_t window = 0;
  Interval time;
  const DeviceEvent* next = nullptr;  ///< The work that ends it; null at the end.
  /// The work before it: of several the one that ends last; null before the first.
  const DeviceEvent* previous = nullptr;
  std::array<int64_t, kIdleCauseCount> ns{};  ///< By cause; sums to the gap's length.
  std::span<const IdlePart> parts;            ///< By time; make up the gap. Valid during the call.

  int64_t length_ns() const;
};

/// Without these parts, calls count as python or host-op.
inline constexpr TraceNeeds kIdleGapsNeeds = HostActivity::kNeeds;

/// What must be idle.
enum class IdleOf : uint8_t {
  kRank,    ///< All GPUs of the rank.
  kDevice,  ///< A GPU: all of its streams.
  kStream,
};

/// Finds the gaps within ascending disjoint windows. Gaps of GPUs (or of the rank) and the union of
/// their work make up the windows; gaps of a stream lie between its first and last work. Gaps of
/// one GPU or stream are ordered by time. O(log n) per gap plus the launching thread's activity in
/// it.
void FindIdleGaps(const Run& run, std::span<const Interval> windows, IdleOf of,
                  const std::function<void(const IdleGap& gap)>& take);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_IDLE_GAPS_H_
