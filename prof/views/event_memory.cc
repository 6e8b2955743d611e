#include "prof/views/event_memory.h"

#include <algorithm>
#include <utility>

namespace oplens::prof {

EventMemory::EventMemory(const Trace& trace, bool all_threads) : all_threads_(all_threads) {
  for (const MemoryEvent& event : trace.memory_events) {
    if (event.source != MemorySource::kFramework) continue;
    const auto size = static_cast<uint64_t>(event.size_bytes);
    const bool device = event.device_id >= 0;
    moments_.push_back({all_threads ? ThreadIndex{0} : event.thread, 0, event.time_ns,
                        device ? 0 : size, device ? size : 0});
  }
  if (moments_.empty()) return;
  std::sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
    return std::pair(a.thread, a.time_ns) < std::pair(b.thread, b.time_ns);
  });
  moments_.push_back({moments_.back().thread, 0, INT64_MAX, 0, 0});
  uint64_t host = 0;
  uint64_t device = 0;
  for (Moment& moment : moments_) {
    host += std::exchange(moment.host, host);
    device += std::exchange(moment.device, device);
  }
}

EventMemory::Bytes EventMemory::Take(ThreadIndex thread, int64_t start_ns, int64_t end_ns) {
  if (moments_.empty()) return {};
  if (all_threads_) thread = 0;
  const auto last = moments_.end() - 1;
  const auto from = std::lower_bound(moments_.begin(), last, std::pair(thread, start_ns),
                                     [](const Moment& moment, const auto& key) {
                                       return std::pair(moment.thread, moment.time_ns) < key;
                                     });
  const auto to = std::upper_bound(from, last, std::pair(thread, end_ns),
                                   [](const auto& key, const Moment& moment) {
                                     return key < std::pair(moment.thread, moment.time_ns);
                                   });
  if (from == to) return {};
  ++from->takes;
  --to->takes;
  return {static_cast<int64_t>(to->host - from->host),
          static_cast<int64_t>(to->device - from->device)};
}

EventMemory::Untaken EventMemory::Rest() const {
  Untaken rest;
  uint64_t host = 0;
  uint64_t device = 0;
  int64_t takes = 0;
  for (size_t i = 0; i + 1 < moments_.size(); ++i) {
    takes += moments_[i].takes;
    if (takes > 0) continue;
    ++rest.count;
    rest.first_ns = std::min(rest.first_ns, moments_[i].time_ns);
    host += moments_[i + 1].host - moments_[i].host;
    device += moments_[i + 1].device - moments_[i].device;
  }
  rest.bytes = {static_cast<int64_t>(host), static_cast<int64_t>(device)};
  return rest;
}

}  // namespace oplens::prof
