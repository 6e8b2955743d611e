#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "prof/run/hta_activity.h"
#include "prof/views/hta_stream_tables.h"

namespace oplens::prof {
namespace {

// Queues and bandwidth: what pandas' describe says of a series.

/// `count` says what the values are.
constexpr std::array<Field, 8> DescribedFields(const std::array<std::string_view, 7>& keys,
                                               std::string_view unit, std::string_view count) {
  constexpr auto kDecimal = FieldType::kDecimal;
  return {
      {{"count", "Count", "", FieldType::kInteger, 9, count, Fold::kSum},
       {keys[0], "Mean", unit, kDecimal, 10, "mean of the values, however long each holds",
        Fold::kNone},
       {keys[1], "Std", unit, kDecimal, 10, "their standard deviation, over n - 1", Fold::kNone},
       {keys[2], "Min", unit, kDecimal, 10, "the least", Fold::kMin},
       {keys[3], "P25", unit, kDecimal, 10, "quartile, interpolated", Fold::kNone},
       {keys[4], "P50", unit, kDecimal, 10, "median", Fold::kNone},
       {keys[5], "P75", unit, kDecimal, 10, "quartile, interpolated", Fold::kNone},
       {keys[6], "Max", unit, kDecimal, 10, "the largest", Fold::kMax}}};
}

std::vector<std::optional<double>> Described(std::vector<double> values) {
  const HtaDescription found = HtaDescribe(std::move(values));
  return {found.count, found.mean, found.deviation, found.least,
          found.p25,   found.p50,  found.p75,       found.largest};
}

constexpr Field kQueueKeys[] = {kHtaStreamField};
constexpr auto kQueueFigures =
    DescribedFields({"mean", "std", "min", "p25", "p50", "p75", "max"}, "",
                    "values: lengths of the queue after each call and each start of work");

/// One more or less on a stream.
struct HtaSeriesTablesChange {
  int64_t time_us;
  int64_t stream;
  int64_t change;
};

/// Those of all calls in the order of the file, then those of all work.
std::vector<HtaSeriesTablesChange> ChangesOf(const HtaActivity& activity,
                                             const std::vector<bool>& named) {
  std::vector<std::pair<uint32_t, int64_t>> calls;  // Place and stream of the work.
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

std::vector<HtaRow> FindQueue(const Trace& trace) {
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
  std::vector<HtaRow> rows;
  for (auto& [stream, series] : streams) {
    rows.push_back({stream, {}, Described(std::move(series.lengths))});
  }
  return rows;
}

constexpr Field kBandwidthKeys[] = {
    {"kind", "Kind", "", FieldType::kText, 15, "Memcpy HtoD, DtoH, DtoD, ..., Memset", Fold::kKey}};
constexpr auto kBandwidthFigures = DescribedFields(
    {"mean_gbps", "std_gbps", "min_gbps", "p25_gbps", "p50_gbps", "p75_gbps", "max_gbps"}, "GB/s",
    "values above 0: sums of the bandwidths of what runs, after each start and end");

std::vector<HtaRow> FindBandwidth(const Trace& trace) {
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
  std::vector<HtaRow> rows;
  for (auto& [kind, series] : kinds) {
    if (series.values.empty()) continue;
    rows.push_back({0, std::string(kind), Described(std::move(series.values))});
  }
  return rows;
}

}  // namespace

const HtaTable& HtaQueueTable() {
  static constexpr HtaTable kTable = {"queue", kQueueKeys, kQueueFigures, FindQueue};
  return kTable;
}

const HtaTable& HtaBandwidthTable() {
  static constexpr HtaTable kTable = {"bandwidth", kBandwidthKeys, kBandwidthFigures,
                                      FindBandwidth};
  return kTable;
}

}  // namespace oplens::prof
