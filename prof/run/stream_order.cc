#include "prof/run/stream_order.h"

#include <algorithm>
#include <numeric>

namespace oplens::prof {
namespace {

int64_t StreamOrderStreamKey(int32_t device_id, int32_t stream_id) {
  return static_cast<int64_t>(uint64_t{static_cast<uint32_t>(device_id)} << 32 |
                              static_cast<uint32_t>(stream_id));
}

}  // namespace

StreamOrder::StreamOrder(const Trace& trace, const DeviceWork& work) : trace_(trace), work_(work) {
  FindStreams();
  FindContexts();
  SortByEnd();
}

void StreamOrder::FindStreams() {
  const std::span<const DeviceEvent> all = work_.events();
  stream_of_.resize(all.size());
  std::vector<int32_t> device_of;  // By stream.
  int64_t last_key = 0;
  uint32_t last = kNone;
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t key = StreamOrderStreamKey(all[i].device_id, all[i].stream_id);
    if (last == kNone || key != last_key) {
      last = streams_.FindOrInsert(key, static_cast<uint32_t>(device_of.size()));
      last_key = key;
      if (last == device_of.size()) device_of.push_back(all[i].device_id);
    }
    stream_of_[i] = last;
  }
  bounds_.assign(device_of.size() + 1, 0);
  for (const uint32_t stream : stream_of_) ++bounds_[stream + 1];
  std::partial_sum(bounds_.begin(), bounds_.end(), bounds_.begin());
  events_.resize(all.size());
  std::vector<uint32_t> next(bounds_.begin(), bounds_.end() - 1);
  for (uint32_t i = 0; i < all.size(); ++i) events_[next[stream_of_[i]]++] = i;
  all_devices_ = device_of;
  std::sort(all_devices_.begin(), all_devices_.end());
  all_devices_.erase(std::unique(all_devices_.begin(), all_devices_.end()), all_devices_.end());
  for (const int32_t device : all_devices_) devices_.push_back({device, {}, {}});
  for (uint32_t stream = 0; stream < device_of.size(); ++stream) {
    const auto place =
        std::lower_bound(all_devices_.begin(), all_devices_.end(), device_of[stream]);
    devices_[static_cast<size_t>(place - all_devices_.begin())].streams.push_back(stream);
  }
}

void StreamOrder::FindContexts() {
  if (trace_.synchronizations.empty()) return;
  const auto add = [&](const auto& list) {
    for (const auto& item : list) {
      const ContextDevice found = {item.context_id, item.device_id};
      if (contexts_.empty() || contexts_.back() != found) contexts_.push_back(found);
    }
    std::sort(contexts_.begin(), contexts_.end());
    contexts_.erase(std::unique(contexts_.begin(), contexts_.end()), contexts_.end());
  };
  add(trace_.kernels);
  add(trace_.copies);
  add(trace_.sets);
  add(trace_.graph_replays);
  // Devices without usable work have nothing to wait for.
  std::erase_if(contexts_, [&](const ContextDevice& item) {
    return !std::binary_search(all_devices_.begin(), all_devices_.end(), item.device_id);
  });
  for (const ContextDevice& item : contexts_) context_devices_.push_back(item.device_id);
}

void StreamOrder::SortByEnd() {
  const std::span<const DeviceEvent> all = work_.events();
  ends_ascend_ = devices_.size() <= 1 &&
                 std::is_sorted(all.begin(), all.end(),
                                [](const auto& a, const auto& b) { return a.end_ns < b.end_ns; });
  if (ends_ascend_) return;
  for (DeviceEvents& device : devices_) {
    for (const uint32_t stream : device.streams) {
      device.by_end.insert(device.by_end.end(), Of(stream).begin(), Of(stream).end());
    }
    std::sort(device.by_end.begin(), device.by_end.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(all[a].end_ns, a) < std::pair(all[b].end_ns, b);
    });
  }
}

const StreamOrder::DeviceEvents* StreamOrder::DeviceOf(int32_t device_id) const {
  const auto place =
      std::lower_bound(devices_.begin(), devices_.end(), device_id,
                       [](const DeviceEvents& item, int32_t id) { return item.device_id < id; });
  return place != devices_.end() && place->device_id == device_id ? &*place : nullptr;
}

uint32_t StreamOrder::Find(int32_t device_id, int32_t stream_id) const {
  return streams_.Find(StreamOrderStreamKey(device_id, stream_id));
}

std::span<const int32_t> StreamOrder::DevicesOf(int32_t context_id) const {
  const auto [first, last] = std::equal_range(
      contexts_.begin(), contexts_.end(), ContextDevice{context_id, 0},
      [](const ContextDevice& a, const ContextDevice& b) { return a.context_id < b.context_id; });
  if (first == last) return all_devices_;
  return std::span(context_devices_)
      .subspan(static_cast<size_t>(first - contexts_.begin()), static_cast<size_t>(last - first));
}

std::span<const uint32_t> StreamOrder::StreamsOf(int32_t device_id) const {
  const DeviceEvents* const device = DeviceOf(device_id);
  return device == nullptr ? std::span<const uint32_t>() : device->streams;
}

int64_t StreamOrder::LaunchTime(uint32_t event) const {
  const DeviceEvent& work = work_.events()[event];
  const LaunchIndex launch = work_.LaunchOf(work);
  return launch == kNoLaunch ? work.start_ns : trace_.launches[launch].start_ns;
}

uint32_t StreamOrder::LastLaunchedBy(uint32_t stream, int64_t time_ns) const {
  const std::span<const uint32_t> events = Of(stream);
  const auto after = std::partition_point(
      events.begin(), events.end(), [&](uint32_t event) { return LaunchTime(event) <= time_ns; });
  return after == events.begin() ? kNone : *(after - 1);
}

uint32_t StreamOrder::FirstLaunchedFrom(uint32_t stream, int64_t time_ns) const {
  const std::span<const uint32_t> events = Of(stream);
  const auto first = std::partition_point(
      events.begin(), events.end(), [&](uint32_t event) { return LaunchTime(event) < time_ns; });
  return first == events.end() ? kNone : *first;
}

uint32_t StreamOrder::LastEndedBy(int32_t device_id, int64_t time_ns, uint32_t but_for) const {
  const std::span<const DeviceEvent> all = work_.events();
  if (ends_ascend_) {
    if (devices_.empty() || devices_[0].device_id != device_id) return kNone;
    auto after = std::partition_point(
        all.begin(), all.end(), [&](const DeviceEvent& event) { return event.end_ns <= time_ns; });
    if (after != all.begin() && static_cast<uint32_t>(after - all.begin()) - 1 == but_for) --after;
    return after == all.begin() ? kNone : static_cast<uint32_t>(after - all.begin()) - 1;
  }
  const DeviceEvents* const device = DeviceOf(device_id);
  if (device == nullptr) return kNone;
  const std::vector<uint32_t>& events = device->by_end;
  auto after = std::partition_point(events.begin(), events.end(),
                                    [&](uint32_t event) { return all[event].end_ns <= time_ns; });
  if (after != events.begin() && *(after - 1) == but_for) --after;
  return after == events.begin() ? kNone : *(after - 1);
}

}  // namespace oplens::prof
