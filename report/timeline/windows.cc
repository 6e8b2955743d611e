#include "report/timeline/windows.h"

#include <algorithm>

namespace oplens::report {
namespace {

/// Any difference of two int64_t fits.
uint64_t LengthOf(const prof::Step& step) {
  return static_cast<uint64_t>(step.span.end_ns) - static_cast<uint64_t>(step.span.start_ns);
}

}  // namespace

int64_t Since(int64_t time_ns, int64_t origin_ns) {
  int64_t since = 0;
  if (!__builtin_sub_overflow(time_ns, origin_ns, &since)) return since;
  return time_ns < origin_ns ? INT64_MIN : INT64_MAX;
}

std::vector<Window> WindowsOf(std::span<const prof::Step> steps, int64_t origin_ns) {
  std::vector<size_t> places;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].complete) places.push_back(i);
  }
  if (places.empty()) {
    for (size_t i = 0; i < steps.size(); ++i) places.push_back(i);
  }
  if (places.empty()) return {};
  std::vector<size_t> by_length = places;
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](size_t a, size_t b) { return LengthOf(steps[a]) < LengthOf(steps[b]); });
  std::vector<Window> windows;
  std::vector<size_t> taken;
  for (const size_t place :
       {places.front(), by_length[(by_length.size() - 1) / 2], by_length.back()}) {
    if (std::find(taken.begin(), taken.end(), place) != taken.end()) continue;
    taken.push_back(place);
    const prof::Step& step = steps[place];
    windows.push_back(
        {step.number, {Since(step.host.start_ns, origin_ns), Since(step.host.end_ns, origin_ns)}});
  }
  return windows;
}

}  // namespace oplens::report
