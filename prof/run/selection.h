#ifndef OPLENS_PROF_RUN_SELECTION_H_
#define OPLENS_PROF_RUN_SELECTION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "prof/run/interval_set.h"

namespace oplens::prof {

/// The part of a run that is looked at. What has no part in it is as if the file did not hold it,
/// but for what steps are: these are found in the whole run.
struct Selection {
  struct StepRange {
    int64_t first = 0;
    int64_t last = 0;  ///< Inclusive.
  };

  /// Work of the steps with these numbers.
  std::optional<StepRange> steps;
  /// What begins in this stretch of time, counted from the first event of the file, and the steps
  /// that lie wholly in it.
  std::optional<Interval> time;
  /// Work of this GPU; the host is not selected.
  std::optional<int64_t> device;

  bool empty() const { return !steps && !time && !device; }
};

/// Reads "3-7" or "3". Throws UsageError.
Selection::StepRange ReadStepRange(std::string_view text);
/// Reads milliseconds, "0-12.5". Throws UsageError.
Interval ReadTimeRange(std::string_view text);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_SELECTION_H_
