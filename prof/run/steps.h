#ifndef OPLENS_PROF_RUN_STEPS_H_
#define OPLENS_PROF_RUN_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "parse/join/joined.h"
#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"

namespace oplens::prof {

/// One training step, or the whole of a run without steps.
struct Step {
  int64_t number = 0;
  Interval host;  ///< What the host took for it.
  Interval span;  ///< With the work of the GPU that was launched in it (docs/views.md, "Steps").
  bool complete = true;  ///< False where the recording cut it, or its range was never closed.
};

/// Where the steps of a run come from.
enum class StepSource : uint8_t {
  kNone,        ///< One step: the run.
  kRanges,      ///< ProfilerStep#N ranges.
  kPattern,     ///< Ranges or layers that match --step.
  kRepetition,  ///< A sequence of kernels that repeats.
};

/// The steps of a run, by start. There is always one, but in a run without any event.
class Steps {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  Steps(const parse::Joined& joined, const DeviceWork& work);

  std::span<const Step> all() const { return steps_; }
  StepSource source() const { return source_; }

  /// The place in all() of the step in which a host thread did something at a time.
  size_t OfHost(int64_t time_ns) const;
  /// Of a GPU's event: that of the call that launched it, else that in whose span it starts.
  size_t OfEvent(const DeviceEvent& event) const;

 private:
  const parse::Joined& joined_;
  const DeviceWork& work_;
  std::vector<Step> steps_;
  StepSource source_ = StepSource::kNone;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEPS_H_
