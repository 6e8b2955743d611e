#ifndef OPLENS_PROF_COMPAT_HTA_ACTIVITY_H_
#define OPLENS_PROF_COMPAT_HTA_ACTIVITY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"

namespace oplens::prof {

// What HolisticTraceAnalysis 0.6.0 knows of launches, queues, idle streams and copies, for
// --compat hta; times in whole microseconds as HtaEvent has them.

/// Parts of the trace without which some figures are near those of the reference only: the order of
/// equal times, and bandwidths as recorded.
inline constexpr TraceNeeds kHtaActivityNeeds = {TracePart::kTorchEvents};

/// An API call.
struct HtaCall {
  int64_t start_us = 0;
  int64_t duration_us = 0;
  StringId api = 0;
};

/// A kernel, a copy or a fill on a stream.
struct HtaWork {
  static constexpr uint32_t kNoCall = UINT32_MAX;

  int64_t start_us = 0;
  int64_t end_us = 0;
  int64_t stream = 0;
  uint32_t call = kNoCall;  ///< Into HtaActivity::calls.
  double gbps = 0;          ///< Of a copy or fill.
  std::string memory;       ///< Of a copy or fill "Memcpy HtoD", "Memset", ...; else empty.

  int64_t duration_us() const { return end_us - start_us; }
};

/// The work of a rank with its calls, both in the order of the file as far as that is known. Where
/// a run has several steps, only what was launched before the start of the last one.
struct HtaActivity {
  std::vector<HtaCall> calls;
  std::vector<HtaWork> work;

  explicit HtaActivity(const Trace& trace);
};

/// The order in which NumPy's default sort of 64-bit keys leaves the places of an array: it is not
/// stable, and what the reference makes of equal times depends on it. Quicksort by the
/// median of three, insertion of at most 16 keys, a heap where parts are too uneven.
std::vector<uint32_t> HtaOrder(std::span<const int64_t> keys);

/// What pandas' describe says of values.
struct HtaDescription {
  double count = 0;
  double mean = 0;
  std::optional<double> deviation;  ///< Over n - 1; unknown of one.
  double least = 0;
  double p25 = 0;  ///< Quartiles between two values are interpolated.
  double p50 = 0;
  double p75 = 0;
  double largest = 0;
};
/// `values` must not be empty.
HtaDescription HtaDescribe(std::vector<double> values);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_ACTIVITY_H_
