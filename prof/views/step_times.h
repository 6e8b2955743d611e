#ifndef OPLENS_PROF_VIEWS_STEP_TIMES_H_
#define OPLENS_PROF_VIEWS_STEP_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "prof/run/class_times.h"
#include "prof/run/step.h"
#include "prof/views/overview_classes.h"

namespace oplens::prof {

/// Where the time of one step went, ns; what is not known is missing.
struct StepTimes {
  using Time = std::optional<int64_t>;

  std::array<Time, kTimeClassCount + 1> parts;  ///< By class, then what is left.
  std::array<Time, kTimeClassCount> exposed;    ///< Alone on the GPU; of the host: with it idle.
  std::array<Time, kTimeClassCount> hidden;
  Time busy;  ///< The GPU does something.
};

/// Our rule.
std::vector<StepTimes> TimesOf(std::span<const Step> steps, const ClassIntervals& classes);

/// The TensorBoard plugin's. Exposed and hidden are those of compute and communication, each
/// without and with the other; without any kernel what the host ran takes the place of compute. A
/// flaw is kept: a class after which nothing of any step is left does not take its time from those
/// that follow.
std::vector<StepTimes> TensorBoardTimesOf(std::span<const Step> steps,
                                          const ClassIntervals& classes);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STEP_TIMES_H_
