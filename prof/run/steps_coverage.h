#ifndef OPLENS_PROF_RUN_STEPS_COVERAGE_H_
#define OPLENS_PROF_RUN_STEPS_COVERAGE_H_

#include <optional>
#include <string>

namespace oplens::prof {

class Run;

/// What of a run lies outside of all its steps.
struct OutsideSteps {
  double time_pct = 0;    ///< Of the time from the first event to the last.
  double kernel_pct = 0;  ///< Of the time of kernels and graph replays.
  bool repeats = false;   ///< The steps are repetitions.

  friend bool operator==(const OutsideSteps&, const OutsideSteps&) = default;
};

/// Of a whole run whose steps are repetitions or ranges of --step; nullopt for others, and if it is
/// less than 0.5 % of both.
std::optional<OutsideSteps> FindOutsideSteps(const Run& run);

/// "12 % of the run and 3 % of the time of its kernels lie outside of all repetitions".
std::string SentenceOf(const OutsideSteps& outside);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEPS_COVERAGE_H_
