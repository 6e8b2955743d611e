#ifndef OPLENS_PROF_VIEWS_BY_STEP_H_
#define OPLENS_PROF_VIEWS_BY_STEP_H_

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"
#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr Field kStepField = {
    "step", "Step", "", FieldType::kInteger, 6, "number of the step", Fold::kKey};

/// Whether a view whose rows can be told apart by step alone is asked to. Throws UsageError for
/// another word of --by, and where the reference's rules know no steps.
inline bool IsByStep(const ViewOptions& options, std::string_view view) {
  for (const std::string& word : options.by) {
    if (word != "step") {
      throw UsageError(fmt::format("--by {}: the view {} only takes step", word, view));
    }
    if (options.compat == Compat::kHta) {
      throw UsageError(fmt::format("--by step: the view {} has none with --compat hta", view));
    }
  }
  return !options.by.empty();
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_BY_STEP_H_
