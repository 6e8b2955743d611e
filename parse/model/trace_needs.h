#ifndef OPLENS_PARSE_MODEL_TRACE_NEEDS_H_
#define OPLENS_PARSE_MODEL_TRACE_NEEDS_H_

#include <cstdint>
#include <initializer_list>

namespace oplens {

/// A part of a Trace that is there only for those who ask for it: reading or keeping it costs time
/// or memory. Whether a row of such a part is damaged is found out anyway where a table holds it
/// that is read anyway.
enum class TracePart : uint8_t {
  kApiCalls,      ///< Trace::launches holds every API call of the file.
  kApiTimes,      ///< Trace::api_times: without the former, when there were others.
  kWaitEvents,    ///< Trace::event_records, and which of them a wait waits for.
  kMemoryEvents,  ///< Trace::memory_events.
  kInstants,      ///< Trace::instants.
  kOverheads,     ///< Trace::overheads.
  kNames,         ///< Names of processes and threads that stand in tables of their own (nvprof).
  kTorchEvents,   ///< Trace::torch_events.
  kWaitCalls,     ///< Without kApiCalls: Trace::launches holds every call that waits for a GPU.
  kLongCalls,     ///< Without kApiCalls: it holds the calls of at least kLongCallNs.
  kCaptures,      ///< Trace::kernels holds what was put into graphs and not run, see IsCaptured.
};
/// Without the last, which adds kernels that did not run.
inline constexpr uint8_t kTracePartCount = 10;

/// How long an API call must take to be one of TracePart::kLongCalls.
inline constexpr int64_t kLongCallNs = 10'000;

/// What a client wants of a trace besides kernels and what they are joined with; a set of parts.
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
