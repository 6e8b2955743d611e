#ifndef OPLENS_PROF_RUN_SELECTION_H_
#define OPLENS_PROF_RUN_SELECTION_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "prof/run/interval_set.h"

namespace oplens::prof {

/// The part of a run to analyse, as if there were nothing else; steps are found in the whole run.
struct Selection {
  struct StepRange {
    int64_t first = 0;
    int64_t last = 0;  ///< Inclusive.
  };

  /// Work of the steps with these numbers.
  std::optional<StepRange> steps;
  /// What starts in this time, from the first event of the file, and steps entirely within it.
  std::optional<Interval> time;
  /// Work of this GPU; excludes the host.
  std::optional<int64_t> device;

  bool empty() const { return !steps && !time && !device; }
};

/// Parses "3-7" or "3". Throws UsageError.
Selection::StepRange ReadStepRange(std::string_view text);
/// Parses milliseconds, "0-12.5". Throws UsageError.
Interval ReadTimeRange(std::string_view text);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_SELECTION_H_
