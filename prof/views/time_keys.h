#ifndef OPLENS_PROF_VIEWS_TIME_KEYS_H_
#define OPLENS_PROF_VIEWS_TIME_KEYS_H_

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "prof/views/rank_order.h"
#include "prof/views/view.h"

namespace oplens::prof {

inline constexpr Field kStepField = {
    "step", "Step", "", FieldType::kInteger, 6, "number of the step", Fold::kKey};
inline constexpr Field kRankField = {
    "rank",           "Rank", "",
    FieldType::kText, 6,      "number of the process; empty where it is not known",
    Fold::kKey};

inline constexpr Field kDeviceField = {
    "device", "Device", "", FieldType::kInteger, 6, "number of the GPU", Fold::kKey};
inline constexpr Field kStreamField = {
    "stream", "Stream", "", FieldType::kInteger, 6, "number of the stream", Fold::kKey};

inline constexpr std::string_view kTimeKeys[] = {"step", "rank"};

/// Throws UsageError for --by step with the reference's rules, which know no steps.
inline void RefuseHtaSteps(const ViewOptions& options, std::string_view view) {
  if (options.compat != Compat::kHta) return;
  if (std::find(options.by.begin(), options.by.end(), "step") == options.by.end()) return;
  throw UsageError(fmt::format("--by step: the view {} has none with --compat hta", view));
}

/// Sums of a rank, or of all, in a step, or in all.
struct TimeKey {
  RankName rank;
  int64_t step = 0;  ///< 0 of all steps together.

  static constexpr std::tuple kMembers{&TimeKey::rank, &TimeKey::step};
  friend auto operator<=>(const TimeKey&, const TimeKey&) = default;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_TIME_KEYS_H_
