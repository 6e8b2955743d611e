#ifndef OPLENS_PROF_COMPAT_HTA_PATH_EVENTS_H_
#define OPLENS_PROF_COMPAT_HTA_PATH_EVENTS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parse/model/trace.h"

namespace oplens::prof {

// Events as HolisticTraceAnalysis 0.6.0 reads them from a trace of PyTorch's profiler, for the
// critical path of --compat hta: whole microseconds, linked by correlation ids alone.

/// One event.
struct HtaPathEvent {
  enum class Kind : uint8_t { kOperator, kCall, kOther, kWork, kWait };
  static constexpr uint32_t kNone = UINT32_MAX;

  int64_t start_us = 0;
  int64_t end_us = 0;
  int64_t thread_id = 0;
  int64_t stream = -1;
  int64_t correlation_id = -1;
  uint32_t number = 0;    ///< In the order of the file, as far as that is known.
  StringId name = 0;      ///< Of waits 0.
  uint32_t link = kNone;  ///< The work or wait of a call, the call of these; the last of several.
  Kind kind = Kind::kOther;
  // Of waits.
  WaitKind wait = WaitKind::kUnknown;
  int64_t record_correlation_id = -1;  ///< Of the call that recorded the event.
  int64_t record_stream = -1;

  bool OnHost() const { return kind <= Kind::kOther; }
  int64_t duration_us() const { return end_us - start_us; }
};

/// All events of a trace, in the order of their numbers, without those of the last ProfilerStep
/// where there are several. Needs TracePart::kTorchEvents, kApiCalls and kWaitEvents.
class HtaPathEvents {
 public:
  explicit HtaPathEvents(const Trace& trace);

  std::span<const HtaPathEvent> all() const { return events_; }
  const HtaPathEvent& operator[](uint32_t index) const { return events_[index]; }
  std::string_view NameOf(const HtaPathEvent& event) const {
    return trace_.strings.View(event.name);
  }
  /// Whether it is a call that can put work into a stream.
  bool Launches(const HtaPathEvent& event) const;
  /// How many pieces of work of its stream were launched and have not begun, just after a call or
  /// a piece of work began; -1: not known.
  int64_t QueueAt(uint32_t event) const;

 private:
  void AddTorchEvents();
  void AddDriverCalls();
  void AddWaits();
  void CutLastStep();
  void Link();
  void CountQueues();

  const Trace& trace_;
  std::vector<HtaPathEvent> events_;
  std::unordered_map<uint32_t, int64_t> queues_;  // By event.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_PATH_EVENTS_H_
