#include "prof/run/step.h"

#include <algorithm>

namespace oplens::prof {
namespace {

/// When the GPU did the work launched in a step.
struct DeviceExtent {
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
};

}  // namespace

HostPlaces::HostPlaces(std::span<const Step> steps) {
  starts_.reserve(steps.size());
  latest_ends_.reserve(steps.size());
  int64_t latest_ns = INT64_MIN;
  for (const Step& step : steps) {
    latest_ns = std::max(latest_ns, step.host.end_ns);
    starts_.push_back(step.host.start_ns);
    latest_ends_.push_back(latest_ns);
  }
}

size_t HostPlaces::Of(int64_t time_ns) const {
  const auto first = std::upper_bound(latest_ends_.begin(), latest_ends_.end(), time_ns);
  const auto place = static_cast<size_t>(first - latest_ends_.begin());
  return place < starts_.size() && starts_[place] <= time_ns ? place : kNone;
}

void ExtendSteps(const DeviceWork& work, const Trace& trace, const LeftOutCalls& left_out,
                 bool hosts_stay, std::vector<Step>* steps) {
  if (steps->empty()) return;
  const HostPlaces places(*steps);
  std::vector<DeviceExtent> extents(steps->size());
  std::vector<int64_t> outside_ends;
  bool any = false;
  for (const DeviceEvent& event : work.events()) {
    const LaunchIndex launch = work.LaunchOf(event);
    size_t place = HostPlaces::kNone;
    if (launch != kNoLaunch) {
      const LaunchCall& call = trace.launches[launch];
      if (left_out.empty() || !left_out[call.api]) place = places.Of(call.start_ns);
      if (place != HostPlaces::kNone && call.end_ns > (*steps)[place].host.end_ns) {
        place = HostPlaces::kNone;
      }
    }
    if (place == HostPlaces::kNone) {
      outside_ends.push_back(event.end_ns);
      continue;
    }
    any = true;
    ++(*steps)[place].device_events;
    extents[place].first_ns = std::min(extents[place].first_ns, event.start_ns);
    extents[place].last_ns = std::max(extents[place].last_ns, event.end_ns);
  }
  for (Step& step : *steps) step.span = step.host;
  if (!any && hosts_stay) return;
  // Work from before the first step delays it.
  int64_t before_ns = steps->front().host.start_ns;
  if ((*steps)[0].device_events > 0) {
    for (const int64_t end_ns : outside_ends) {
      if (end_ns < extents[0].first_ns) before_ns = std::max(before_ns, end_ns);
    }
  }
  for (size_t i = 0; i < steps->size(); ++i) {
    Interval& span = (*steps)[i].span;
    span.start_ns = std::max(span.start_ns, before_ns);
    span.end_ns = std::max({span.start_ns, span.end_ns, extents[i].last_ns});
    before_ns = span.end_ns;
  }
}

size_t WholeSteps(std::span<const Step> steps) {
  size_t whole = steps.size();
  while (whole > 0 && steps[whole - 1].device_events == 0) --whole;
  if (whole == 0) return steps.size();
  const bool cut = whole > 1 && static_cast<double>(steps[whole - 2].device_events) * 0.8 >
                                    static_cast<double>(steps[whole - 1].device_events);
  return cut ? whole - 1 : whole;
}

}  // namespace oplens::prof
