#include "parse/readers/common/equal_ranges.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "base/hash.h"

namespace oplens::parse {
namespace {

/// Returns the places of all ranges that share thread and times with another, and of a few more.
std::vector<uint32_t> RangesWithEqualTimes(const Trace& trace) {
  constexpr size_t kBitsPerRange = 32;
  size_t bits = 64;
  while (bits < trace.ranges.size() * kBitsPerRange) bits *= 2;
  const auto place_of = [&](const Range& range) {
    const uint64_t hash = MixHash(MixHash(trace.ThreadOf(range), range.start_ns), range.end_ns);
    return static_cast<size_t>(hash ^ (hash >> 32)) & (bits - 1);
  };
  std::vector<bool> taken(bits);
  std::vector<size_t> repeated;
  for (const Range& range : trace.ranges) {
    const size_t place = place_of(range);
    if (taken[place]) repeated.push_back(place);
    taken[place] = true;
  }
  std::vector<uint32_t> found;
  if (repeated.empty()) return found;
  std::fill(taken.begin(), taken.end(), false);
  for (const size_t place : repeated) taken[place] = true;
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    if (taken[place_of(trace.ranges[i])]) found.push_back(static_cast<uint32_t>(i));
  }
  return found;
}

}  // namespace

void OrderEqualRanges(const std::function<bool(uint32_t, uint32_t)>& before, Trace* trace) {
  std::vector<Range>& ranges = trace->ranges;
  std::vector<uint32_t> alike = RangesWithEqualTimes(*trace);
  const auto times = [&](uint32_t i) {
    return std::tuple(trace->ThreadOf(ranges[i]), ranges[i].start_ns, ranges[i].end_ns);
  };
  std::sort(alike.begin(), alike.end(), [&](uint32_t a, uint32_t b) {
    if (times(a) != times(b)) return times(a) < times(b);
    return before(a, b);
  });
  std::vector<uint32_t> places;
  std::vector<Range> ordered;
  for (auto first = alike.begin(); first != alike.end();) {
    const auto last =
        std::find_if(first, alike.end(), [&](uint32_t i) { return times(i) != times(*first); });
    places.assign(first, last);
    std::sort(places.begin(), places.end());
    ordered.clear();
    for (; first != last; ++first) ordered.push_back(ranges[*first]);
    for (size_t i = 0; i < places.size(); ++i) ranges[places[i]] = ordered[i];
  }
}

}  // namespace oplens::parse
