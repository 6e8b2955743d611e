#ifndef OPLENS_PARSE_MODEL_TRACE_NEEDS_H_
#define OPLENS_PARSE_MODEL_TRACE_NEEDS_H_

#include <cstdint>
#include <initializer_list>

namespace oplens {

/// A part of a Trace that is filled on request only, to save time or memory. Damaged rows of such a
/// part are reported anyway if their table is read for other reasons.
enum class TracePart : uint8_t {
  kApiCalls,        ///< Trace::launches holds every API call of the file.
  kApiTimes,        ///< Trace::api_times: times of API calls, without kApiCalls.
  kWaitEvents,      ///< Trace::event_records, and which of them a wait waits for.
  kMemoryEvents,    ///< Trace::memory_events.
  kInstants,        ///< Trace::instants.
  kOverheads,       ///< Trace::overheads.
  kNames,           ///< Names of processes and threads kept in tables of their own (nvprof).
  kTorchEvents,     ///< Trace::torch_events.
  kTorchFunctions,  ///< Trace::torch_functions and torch_recording.
  kOtherEvents,     ///< Trace::other_events.
  kWaitCalls,       ///< Without kApiCalls: Trace::launches holds every call that waits for a GPU.
  kLongCalls,       ///< Without kApiCalls: it holds every call of at least kLongCallNs.
  kOwnCaptures,     ///< Trace::captured, where replays of the file may lack a recorded capture.
  kCaptures,        ///< Trace::captured, to explain replays of other files.
};
/// Excludes kCaptures, which readers of one file have no use for.
inline constexpr uint8_t kTracePartCount = 13;

inline constexpr int64_t kLongCallNs = 10'000;

/// A set of parts that a consumer needs besides the kernels and what they are joined with.
class TraceNeeds {
 public:
  constexpr TraceNeeds() = default;
  constexpr TraceNeeds(std::initializer_list<TracePart> parts) {
    for (const TracePart part : parts) bits_ |= BitOf(part);
  }
  static constexpr TraceNeeds All() { return TraceNeeds((1u << kTracePartCount) - 1); }

  constexpr bool Has(TracePart part) const { return (bits_ & BitOf(part)) != 0; }
  friend constexpr TraceNeeds operator|(TraceNeeds a, TraceNeeds b) {
    return TraceNeeds(a.bits_ | b.bits_);
  }
  friend constexpr bool operator==(TraceNeeds a, TraceNeeds b) = default;

 private:
  explicit constexpr TraceNeeds(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t BitOf(TracePart part) { return 1u << static_cast<uint8_t>(part); }

  uint32_t bits_ = 0;
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TRACE_NEEDS_H_
