#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "parse/model/trace.h"
#include "prof/compat/hta/activity.h"
#include "prof/compat/hta/views.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

struct HtaStreamKey {
  RankName rank;
  int64_t stream = 0;
  std::string word;

  friend auto operator<=>(const HtaStreamKey&, const HtaStreamKey&) = default;
};
using HtaFigures = std::vector<std::optional<double>>;
/// Of one trace; the keys have no rank.
using HtaRows = std::vector<std::pair<HtaStreamKey, HtaFigures>>;
using HtaStreamRow = GroupRow<HtaStreamKey, HtaFigures>;
using HtaStreamColumn = Column<HtaStreamRow>;

template <size_t place>
Cell HtaFigure(const HtaStreamRow& row) {
  return Decimal(row.sums[place]);
}
/// As an integer.
template <size_t place>
Cell HtaWhole(const HtaStreamRow& row) {
  constexpr double kMost = 9e18;
  const std::optional<double>& value = row.sums[place];
  return value ? Integer(std::llround(std::clamp(*value, -kMost, kMost))) : Cell{};
}

constexpr HtaStreamColumn kHtaRankColumn = KeyColumn<&HtaStreamKey::rank>{kRankField};
constexpr HtaStreamColumn kHtaStreamColumn = KeyColumn<&HtaStreamKey::stream>{
    {"stream", "Stream", "", FieldType::kInteger, 8, "stream of the GPU", Fold::kKey}};

/// By text of a trace: whether it is one of `names`.
std::vector<bool> HtaNamed(const Trace& trace, std::span<const std::string_view> names) {
  std::vector<bool> found(trace.strings.size(), false);
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string_view name = trace.strings.View(static_cast<StringId>(i));
    found[i] = std::find(names.begin(), names.end(), name) != names.end();
  }
  return found;
}

constexpr double kNsOfUs = 1000;

// Idle streams.

constexpr HtaStreamColumn kHtaIdleColumns[] = {
    kHtaRankColumn,
    kHtaStreamColumn,
    KeyColumn<&HtaStreamKey::word>{
        {"cause", "Cause", "", FieldType::kText, 12,
         "host_wait: the launch began after the end of the previous work; else kernel_wait if the "
         "gap is less than 30 us; else other",
         Fold::kKey}},
    {{"idle_ns", "Idle(ns)", "ns", FieldType::kInteger, 14,
      "sum of the gaps: start - end of what started before it on the stream", Fold::kSum},
     HtaWhole<0>},
    {{"share", "Share", "", FieldType::kDecimal, 8,
      "share of the sum of the stream, with two digits", Fold::kNone},
     HtaFigure<1>},
};

/// Causes in the reference's order.
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

/// The start of its launch by the reference's rules; the least time if there is none.
int64_t HtaLaunchOf(const HtaActivity& activity, const HtaWork& work) {
  if (work.call != HtaWork::kNoCall) return activity.calls[work.call].start_us;
  return work.numbered ? activity.first_event_us.value_or(INT64_MIN) : INT64_MIN;
}

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
      const bool late = HtaLaunchOf(activity, work) > last->end_us;
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

HtaRows FindIdle(const Trace& trace) {
  const HtaActivity activity(trace);
  HtaRows rows;
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
      rows.push_back({{{}, stream, std::string(kHtaCauses[cause])}, {us * kNsOfUs, share}});
    }
  }
  return rows;
}

// Launches.

constexpr HtaStreamColumn kHtaLaunchColumns[] = {
    kHtaRankColumn,
    {{"launches", "Launches", "", FieldType::kInteger, 10,
      "pairs of a call of cudaLaunchKernel, cudaLaunchKernelExC, cudaMemcpyAsync or "
      "cudaMemsetAsync and the work with its correlation id",
      Fold::kSum},
     HtaWhole<0>},
    {{"short_kernels", "Short", "", FieldType::kInteger, 8,
      "pairs whose work is shorter than the call, and the call at most 50 us", Fold::kSum},
     HtaWhole<1>},
    {{"runtime_outliers", "SlowCalls", "", FieldType::kInteger, 9,
      "pairs whose call is longer than 50 us", Fold::kSum},
     HtaWhole<2>},
    {{"delay_outliers", "LateStarts", "", FieldType::kInteger, 10,
      "pairs with a delay of more than 100 us", Fold::kSum},
     HtaWhole<3>},
    {{"cpu_ns", "CPU(ns)", "ns", FieldType::kInteger, 14, "sum of the durations of the calls",
      Fold::kSum},
     HtaWhole<4>},
    {{"gpu_ns", "GPU(ns)", "ns", FieldType::kInteger, 14, "sum of the durations of the work",
      Fold::kSum},
     HtaWhole<5>},
    {{"delay_ns", "Delay(ns)", "ns", FieldType::kInteger, 14,
      "sum of the delays: start of the work - end of the call, at least 0", Fold::kSum},
     HtaWhole<6>},
    {{"max_delay_ns", "MaxDelay(ns)", "ns", FieldType::kInteger, 14, "longest delay", Fold::kMax},
     HtaWhole<7>},
};

HtaRows FindLaunches(const Trace& trace) {
  constexpr std::string_view kNames[] = {"cudaLaunchKernel", "cudaLaunchKernelExC",
                                         "cudaMemcpyAsync", "cudaMemsetAsync",
                                         "runFunction - job_prep_and_submit_for_execution"};
  constexpr int64_t kSlowCallUs = 50;
  constexpr int64_t kLateStartUs = 100;
  const std::vector<bool> named = HtaNamed(trace, kNames);
  const HtaActivity activity(trace);
  std::array<double, std::size(kHtaLaunchColumns) - 1> sums{};
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
  HtaFigures figures(sums.begin(), sums.end());
  if (count == 0) figures.back().reset();
  return {{{}, std::move(figures)}};
}

// Queues and bandwidth: pandas' describe of a series.

/// `count`: help of the column of the number of values.
constexpr std::array<HtaStreamColumn, 10> DescribedColumns(
    const HtaStreamColumn& key, const std::array<std::string_view, 7>& keys, std::string_view unit,
    std::string_view count) {
  constexpr auto kDecimal = FieldType::kDecimal;
  return {
      {kHtaRankColumn,
       key,
       {{"count", "Count", "", FieldType::kInteger, 9, count, Fold::kSum}, HtaWhole<0>},
       {{keys[0], "Mean", unit, kDecimal, 10, "mean of the values, however long each holds",
         Fold::kNone},
        HtaFigure<1>},
       {{keys[1], "Std", unit, kDecimal, 10, "standard deviation of the values, over n - 1",
         Fold::kNone},
        HtaFigure<2>},
       {{keys[2], "Min", unit, kDecimal, 10, "smallest value", Fold::kMin}, HtaFigure<3>},
       {{keys[3], "P25", unit, kDecimal, 10, "quartile, interpolated", Fold::kNone}, HtaFigure<4>},
       {{keys[4], "P50", unit, kDecimal, 10, "median", Fold::kNone}, HtaFigure<5>},
       {{keys[5], "P75", unit, kDecimal, 10, "quartile, interpolated", Fold::kNone}, HtaFigure<6>},
       {{keys[6], "Max", unit, kDecimal, 10, "largest value", Fold::kMax}, HtaFigure<7>}}};
}

HtaFigures Described(std::vector<double> values) {
  const HtaDescription found = HtaDescribe(std::move(values));
  return {found.count, found.mean, found.deviation, found.least,
          found.p25,   found.p50,  found.p75,       found.largest};
}

constexpr auto kHtaQueueColumns =
    DescribedColumns(kHtaStreamColumn, {"mean", "std", "min", "p25", "p50", "p75", "max"}, "",
                     "number of values: queue lengths after each call and each start of work");

/// The queue of a stream grows or shrinks by one.
struct HtaSeriesTablesChange {
  int64_t time_us;
  int64_t stream;
  int64_t change;
};

/// Changes of all calls in file order, then of all work.
std::vector<HtaSeriesTablesChange> ChangesOf(const HtaActivity& activity,
                                             const std::vector<bool>& named) {
  std::vector<std::pair<uint32_t, int64_t>> calls;  // Index and stream of the work.
  std::vector<HtaSeriesTablesChange> begins;
  for (const HtaWork& work : activity.work) {
    if (work.call == HtaWork::kNoCall || !named[activity.calls[work.call].api]) continue;
    calls.emplace_back(work.call, work.stream);
    begins.push_back({work.start_us, work.stream, -1});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<HtaSeriesTablesChange> changes;
  for (const auto& [call, stream] : calls) {
    changes.push_back({activity.calls[call].start_us, stream, 1});
  }
  changes.insert(changes.end(), begins.begin(), begins.end());
  return changes;
}

HtaRows FindQueue(const Trace& trace) {
  constexpr std::string_view kNames[] = {
      "cudaMemsetAsync",     "cudaMemcpyAsync",
      "cudaLaunchKernel",    "cudaLaunchKernelExC",
      "cuLaunchKernel",      "cuLaunchKernelEx",
      "hipLaunchKernel",     "hipExtModuleLaunchKernel",
      "hipMemsetAsync",      "hipMemcpyAsync",
      "hipMemcpyWithStream", "runFunction - job_prep_and_submit_for_execution"};
  const std::vector<HtaSeriesTablesChange> changes =
      ChangesOf(HtaActivity(trace), HtaNamed(trace, kNames));
  std::vector<int64_t> times_us;
  for (const HtaSeriesTablesChange& change : changes) times_us.push_back(change.time_us);
  struct Series {
    int64_t length = 0;
    std::vector<double> lengths;
  };
  std::map<int64_t, Series> streams;
  for (const uint32_t place : HtaOrder(times_us)) {
    Series& series = streams[changes[place].stream];
    series.length += changes[place].change;
    series.lengths.push_back(static_cast<double>(series.length));
  }
  HtaRows rows;
  for (auto& [stream, series] : streams) {
    rows.push_back({{{}, stream, {}}, Described(std::move(series.lengths))});
  }
  return rows;
}

constexpr auto kHtaBandwidthColumns = DescribedColumns(
    KeyColumn<&HtaStreamKey::word>{{"kind", "Kind", "", FieldType::kText, 15,
                                    "Memcpy HtoD, DtoH, DtoD, ..., Memset", Fold::kKey}},
    {"mean_gbps", "std_gbps", "min_gbps", "p25_gbps", "p50_gbps", "p75_gbps", "max_gbps"}, "GB/s",
    "number of values above 0: summed bandwidths of what runs, after each start and end");

HtaRows FindBandwidth(const Trace& trace) {
  const HtaActivity activity(trace);
  std::vector<const HtaWork*> copies;
  for (const HtaWork& work : activity.work) {
    if (!work.memory.empty()) copies.push_back(&work);
  }
  std::vector<int64_t> times_us;
  for (const HtaWork* copy : copies) times_us.push_back(copy->start_us);
  for (const HtaWork* copy : copies) {
    const int64_t own_us = copy->duration_us();
    times_us.push_back(copy->start_us + (own_us == 0 ? 1 : own_us));
  }
  struct Series {
    double sum = 0;
    std::vector<double> values;
  };
  std::map<std::string_view, Series> kinds;
  for (const uint32_t place : HtaOrder(times_us)) {
    const bool start = place < copies.size();
    const HtaWork& copy = *copies[start ? place : place - copies.size()];
    Series& series = kinds[copy.memory];
    series.sum += start ? copy.gbps : -copy.gbps;
    if (series.sum > 0) series.values.push_back(series.sum);
  }
  HtaRows rows;
  for (auto& [kind, series] : kinds) {
    if (series.values.empty()) continue;
    rows.push_back({{{}, 0, std::string(kind)}, Described(std::move(series.values))});
  }
  return rows;
}

/// A rank with two files has a row for each.
class HtaStreams : public GroupedPartial<HtaStreamKey, std::vector<HtaFigures>, HtaStreamRow> {
 public:
  HtaStreams(std::string_view view, const ViewOptions& options,
             std::span<const HtaStreamColumn> columns, HtaRows (*find)(const Trace& trace))
      : GroupedPartial(view, {}, {}, columns), find_(find) {
    if (!options.by.empty()) {
      throw UsageError(
          fmt::format("--by {}: with --compat hta the view {} takes no other key than its own",
                      options.by.front(), view));
    }
  }

  void End(const Run* run) override {
    if (run == nullptr) return;
    for (auto& [key, figures] : find_(run->trace())) {
      key.rank = RankName(run->rank());
      Take(key, {std::move(figures)});
    }
  }

 private:
  void EmitGroup(const HtaStreamKey& key, const std::vector<HtaFigures>& files,
                 TableOf<HtaStreamRow>* table) const override {
    std::vector<HtaFigures> rows = files;
    std::sort(rows.begin(), rows.end());
    for (const HtaFigures& figures : rows) table->Add({key, figures});
  }

  HtaRows (*find_)(const Trace& trace);
};

}  // namespace

std::unique_ptr<Partial> MakeHtaIdle(const ViewOptions& options) {
  return std::make_unique<HtaStreams>("idle", options, kHtaIdleColumns, FindIdle);
}
std::unique_ptr<Partial> MakeHtaLaunches(const ViewOptions& options) {
  return std::make_unique<HtaStreams>("launches", options, kHtaLaunchColumns, FindLaunches);
}
std::unique_ptr<Partial> MakeHtaQueue(const ViewOptions& options) {
  return std::make_unique<HtaStreams>("queue", options, kHtaQueueColumns, FindQueue);
}
std::unique_ptr<Partial> MakeHtaBandwidth(const ViewOptions& options) {
  return std::make_unique<HtaStreams>("bandwidth", options, kHtaBandwidthColumns, FindBandwidth);
}

}  // namespace oplens::prof
