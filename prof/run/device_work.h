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

/// Kind of GPU work.
enum class WorkClass : uint8_t {
  kCompute,        ///< A kernel that is not communication.
  kCommunication,  ///< A kernel that moves data between GPUs.
  kCopy,
  kFill,
  kReplay,  ///< A graph replay whose kernels the file hides: its span, an upper bound.
};

/// One piece of GPU work.
struct DeviceEvent {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  ///< Not before the start.
  uint32_t index = 0;  ///< Into the trace's list for its class: kernels, copies, sets or replays.
  int32_t device_id = 0;
  int32_t stream_id = 0;
  WorkClass work = WorkClass::kCompute;

  int64_t duration_ns() const { return end_ns - start_ns; }
  bool IsKernel() const { return work <= WorkClass::kCommunication; }
};

/// All GPU work of a trace, by start. Work without a time, or that ends before it starts, is
/// dropped and counted. 32 bytes per event.
class DeviceWork {
 public:
  explicit DeviceWork(const parse::Joined& joined);

  std::span<const DeviceEvent> events() const { return events_; }
  /// Kernels, copies, fills and replays without a usable time.
  int64_t untimed() const { return untimed_; }
  /// First start and last end; both 0 without events.
  int64_t first_ns() const { return first_ns_; }
  int64_t last_ns() const { return last_ns_; }

  /// Drops the events for which `kept` returns false.
  template <typename F>
  void Keep(F kept) {
    std::erase_if(events_, [&](const DeviceEvent& event) { return !kept(event); });
    FindExtent();
  }

  /// The call that launched it; kNoLaunch: unknown.
  LaunchIndex LaunchOf(const DeviceEvent& event) const;
  /// The call whose context gives its op: its launch, or the one that captured it for the graph.
  LaunchIndex OriginOf(const DeviceEvent& event) const;
  /// Whether the kernel with this index moves data between GPUs.
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

/// Name of a kind of copies, as for groups of copies: "Memcpy HtoD".
inline std::string CopyNameOf(CopyKind kind) {
  const std::string_view word = CopyKindWord(kind);
  return "Memcpy " + (word.empty() ? std::string("Unknown") : std::string(word));
}

/// Name of fills.
inline constexpr std::string_view kFillName = "Memset";

/// From the first start to the last end of the host's ranges (unended ones count with their start)
/// and of the calls that launched work; nullopt without any. Other API calls do not count: not
/// every way of reading a profile has them.
std::optional<Interval> HostExtent(const Trace& trace, const DeviceWork& work);

/// HostExtent extended by the GPUs' work.
std::optional<Interval> RunExtent(const Trace& trace, const DeviceWork& work);

/// Extends the extent to [start, end]; an end before the start is ignored.
void Extend(int64_t start_ns, int64_t end_ns, std::optional<Interval>* extent);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_DEVICE_WORK_H_
