#include "report/missing_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/append_format.h"
#include "prof/run/interval_set.h"

namespace oplens::report {
namespace {

constexpr size_t kMostStretches = 8;

/// Start times of the rank's host events that are not on the page.
prof::IntervalSet MissingTimes(const Timeline& timeline, const Placement& placement,
                               const HostRequest& wish) {
  std::vector<prof::Interval> missing = wish.missing;
  for (size_t i = 0; i < timeline.lanes.size(); ++i) {
    const Lane& lane = timeline.lanes[i];
    if (lane.kind != Lane::Kind::kThread || lane.rank != wish.rank) continue;
    for (size_t chunk = 0; chunk < lane.chunks.size(); ++chunk) {
      if (placement.chunks[i][chunk]) continue;
      missing.push_back({lane.chunks[chunk].covers_from_ns, lane.chunks[chunk].covers_to_ns});
    }
  }
  return prof::IntervalSet(std::move(missing));
}

}  // namespace

std::string ListOfNumbers(std::span<const int64_t> numbers) {
  std::string list;
  size_t stretches = 0;
  for (size_t begin = 0; begin < numbers.size();) {
    if (stretches++ == kMostStretches) {
      AppendFormat(&list, " and {} more", numbers.size() - begin);
      break;
    }
    size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] - 1 == numbers[end - 1]) ++end;
    AppendFormat(&list, "{}{}", list.empty() ? "" : ", ", numbers[begin]);
    if (end - begin > 1) AppendFormat(&list, " to {}", numbers[end - 1]);
    begin = end;
  }
  return list;
}

std::string StepsWithoutHost(const Timeline& timeline, const Placement& placement,
                             const HostRequest& wish) {
  const auto rank = std::find_if(timeline.ranks.begin(), timeline.ranks.end(),
                                 [&](const Rank& one) { return one.rank == wish.rank; });
  if (rank == timeline.ranks.end()) return {};
  const prof::IntervalSet missing = MissingTimes(timeline, placement, wish);
  std::vector<int64_t> numbers;
  for (const ShownStep& step : rank->steps) {
    const bool any = !missing.Within({step.host_start_ns, step.host_end_ns}).empty();
    if (any) numbers.push_back(step.number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.empty()) return {};
  return (numbers.size() == 1 ? "step " : "steps ") + ListOfNumbers(numbers);
}

}  // namespace oplens::report
