#ifndef OPLENS_PROF_VIEWS_TIME_KEYS_H_
#define OPLENS_PROF_VIEWS_TIME_KEYS_H_

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr Field kStepField = {
    "step", "Step", "", FieldType::kInteger, 6, "number of the step", Fold::kKey};
inline constexpr Field kRankField = {
    "rank",           "Rank", "",
    FieldType::kText, 6,      "number of the process; empty where it is not known",
    Fold::kKey};

/// What a view of times can be split by.
struct TimeKeys {
  bool step = false;
  bool rank = false;

  /// Throws UsageError for another word of --by.
  TimeKeys(const ViewOptions& options, std::string_view view) {
    for (const std::string& word : options.by) {
      if (word == "rank") {
        rank = true;
      } else if (word == "step") {
        step = true;
      } else {
        throw UsageError(fmt::format("--by {}: the view {} takes step and rank", word, view));
      }
    }
  }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TIME_KEYS_H_
