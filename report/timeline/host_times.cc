#include "report/timeline/host_times.h"

#include <algorithm>

namespace oplens::report {

HostTimes::HostTimes(std::span<const prof::Step> steps, int64_t origin_ns)
    : windows_(WindowsOf(steps, origin_ns)), bins_(windows_.size(), std::vector<size_t>(kBins)) {
  struct OfStep {
    prof::Interval time;
    int64_t step;
  };
  std::vector<OfStep> all;
  all.reserve(steps.size());
  for (const prof::Step& step : steps) {
    const prof::Interval time = {Since(step.host.start_ns, origin_ns),
                                 Since(step.host.end_ns, origin_ns)};
    if (time.end_ns > time.start_ns) all.push_back({time, step.number});
  }
  std::stable_sort(all.begin(), all.end(), [](const OfStep& a, const OfStep& b) {
    return a.time.start_ns < b.time.start_ns;
  });
  int64_t now_ns = INT64_MIN;
  for (const OfStep& step : all) {
    const int64_t start_ns = std::max(now_ns, step.time.start_ns);
    if (start_ns >= step.time.end_ns) continue;
    if (start_ns > now_ns) AddPart(now_ns, start_ns, EventChunk::kNoWindow);
    const auto window = std::find_if(windows_.begin(), windows_.end(), [&](const Window& one) {
      return one.step == step.step && one.host.start_ns == step.time.start_ns;
    });
    const auto place = static_cast<size_t>(window - windows_.begin());
    AddPart(start_ns, step.time.end_ns, window == windows_.end() ? EventChunk::kNoWindow : place);
    now_ns = step.time.end_ns;
  }
  AddPart(now_ns, INT64_MAX, EventChunk::kNoWindow);
}

void HostTimes::AddPart(int64_t start_ns, int64_t end_ns, size_t window) {
  Part& part = parts_.emplace_back();
  part.time = {start_ns, end_ns};
  part.window = window;
}

size_t HostTimes::BinOf(const Part& part, int64_t start_ns) const {
  const double begin = static_cast<double>(part.time.start_ns);
  const double length = static_cast<double>(part.time.end_ns) - begin;
  const double since = static_cast<double>(start_ns) - begin;
  return std::min(static_cast<size_t>(std::max(since / length, 0.0) * kBins), kBins - 1);
}

void HostTimes::Count(int64_t start_ns) {
  ++events_;
  const auto is_behind = [&](size_t part) {
    return part + 1 < parts_.size() && start_ns >= parts_[part].time.end_ns;
  };
  if (is_behind(at_) && is_behind(++at_)) {
    const auto next = std::upper_bound(
        parts_.begin() + static_cast<std::ptrdiff_t>(at_), parts_.end(), start_ns,
        [](int64_t time_ns, const Part& part) { return time_ns < part.time.end_ns; });
    at_ = next == parts_.end() ? parts_.size() - 1 : static_cast<size_t>(next - parts_.begin());
  }
  Part& part = parts_[at_];
  ++part.events;
  if (part.window != EventChunk::kNoWindow) ++bins_[part.window][BinOf(part, start_ns)];
}

size_t HostTimes::CutWindow(size_t most_events, Part* part) {
  if (part->events <= most_events) {
    part->kept_until_ns = part->time.end_ns;
    return part->events;
  }
  const std::vector<size_t>& bins = bins_[part->window];
  size_t kept = 0;
  size_t bin = 0;
  while (bin < kBins && kept + bins[bin] <= most_events) kept += bins[bin++];
  // Binary search for the first time in that bin, where the kept prefix ends.
  int64_t low = part->time.start_ns;
  int64_t high = part->time.end_ns;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (BinOf(*part, middle) < bin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  part->kept_until_ns = low;
  return kept;
}

/// Takes parts outside windows in time order, but the one before the first step last.
void HostTimes::TakeFurther(size_t most_events) {
  std::vector<Part*> order;
  for (Part& part : parts_) {
    if (part.window == EventChunk::kNoWindow) order.push_back(&part);
  }
  if (!order.empty() && order.front() == parts_.data()) {
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  for (Part* part : order) {
    if (part->events > most_events) return;
    most_events -= part->events;
    part->kept_until_ns = part->time.end_ns;
  }
}

size_t HostTimes::MostFurtherEvents(size_t limit_bytes) {
  const double times = static_cast<double>(limit_bytes) / static_cast<double>(kUsualBytes);
  return std::max(kFurtherEvents, static_cast<size_t>(times * double{kFurtherEvents}));
}

void HostTimes::Choose(size_t max_events, size_t limit_bytes, HostRequest* wish) {
  wish->events = events_;
  for (const Window& window : windows_) wish->steps.push_back(window.step);
  const size_t most_further = MostFurtherEvents(limit_bytes);
  if (events_ <= std::min(max_events, std::max(kFewEvents, most_further))) {
    chosen_ = {{{INT64_MIN, INT64_MAX}, 0}};
    return;
  }
  size_t left = max_events;
  for (Part& part : parts_) {
    if (part.window == EventChunk::kNoWindow) continue;
    const bool all_fits = events_ <= max_events;
    left -= CutWindow(all_fits ? max_events : max_events / windows_.size(), &part);
  }
  const size_t used = max_events - left;
  const size_t left_by_number = most_further - std::min(used, most_further);
  TakeFurther(std::min(left, left_by_number));
  for (const Part& part : parts_) {
    if (part.kept_until_ns > part.time.start_ns) {
      const prof::Interval time = {part.time.start_ns, part.kept_until_ns};
      const bool follows = part.window == EventChunk::kNoWindow && !chosen_.empty() &&
                           chosen_.back().place == part.window &&
                           chosen_.back().time.end_ns == time.start_ns;
      if (follows) {
        chosen_.back().time.end_ns = time.end_ns;
      } else {
        chosen_.push_back({time, part.window});
      }
    }
    const int64_t missing_from_ns = std::max(part.time.start_ns, part.kept_until_ns);
    if (part.events == 0 || missing_from_ns >= part.time.end_ns) continue;
    wish->missing.push_back({missing_from_ns, part.time.end_ns});
  }
  if (left_by_number < left && !wish->missing.empty()) wish->most_events = most_further;
}

}  // namespace oplens::report
