#include "prof/run/host_steps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "parse/join/step_index.h"

namespace oplens::prof {
namespace {

constexpr size_t kMostItems = size_t{1} << 20;

/// Something that a GPU ran.
struct Item {
  int64_t asked_ns = 0;    // Launch time; otherwise time on the GPU.
  int64_t started_ns = 0;  // On the GPU.
  uint64_t what = 0;
};

bool IsItem(const DeviceEvent& event) {
  return event.IsKernel() || event.work == WorkClass::kReplay;
}

uint64_t HostStepsWhatOf(const Trace& trace, const DeviceEvent& event) {
  if (event.work == WorkClass::kReplay) {
    return MixHash(1, trace.graph_replays[event.index].graph_id);
  }
  const Kernel& kernel = trace.kernels[event.index];
  uint64_t hash = MixHash(2, kernel.name);
  for (const int32_t blocks : trace.ShapeOf(kernel).grid) hash = MixHash(hash, blocks);
  return hash;
}

/// The device with the most items; on ties the lowest number.
std::optional<int32_t> BusiestDevice(const DeviceWork& work) {
  std::map<int32_t, size_t> counts;
  size_t* count = nullptr;
  int32_t last = 0;
  for (const DeviceEvent& event : work.events()) {
    if (!IsItem(event)) continue;
    if (count == nullptr || event.device_id != last) count = &counts[last = event.device_id];
    ++*count;
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::nullopt : std::optional(most->first);
}

/// The items of a device, by launch if all are known, since streams interleave at random.
std::vector<Item> HostStepsItemsOf(const Trace& trace, const DeviceWork& work, int32_t device,
                                   bool* launched) {
  std::vector<Item> items;
  *launched = true;
  for (const DeviceEvent& event : work.events()) {
    if (!IsItem(event) || event.device_id != device) continue;
    const LaunchIndex launch = work.LaunchOf(event);
    *launched &= launch != kNoLaunch;
    const int64_t asked_ns = launch == kNoLaunch ? event.start_ns : trace.launches[launch].start_ns;
    items.push_back({asked_ns, event.start_ns, HostStepsWhatOf(trace, event)});
  }
  if (!*launched) {
    for (Item& item : items) item.asked_ns = item.started_ns;
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.asked_ns < b.asked_ns; });
  return items;
}

/// Starts of the periods, by launches or on the GPU; empty if two start at once.
std::vector<int64_t> BeginsOf(const std::vector<Item>& items, const Repetition& repetition,
                              int64_t Item::*time) {
  const size_t first = items.size() - static_cast<size_t>(repetition.period * repetition.count);
  std::vector<int64_t> begins;
  for (size_t i = first; i < items.size(); i += static_cast<size_t>(repetition.period)) {
    if (!begins.empty() && items[i].*time <= begins.back()) return {};
    begins.push_back(items[i].*time);
  }
  return begins;
}

int64_t LastLaunchEnd(const Trace& trace, const DeviceWork& work) {
  int64_t end_ns = INT64_MIN;
  for (const DeviceEvent& event : work.events()) {
    const LaunchIndex launch = work.LaunchOf(event);
    if (launch != kNoLaunch) end_ns = std::max(end_ns, trace.launches[launch].end_ns);
  }
  return end_ns;
}

}  // namespace

std::optional<Repetition> FindRepetition(std::span<const uint64_t> sequence) {
  const size_t n = sequence.size();
  if (n < 2 || n > UINT32_MAX) return std::nullopt;
  // same[p]: counting items from the end, how many from the p-th on equal those from the 0-th on
  // (the Z function). The last p + same[p] items then have period p.
  std::vector<uint32_t> same(n, 0);
  const auto from_end = [&](size_t i) { return sequence[n - 1 - i]; };
  Repetition best;
  size_t best_size = 0;
  size_t left = 0;
  size_t right = 0;  // [left, right) is the match that reaches furthest.
  for (size_t p = 1; p < n; ++p) {
    size_t match = p < right ? std::min<size_t>(right - p, same[p - left]) : 0;
    while (p + match < n && from_end(match) == from_end(p + match)) ++match;
    same[p] = static_cast<uint32_t>(match);
    if (p + match > right) {
      left = p;
      right = p + match;
    }
    const size_t count = (p + match) / p;
    // Shorter periods come first; their multiples reach no further.
    if (count >= static_cast<size_t>(kLeastRepetitions) && p + match > best_size) {
      best_size = p + match;
      best = {static_cast<int64_t>(p), static_cast<int64_t>(count)};
    }
  }
  if (best.count == 0 || 2 * best.period * best.count < static_cast<int64_t>(n)) {
    return std::nullopt;
  }
  // A period of a single item is a loop over one kernel.
  if (best.period == 1) return std::nullopt;
  return best;
}

void KeepOutermost(std::vector<StepMatch>* matches) {
  std::sort(matches->begin(), matches->end(), [](const StepMatch& a, const StepMatch& b) {
    return std::tie(a.thread, a.start_ns, b.end_ns) < std::tie(b.thread, b.start_ns, a.end_ns);
  });
  std::vector<StepMatch> outer;
  int64_t end_ns = INT64_MIN;
  for (const StepMatch& match : *matches) {
    const bool within =
        !outer.empty() && outer.back().thread == match.thread && match.end_ns <= end_ns;
    if (within) continue;
    const bool same_thread = !outer.empty() && outer.back().thread == match.thread;
    end_ns = same_thread ? std::max(end_ns, match.end_ns) : match.end_ns;
    outer.push_back(match);
  }
  *matches = std::move(outer);
}

bool CountUp(std::span<const StepMatch> matches) {
  for (size_t i = 0; i < matches.size(); ++i) {
    if (!matches[i].number) return false;
    const bool same_thread = i > 0 && matches[i - 1].thread == matches[i].thread;
    if (same_thread && *matches[i].number <= *matches[i - 1].number) return false;
  }
  return true;
}

std::vector<HostStep> StepsOfMatches(std::vector<StepMatch> matches) {
  KeepOutermost(&matches);
  if (CountUp(matches)) return StepsOfPicked(matches);
  std::sort(matches.begin(), matches.end(), [](const StepMatch& a, const StepMatch& b) {
    return std::tie(a.start_ns, b.end_ns) < std::tie(b.start_ns, a.end_ns);
  });
  std::vector<HostStep> steps;
  int64_t end_ns = INT64_MIN;
  for (const StepMatch& match : matches) {
    if (!steps.empty() && match.end_ns <= end_ns) continue;
    end_ns = std::max(end_ns, match.end_ns);
    steps.push_back({static_cast<int64_t>(steps.size()), match.start_ns, match.end_ns});
  }
  return steps;
}

std::vector<HostStep> StepsOfPicked(std::span<const StepMatch> matches) {
  std::vector<HostStep> steps;
  for (const StepMatch& match : matches) {
    if (match.number) steps.push_back({*match.number, match.start_ns, match.end_ns});
  }
  return steps;
}

std::vector<HostStep> StepsOfRanges(const Trace& trace) {
  // There are far fewer texts than ranges.
  std::vector<std::optional<int64_t>> numbers(trace.strings.size());
  bool any = false;
  for (StringId id = 0; id < numbers.size(); ++id) {
    numbers[id] = parse::StepIndex::NumberIn(trace.strings.View(id));
    any |= numbers[id].has_value();
  }
  std::vector<HostStep> steps;
  if (!any) return steps;
  for (const Range& range : trace.ranges) {
    if (!numbers[range.text]) continue;
    // An open range has no end.
    const int64_t end_ns = range.open() ? INT64_MIN : range.end_ns;
    steps.push_back({*numbers[range.text], range.start_ns, end_ns});
  }
  return steps;
}

std::vector<HostStep> StepsOfRepetition(const Trace& trace, const DeviceWork& work) {
  const auto device = BusiestDevice(work);
  if (!device) return {};
  bool launched = false;
  const std::vector<Item> items = HostStepsItemsOf(trace, work, *device, &launched);
  if (items.size() > kMostItems) return {};
  std::vector<uint64_t> sequence(items.size());
  std::transform(items.begin(), items.end(), sequence.begin(),
                 [](const Item& item) { return item.what; });
  const auto repetition = FindRepetition(sequence);
  if (!repetition) return {};
  std::vector<int64_t> begins = BeginsOf(items, *repetition, &Item::asked_ns);
  int64_t end_ns = launched ? LastLaunchEnd(trace, work) : work.last_ns();
  if (begins.empty()) {
    begins = BeginsOf(items, *repetition, &Item::started_ns);
    end_ns = work.last_ns();
  }
  std::vector<HostStep> steps;
  for (size_t i = 0; i < begins.size(); ++i) {
    const bool last = i + 1 == begins.size();
    steps.push_back(
        {static_cast<int64_t>(i), begins[i], last ? std::max(end_ns, begins[i]) : begins[i + 1]});
  }
  return steps;
}

}  // namespace oplens::prof
