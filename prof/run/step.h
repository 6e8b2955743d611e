#ifndef OPLENS_PROF_RUN_STEP_H_
#define OPLENS_PROF_RUN_STEP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"
#include "prof/verdicts/served_step.h"
#include "prof/verdicts/steady_steps.h"

namespace oplens::prof {

/// One training step, or the whole of a run without steps.
struct Step {
  int64_t number = 0;
  Interval host;         ///< On the host.
  Interval span;         ///< Including the GPU work launched in it (docs/views.md, "Steps").
  bool complete = true;  ///< False if the recording cut it, or its range was never closed.
  StepState state = StepState::kSteady;             ///< Set by Steps.
  int64_t device_events = 0;                        ///< Launched by calls entirely within `host`.
  std::optional<ServedStep> served = std::nullopt;  ///< If labels tell it. Set by Steps.

  bool steady() const { return state == StepState::kSteady; }
};

/// Finds the step of a moment on the host: the first by start that has not ended. Overlapping steps
/// thus share no moment; it belongs to the earlier one.
class HostPlaces {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  HostPlaces() = default;
  /// Steps by start.
  explicit HostPlaces(std::span<const Step> steps);
  /// Its index; kNone between steps. O(log n).
  size_t Of(int64_t time_ns) const;

 private:
  std::vector<int64_t> starts_;
  std::vector<int64_t> latest_ends_;  // Of a step and those before it.
};

/// API calls to ignore, by the id of their name. Empty: none.
using LeftOutCalls = std::vector<bool>;

/// Sets `span` and `device_events` of steps, ordered by the start of `host`, from the work launched
/// in them:
///
///     host     |--- 0 ---|--- 1 ---|
///     GPU           |-- of 0 --| |-- of 1 --|
///     span     |------ 0 ------|---- 1 -----|
///
/// Spans ascend and are disjoint; but if no step has device work, `hosts_stay` leaves them as on
/// the host.
void ExtendSteps(const DeviceWork& work, const Trace& trace, const LeftOutCalls& left_out,
                 bool hosts_stay, std::vector<Step>* steps);

/// The number of completely recorded steps, by the counts of ExtendSteps: drops trailing steps
/// without device work, then the last one if it has less than 80 % of its predecessor's device
/// events. All if no step has device work.
size_t WholeSteps(std::span<const Step> steps);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEP_H_
