#include "prof/views/hta_stream_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "prof/run/hta_activity.h"

namespace oplens::prof {
namespace {

constexpr double kNsOfUs = 1000;

// Idle streams.

constexpr Field kIdleKeys[] = {
    kHtaStreamField,
    {"cause", "Cause", "", FieldType::kText, 12,
     "host_wait: the launch began after the work before it had ended; else kernel_wait where the "
     "gap is less than 30 us; other",
     Fold::kKey},
};
constexpr Field kIdleFigures[] = {
    {"idle_ns", "Idle(ns)", "ns", FieldType::kInteger, 14,
     "sum of the gaps, start less the end of what started before it on the stream", Fold::kSum},
    {"share", "Share", "", FieldType::kDecimal, 8, "of the sum of the stream, with two digits",
     Fold::kNone},
};

/// Causes sort as the reference numbers them.
enum HtaCause : uint8_t { kHtaHostWait, kHtaKernelWait, kHtaOther, kHtaCauseCount };
constexpr std::string_view kHtaCauses[kHtaCauseCount] = {"host_wait", "kernel_wait", "other"};

struct HtaGaps {
  std::array<int64_t, kHtaCauseCount> sums_us{};
  std::array<bool, kHtaCauseCount> any{};

  void Add(HtaCause cause, int64_t us) {
    any[cause] = true;
    int64_t& sum = sums_us[cause];
    if (__builtin_add_overflow(sum, us, &sum)) sum = INT64_MAX / 4;
  }
};

HtaGaps GapsOf(const HtaActivity& activity, std::span<const uint32_t> stream) {
  constexpr int64_t kQueuedGapUs = 30;
  std::vector<int64_t> starts;
  for (const uint32_t work : stream) starts.push_back(activity.work[work].start_us);
  HtaGaps gaps;
  const HtaWork* last = nullptr;
  for (const uint32_t place : HtaOrder(starts)) {
    const HtaWork& work = activity.work[stream[place]];
    if (last == nullptr) {
      gaps.Add(kHtaOther, 0);
    } else {
      const int64_t gap_us = work.start_us - last->end_us;
      const bool late =
          work.call != HtaWork::kNoCall && activity.calls[work.call].start_us > last->end_us;
      gaps.Add(late ? kHtaHostWait : gap_us < kQueuedGapUs ? kHtaKernelWait : kHtaOther, gap_us);
    }
    last = &work;
  }
  return gaps;
}

std::map<int64_t, std::vector<uint32_t>> Streams(const HtaActivity& activity) {
  std::map<int64_t, std::vector<uint32_t>> streams;
  for (uint32_t i = 0; i < activity.work.size(); ++i) {
    streams[activity.work[i].stream].push_back(i);
  }
  return streams;
}

std::vector<HtaRow> FindIdle(const Trace& trace) {
  const HtaActivity activity(trace);
  std::vector<HtaRow> rows;
  for (const auto& [stream, works] : Streams(activity)) {
    const HtaGaps gaps = GapsOf(activity, works);
    double all_us = 0;
    for (const int64_t sum_us : gaps.sums_us) all_us += static_cast<double>(sum_us);
    for (size_t cause = 0; cause < kHtaCauseCount; ++cause) {
      if (!gaps.any[cause]) continue;
      const auto us = static_cast<double>(gaps.sums_us[cause]);
      constexpr double kDigits = 100;
      std::optional<double> share;
      if (all_us != 0) share = std::nearbyint(us / all_us * kDigits) / kDigits;
      rows.push_back({stream, std::string(kHtaCauses[cause]), {us * kNsOfUs, share}});
    }
  }
  return rows;
}

// Launches.

constexpr Field kLaunchFigures[] = {
    {"launches", "Launches", "", FieldType::kInteger, 10,
     "pairs of a call of cudaLaunchKernel, cudaLaunchKernelExC, cudaMemcpyAsync or cudaMemsetAsync "
     "and the work that has its number",
     Fold::kSum},
    {"short_kernels", "Short", "", FieldType::kInteger, 8,
     "pairs whose work is shorter than the call, the call at most 50 us", Fold::kSum},
    {"runtime_outliers", "SlowCalls", "", FieldType::kInteger, 9,
     "pairs whose call is longer than 50 us", Fold::kSum},
    {"delay_outliers", "LateStarts", "", FieldType::kInteger, 10,
     "pairs with a delay of more than 100 us", Fold::kSum},
    {"cpu_ns", "CPU(ns)", "ns", FieldType::kInteger, 14, "sum of the durations of the calls",
     Fold::kSum},
    {"gpu_ns", "GPU(ns)", "ns", FieldType::kInteger, 14, "sum of the durations of the work",
     Fold::kSum},
    {"delay_ns", "Delay(ns)", "ns", FieldType::kInteger, 14,
     "sum of the delays: start of the work less the end of the call, at least 0", Fold::kSum},
    {"max_delay_ns", "MaxDelay(ns)", "ns", FieldType::kInteger, 14, "longest delay", Fold::kMax},
};

std::vector<HtaRow> FindLaunches(const Trace& trace) {
  constexpr std::string_view kNames[] = {"cudaLaunchKernel", "cudaLaunchKernelExC",
                                         "cudaMemcpyAsync", "cudaMemsetAsync"};
  constexpr int64_t kSlowCallUs = 50;
  constexpr int64_t kLateStartUs = 100;
  const std::vector<bool> named = HtaNamed(trace, kNames);
  const HtaActivity activity(trace);
  std::array<double, std::size(kLaunchFigures)> sums{};
  auto& [count, shorts, slow, late, cpu, gpu, delays, longest] = sums;
  for (const HtaWork& work : activity.work) {
    if (work.call == HtaWork::kNoCall || !named[activity.calls[work.call].api]) continue;
    const HtaCall& call = activity.calls[work.call];
    const int64_t delay_us = std::max<int64_t>(work.start_us - call.start_us - call.duration_us, 0);
    count += 1;
    const bool is_slow = call.duration_us > kSlowCallUs;
    shorts += !is_slow && work.duration_us() < call.duration_us ? 1 : 0;
    slow += is_slow ? 1 : 0;
    late += delay_us > kLateStartUs ? 1 : 0;
    cpu += static_cast<double>(call.duration_us) * kNsOfUs;
    gpu += static_cast<double>(work.duration_us()) * kNsOfUs;
    delays += static_cast<double>(delay_us) * kNsOfUs;
    longest = std::max(longest, static_cast<double>(delay_us) * kNsOfUs);
  }
  if (activity.work.empty()) return {};
  HtaRow row;
  row.figures.assign(sums.begin(), sums.end());
  if (count == 0) row.figures.back().reset();
  return {row};
}

}  // namespace

std::vector<bool> HtaNamed(const Trace& trace, std::span<const std::string_view> names) {
  std::vector<bool> found(trace.strings.size(), false);
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string_view name = trace.strings.View(static_cast<StringId>(i));
    found[i] = std::find(names.begin(), names.end(), name) != names.end();
  }
  return found;
}

const HtaTable& HtaIdleTable() {
  static constexpr HtaTable kTable = {"idle", kIdleKeys, kIdleFigures, FindIdle};
  return kTable;
}

const HtaTable& HtaLaunchesTable() {
  static constexpr HtaTable kTable = {"launches", {}, kLaunchFigures, FindLaunches};
  return kTable;
}

}  // namespace oplens::prof
