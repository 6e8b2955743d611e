#include "report/timeline/counters.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/checked.h"
#include "report/timeline/windows.h"

namespace oplens::report {
namespace {

void AddPoint(int64_t time_ns, int64_t value, Counter* counter) {
  counter->times_ns.push_back(time_ns);
  counter->values.push_back(value);
}

}  // namespace

void Thin(Counter* counter) {
  counter->recorded = counter->times_ns.size();
  if (counter->recorded <= kMaxPoints) return;
  Counter thin;
  const size_t stretches = kMaxPoints / 2;
  const int64_t first = counter->times_ns.front();
  const double length =
      static_cast<double>(counter->times_ns.back()) - static_cast<double>(first) + 1;
  const auto stretch_of = [&](size_t i) {
    const double since = static_cast<double>(counter->times_ns[i]) - static_cast<double>(first);
    return static_cast<size_t>(since / length * static_cast<double>(stretches));
  };
  for (size_t begin = 0; begin < counter->recorded;) {
    size_t end = begin;
    size_t least = begin;
    size_t largest = begin;
    const size_t stretch = stretch_of(begin);
    for (; end < counter->recorded && stretch_of(end) == stretch; ++end) {
      if (counter->values[end] < counter->values[least]) least = end;
      if (counter->values[end] > counter->values[largest]) largest = end;
    }
    const auto [one, other] = std::minmax(least, largest);
    AddPoint(counter->times_ns[one], counter->values[one], &thin);
    if (other != one) AddPoint(counter->times_ns[other], counter->values[other], &thin);
    begin = end;
  }
  counter->times_ns = std::move(thin.times_ns);
  counter->values = std::move(thin.values);
}

std::vector<Counter> MemoryCounters(const Trace& trace, int64_t origin_ns,
                                    const std::string& rank) {
  std::vector<const MemoryEvent*> events;
  const auto& all = trace.memory_events;
  const bool framework = std::any_of(all.begin(), all.end(), [](const MemoryEvent& event) {
    return event.source == MemorySource::kFramework;
  });
  for (const MemoryEvent& event : all) {
    if (framework && event.source == MemorySource::kDriver) continue;
    events.push_back(&event);
  }
  std::stable_sort(events.begin(), events.end(), [](const MemoryEvent* a, const MemoryEvent* b) {
    return a->time_ns < b->time_ns;
  });
  struct OfDevice {
    Counter allocated;
    Counter reserved;
    Checked sum;  // If the profile has no totals.
  };
  std::map<int32_t, OfDevice> devices;
  for (const MemoryEvent* event : events) {
    OfDevice& device = devices[event->device_id];
    const int64_t time_ns = Since(event->time_ns, origin_ns);
    if (event->total_allocated_bytes >= 0) {
      AddPoint(time_ns, event->total_allocated_bytes, &device.allocated);
    } else {
      device.sum += event->size_bytes;
      if (device.sum.Value()) AddPoint(time_ns, *device.sum.Value(), &device.allocated);
    }
    if (event->total_reserved_bytes >= 0) {
      AddPoint(time_ns, event->total_reserved_bytes, &device.reserved);
    }
  }
  std::vector<Counter> counters;
  for (auto& [id, device] : devices) {
    const auto add = [&, device_id = id](const char* name, Counter* counter) {
      if (counter->times_ns.empty()) return;
      counter->name = name;
      counter->rank = rank;
      counter->unit = "B";
      counter->device = device_id;
      Thin(counter);
      counters.push_back(std::move(*counter));
    };
    add("allocated memory", &device.allocated);
    add("reserved memory", &device.reserved);
  }
  return counters;
}

}  // namespace oplens::report
