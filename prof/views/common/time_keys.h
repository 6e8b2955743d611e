#ifndef OPLENS_PROF_VIEWS_COMMON_TIME_KEYS_H_
#define OPLENS_PROF_VIEWS_COMMON_TIME_KEYS_H_

#include <compare>
#include <cstdint>
#include <string_view>

#include "prof/table/field.h"
#include "prof/views/common/rank_order.h"

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

/// Sums of a rank, or of all, in a step, or in all.
struct TimeKey {
  RankName rank;
  int64_t step = 0;  ///< 0 of all steps together.

  friend auto operator<=>(const TimeKey&, const TimeKey&) = default;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_TIME_KEYS_H_
