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

// Launches, queues, idle streams and copies as in HolisticTraceAnalysis 0.6.0, for --compat hta;
// times in whole microseconds as in HtaEvent.

/// Without these parts some figures only approximate the reference's: the order of equal times, and
/// recorded bandwidths.
inline constexpr TraceNeeds kHtaActivityNeeds = {TracePart::kTorchEvents};

struct HtaCall {
  int64_t start_us = 0;
  int64_t duration_us = 0;
  StringId api = 0;
};

/// A kernel, copy or memset on a stream, or work of another accelerator.
struct HtaWork {
  static constexpr uint32_t kNoCall = UINT32_MAX;

  int64_t start_us = 0;
  int64_t end_us = 0;
  int64_t stream = 0;
  uint32_t call = kNoCall;  ///< Index in HtaActivity::calls.
  bool numbered = false;    ///< It has a correlation id.
  double gbps = 0;          ///< Of a copy or memset.
  std::string memory;       ///< Of a copy or memset: "Memcpy HtoD", "Memset", ...; otherwise empty.

  int64_t duration_us() const { return end_us - start_us; }
};

/// The work of a rank and its calls, both in file order as far as known. If a run has several
/// steps, only what was launched before the last one.
struct HtaActivity {
  std::vector<HtaCall> calls;
  std::vector<HtaWork> work;
  /// Start of the first event of the file, which the reference takes for the launch of numbered
  /// work without a call.
  std::optional<int64_t> first_event_us;

  explicit HtaActivity(const Trace& trace);
};

/// The permutation that NumPy's default sort of 64-bit keys produces: it is not stable, and the
/// reference's results for equal times depend on it. Quicksort by median of three, insertion sort
/// up to 16 keys, heapsort if parts are too uneven.
std::vector<uint32_t> HtaOrder(std::span<const int64_t> keys);

/// Results of pandas' describe.
struct HtaDescription {
  double count = 0;
  double mean = 0;
  std::optional<double> deviation;  ///< Over n - 1; nullopt for one value.
  double least = 0;
  double p25 = 0;  ///< Quartiles are interpolated.
  double p50 = 0;
  double p75 = 0;
  double largest = 0;
};
/// Precondition: `values` is not empty.
HtaDescription HtaDescribe(std::vector<double> values);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_HTA_ACTIVITY_H_
