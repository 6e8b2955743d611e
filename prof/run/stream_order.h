#ifndef OPLENS_PROF_RUN_STREAM_ORDER_H_
#define OPLENS_PROF_RUN_STREAM_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id_map.h"
#include "prof/run/device_work.h"

namespace oplens::prof {

/// The GPU work of a rank by stream, for finding the last work before a time. Events are indices in
/// DeviceWork::events(). O(n log n); 8 bytes per event, 4 more if work overlaps.
class StreamOrder {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// The stream of a wait that names none.
  static constexpr int32_t kAnyStream = -1;

  /// Both must outlive this object.
  StreamOrder(const Trace& trace, const DeviceWork& work);

  size_t stream_count() const { return bounds_.empty() ? 0 : bounds_.size() - 1; }
  uint32_t StreamOf(uint32_t event) const { return stream_of_[event]; }
  /// The stream of a device; kNone: it has no work.
  uint32_t Find(int32_t device_id, int32_t stream_id) const;
  /// The devices of a context, as far as its work shows; all devices if it has no work.
  std::span<const int32_t> DevicesOf(int32_t context_id) const;
  std::span<const uint32_t> StreamsOf(int32_t device_id) const;

  /// Launch time of an event; if unknown, its start.
  int64_t LaunchTime(uint32_t event) const;
  /// The last event of a stream that was launched by a time; kNone: none. Work of a stream runs in
  /// the order of its launches.
  uint32_t LastLaunchedBy(uint32_t stream, int64_t time_ns) const;
  /// The first event of a stream that was launched at or after a time.
  uint32_t FirstLaunchedFrom(uint32_t stream, int64_t time_ns) const;
  /// The event of a device that ended last by a time, except `but_for`.
  uint32_t LastEndedBy(int32_t device_id, int64_t time_ns, uint32_t but_for = kNone) const;

 private:
  struct DeviceEvents {
    int32_t device_id = 0;
    std::vector<uint32_t> streams;
    std::vector<uint32_t> by_end;
  };
  struct ContextDevice {
    int32_t context_id = 0;
    int32_t device_id = 0;
    friend auto operator<=>(const ContextDevice&, const ContextDevice&) = default;
  };

  void FindStreams();
  void FindContexts();
  void SortByEnd();
  const DeviceEvents* DeviceOf(int32_t device_id) const;
  std::span<const uint32_t> Of(uint32_t stream) const {
    return {events_.data() + bounds_[stream], bounds_[stream + 1] - bounds_[stream]};
  }

  const Trace& trace_;
  const DeviceWork& work_;
  IdMap streams_;                      // By device and stream.
  std::vector<uint32_t> stream_of_;    // By event.
  std::vector<uint32_t> events_;       // By stream, in order of start.
  std::vector<uint32_t> bounds_;       // By stream, plus the end.
  std::vector<DeviceEvents> devices_;  // By id.
  bool ends_ascend_ = true;            // One device, and ends ascend with starts.
  std::vector<ContextDevice> contexts_;
  std::vector<int32_t> context_devices_;  // Of contexts_, in the same order.
  std::vector<int32_t> all_devices_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STREAM_ORDER_H_
