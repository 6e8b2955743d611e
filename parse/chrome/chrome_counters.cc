#include "parse/chrome/chrome_counters.h"

#include <algorithm>

#include "base/checked.h"

namespace oplens::parse {

void ChromeCounters::CountKernel(int64_t process_id, const Kernel& kernel) {
  if (kernel.end_ns < kernel.start_ns) return;
  DeviceCounters& device = devices_[{process_id, kernel.device_id}];
  device.running.Span(kernel.start_ns, kernel.end_ns);
  if (kernel.launch >= trace_.launches.size()) return;
  const int64_t launched = trace_.launches[kernel.launch].start_ns;
  device.queued.Span(std::min(launched, kernel.start_ns), kernel.end_ns);
}

void ChromeCounters::Write() {
  for (auto& [place, device] : devices_) {
    const ChromeTrack track = tracks_.OfDevice(place.first, place.second);
    WriteCounter("kernels running", track, &device.running);
    WriteCounter("kernels queued", track, &device.queued);
  }
  WriteMemory();
}

/// Writes one event per moment at which the number changes.
void ChromeCounters::WriteCounter(std::string_view name, ChromeTrack track, Counter* counter) {
  auto& changes = counter->changes;
  std::sort(changes.begin(), changes.end(), [](const Counter::Change& a, const Counter::Change& b) {
    return a.time_ns < b.time_ns;
  });
  int64_t number = 0;
  int64_t written = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    number += changes[i].by;
    const bool more = i + 1 < changes.size() && changes[i + 1].time_ns == changes[i].time_ns;
    if (more || number == written) continue;
    ChromeEvent('C', "", name, track, events_).At(changes[i].time_ns).Arg("kernels", number).End();
    written = number;
  }
}

void ChromeCounters::WriteMemory() {
  const auto& all = trace_.memory_events;
  const bool framework = std::any_of(all.begin(), all.end(), [](const MemoryEvent& event) {
    return event.source == MemorySource::kFramework;
  });
  std::map<std::pair<MemorySource, int32_t>, Checked> allocated;  // If the profile has no totals.
  for (const MemoryEvent& event : all) {
    // A framework gets its memory from the driver: each has its own curve.
    const bool beneath = framework && event.source == MemorySource::kDriver;
    if (!beneath) WriteMemoryEvent(event);
    int64_t total = event.total_allocated_bytes;
    if (total < 0) {
      Checked& sum = allocated[{event.source, event.device_id}];
      sum += event.size_bytes;
      if (!sum.Value()) continue;
      total = *sum.Value();
    }
    ChromeEvent counter('C', "", beneath ? "memory of the driver" : "memory", MemoryTrack(event),
                        events_);
    counter.At(event.time_ns).Arg("allocated bytes", total);
    counter.ArgIfKnown("reserved bytes", event.total_reserved_bytes);
    counter.End();
  }
}

ChromeTrack ChromeCounters::MemoryTrack(const MemoryEvent& event) {
  const ChromeTrack host = tracks_.OfThread(event.thread);
  return event.device_id < 0 ? host : tracks_.OfDevice(kUnknownId, event.device_id);
}

/// In the form of PyTorch's profiler.
void ChromeCounters::WriteMemoryEvent(const MemoryEvent& event) {
  const ChromeTrack track = tracks_.OfThread(event.thread);
  ChromeEvent('i', "cpu_instant_event", "[memory]", track, events_)
      .At(event.time_ns)
      .Member("s", "t")
      .Arg("Device Type", int64_t{event.device_id < 0 ? 0 : 1})
      .Arg("Device Id", int64_t{event.device_id})
      .Arg("Addr", event.address)
      .Arg("Bytes", event.size_bytes)
      .ArgIfKnown("Total Allocated", event.total_allocated_bytes)
      .ArgIfKnown("Total Reserved", event.total_reserved_bytes)
      .End();
}

}  // namespace oplens::parse
