#ifndef OPLENS_PROF_RUN_STEP_H_
#define OPLENS_PROF_RUN_STEP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"

namespace oplens::prof {

/// One training step, or the whole of a run without steps.
struct Step {
  int64_t number = 0;
  Interval host;  ///< What the host took for it.
  Interval span;  ///< With the work of the GPU that was launched in it (docs/views.md, "Steps").
  bool complete = true;       ///< False where the recording cut it, or its range was never closed.
  int64_t device_events = 0;  ///< Of calls that lie wholly in `host`.
};

/// Finds the step of a moment on the host: the first, by start, that has not ended yet. Steps that
/// overlap thus share no moment: it is that of the earlier.
class HostPlaces {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  HostPlaces() = default;
  /// Steps by start.
  explicit HostPlaces(std::span<const Step> steps);
  /// Its place; kNone between steps. O(log n).
  size_t Of(int64_t time_ns) const;

 private:
  std::vector<int64_t> starts_;
  std::vector<int64_t> latest_ends_;  // Of a step and those before it.
};

/// API calls by the id of their name: those that are not to be looked at. Empty: all are.
using LeftOutCalls = std::vector<bool>;

/// Sets `span` and `device_events` of steps, by the start of `host`, from the work that was
/// launched in them:
///
///     host     |--- 0 ---|--- 1 ---|
///     GPU           |-- of 0 --| |-- of 1 --|
///     span     |------ 0 ------|---- 1 -----|
///
/// Spans ascend and share no moment; but where no step has device work, `hosts_stay` leaves them as
/// they are on the host.
void ExtendSteps(const DeviceWork& work, const Trace& trace, const LeftOutCalls& left_out,
                 bool hosts_stay, std::vector<Step>* steps);

/// How many steps the recording has in full, by what ExtendSteps counted: those before the ones at
/// the end that have no device work, and before the last that has, where it has less than 80 % of
/// the device events of the one before it. All, where no step has device work.
size_t WholeSteps(std::span<const Step> steps);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEP_H_
