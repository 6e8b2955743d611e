#ifndef OPLENS_PROF_VERDICTS_RUN_TIMES_H_
#define OPLENS_PROF_VERDICTS_RUN_TIMES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/saturating.h"

namespace oplens::prof {

/// Time of day (ns since 1970) of a time of a file's clock; nullopt: unknown. Add `offset_ns` to
/// get it; without one, a clock that shows a time after 2001 is taken for the time of day.
inline std::optional<int64_t> TimeOfDay(int64_t time_ns, std::optional<int64_t> offset_ns) {
  constexpr int64_t kThirtyYearsNs = 1'000'000'000'000'000'000;
  if (offset_ns) return SaturatingSum(time_ns, *offset_ns);
  return time_ns > kThirtyYearsNs ? std::optional(time_ns) : std::nullopt;
}

/// Which recordings are of one run, by the time of day in which they begin (ns since 1970; nullopt:
/// unknown): those of two runs are more than 10 minutes apart, by which no clock of a cluster is
/// off. Numbers of runs from 0, in order of time; -1: unknown.
inline std::vector<int64_t> RunsByTime(std::span<const std::optional<int64_t>> began_ns) {
  constexpr int64_t kFarNs = 600'000'000'000;
  std::vector<std::pair<int64_t, size_t>> begins;
  for (size_t i = 0; i < began_ns.size(); ++i) {
    if (began_ns[i]) begins.emplace_back(*began_ns[i], i);
  }
  std::sort(begins.begin(), begins.end());
  std::vector<int64_t> runs(began_ns.size(), -1);
  int64_t run = 0;
  for (size_t i = 0; i < begins.size(); ++i) {
    const bool far = i > 0 && SaturatingDifference(begins[i].first, begins[i - 1].first) > kFarNs;
    runs[begins[i].second] = far ? ++run : run;
  }
  return runs;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_RUN_TIMES_H_
