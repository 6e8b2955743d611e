#ifndef OPLENS_PROF_RUN_DEVICE_WORK_H_
#define OPLENS_PROF_RUN_DEVICE_WORK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parse/model/cuda_kinds.h"
#include "parse/model/trace.h"
#include "prof/run/interval_set.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// What the work of a GPU is.
enum class WorkClass : uint8_t {
  kCompute,        ///< A kernel that is not communication.
  kCommunication,  ///< A kernel that moves data between GPUs.
  kCopy,
  kFill,
  kReplay,  ///< A replay of a graph whose kernels the file hides: its span, an upper bound.
};

/// Something that a GPU did.
struct DeviceEvent {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  ///< Never less than the start.
  uint32_t index = 0;  ///< Into the trace's list of its class: kernels, copies, sets or replays.
  int32_t device_id = 0;
  int32_t stream_id = 0;
  WorkClass work = WorkClass::kCompute;

  int64_t duration_ns() const { return end_ns - start_ns; }
  bool IsKernel() const { return work <= WorkClass::kCommunication; }
};

/// All that the GPUs of a trace did, by start. What has no time, or ends before it starts, is left
/// out and counted. 32 bytes an event.
class DeviceWork {
 public:
  explicit DeviceWork(const parse::Joined& joined);

  std::span<const DeviceEvent> events() const { return events_; }
  /// Kernels, copies, fills and replays without a usable time.
  int64_t untimed() const { return untimed_; }
  /// First start and last end; both 0 without events.
  int64_t first_ns() const { return first_ns_; }
  int64_t last_ns() const { return last_ns_; }

  /// Leaves out the events for which `kept` answers false.
  template <typename F>
  void Keep(F kept) {
    std::erase_if(events_, [&](const DeviceEvent& event) { return !kept(event); });
    FindExtent();
  }

  /// The call that asked for it; kNoLaunch: none is known.
  LaunchIndex LaunchOf(const DeviceEvent& event) const;
  /// The call whose surroundings tell its op: its launch, or what put it into the graph that was
  /// launched.
  LaunchIndex OriginOf(const DeviceEvent& event) const;
  /// Whether a kernel, by its index, moves data between GPUs.
  bool IsCommunication(size_t kernel) const { return communication_[kernel]; }

 private:
  void Classify(const parse::Joined& joined);
  void FindExtent();

  const Trace& trace_;
  std::vector<DeviceEvent> events_;
  std::vector<bool> communication_;  // By kernel.
  int64_t untimed_ = 0;
  int64_t first_ns_ = 0;
  int64_t last_ns_ = 0;
};

/// A kind of copy as a name, as groups of copies have it: "Memcpy HtoD".
inline std::string CopyNameOf(CopyKind kind) {
  const std::string_view word = CopyKindWord(kind);
  return "Memcpy " + (word.empty() ? std::string("Unknown") : std::string(word));
}

/// The same of a fill, "Memset".
inline constexpr std::string_view kFillName = "Memset";

/// From the first start to the last end of the host's ranges (those without an end count with their
/// start) and the calls that launched work; nullopt without any. Other API calls have no part in
/// it: not every reading of a profile has them.
std::optional<Interval> HostExtent(const Trace& trace, const DeviceWork& work);

/// The same with what the GPUs did.
std::optional<Interval> RunExtent(const Trace& trace, const DeviceWork& work);

/// Makes the extent hold [start, end] too, but for an end before the start.
void Extend(int64_t start_ns, int64_t end_ns, std::optional<Interval>* extent);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_DEVICE_WORK_H_
