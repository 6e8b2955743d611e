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

std::vector<StepTimes> TimesOf(std::span<const Step> steps, const ClassIntervals& classes);

/// The bits of the classes [first, last).
constexpr uint32_t BitsOf(size_t first, size_t last) {
  return (uint32_t{1} << last) - (uint32_t{1} << first);
}

/// The parts of a step: each moment is that of the first class that runs, of those from
/// `first[class]` on.
void FillParts(const MaskTimes& times, std::span<const size_t> first, int64_t total_ns,
               StepTimes* step);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_STEP_TIMES_H_
