#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prof/run/class_times.h"
#include "prof/run/copy_bandwidth.h"
#include "prof/run/time_series.h"
#include "prof/views/common/histogram.h"
#include "prof/views/common/series_partial.h"

namespace oplens::prof {
namespace {

constexpr double kBytesOfGigabyte = 1e9;

constexpr Field kKindField = {
    "kind", "Kind", "", FieldType::kText, 15, "Memcpy HtoD, DtoH, DtoD, ..., Memset", Fold::kKey};

Cell Gigabytes(const std::optional<int64_t>& bytes_per_s) {
  if (!bytes_per_s) return {};
  return {static_cast<double>(*bytes_per_s) / kBytesOfGigabyte};
}

struct TrafficKey {
  RankName rank;
  int64_t device = 0;
  std::string kind;

  friend auto operator<=>(const TrafficKey&, const TrafficKey&) = default;
};

struct TrafficSums {
  Sum count;
  Sum bytes;
  Sum time_ns;
  Histogram rates;  // Bytes/s, weighted by time.
  SeriesPoints points;
};

using TrafficRow = SeriesRow<TrafficKey, TrafficSums>;

template <int percent>
Cell RateOf(const TrafficRow& row) {
  return Gigabytes(row.sums.rates.Quantile(percent));
}

constexpr Column<TrafficRow> kBandwidthColumns[] = {
    KeyColumn<&TrafficKey::rank>{kRankField},
    KeyColumn<&TrafficKey::device>{kDeviceField},
    KeyColumn<&TrafficKey::kind>{kKindField},
    FigureColumn<&TrafficSums::count>{"count", "Count", "", 9, "number of copies or memsets"},
    FigureColumn<&TrafficSums::bytes>{"bytes", "Bytes", "B", 14, "sum of their sizes"},
    FigureColumn<&TrafficSums::time_ns>{
        "time_ns", "Time(ns)", "ns", 12,
        "time in which any of them ran, without those too fast to be true"},
    {AsRatio({"mean_gbps", "Mean(GB/s)", "GB/s", FieldType::kDecimal, 10, "bytes / time_ns"},
             {"bytes", "time_ns", 1}),
     RatioOf<&TrafficSums::bytes, &TrafficSums::time_ns>},
    {{"min_gbps", "Min", "GB/s", FieldType::kDecimal, 9,
      "smallest bandwidth: sum over those that run at once, bytes / time of each", Fold::kMin},
     [](const TrafficRow& row) { return Gigabytes(row.sums.rates.least()); }},
    {{"p25_gbps", "P25", "GB/s", FieldType::kDecimal, 9,
      "bandwidth not exceeded for 25 % of time_ns, at most 1.6 % off", Fold::kQuantiles},
     RateOf<25>},
    {{"p50_gbps", "P50", "GB/s", FieldType::kDecimal, 9, "the same for 50 %", Fold::kQuantiles},
     RateOf<50>},
    {{"p75_gbps", "P75", "GB/s", FieldType::kDecimal, 9, "the same for 75 %", Fold::kQuantiles},
     RateOf<75>},
    {{"max_gbps", "Max", "GB/s", FieldType::kDecimal, 9, "largest bandwidth", Fold::kMax},
     [](const TrafficRow& row) { return Gigabytes(row.sums.rates.largest()); }},
};

constexpr Column<TrafficRow> kBandwidthPointColumns[] = {
    KeyColumn<&TrafficKey::rank>{kRankField},
    KeyColumn<&TrafficKey::device>{kDeviceField},
    KeyColumn<&TrafficKey::kind>{kKindField},
    {kPointTimeField, [](const TrafficRow& row) { return Integer(row.point.time_ns); }},
    {{"gbps", "GB/s", "GB/s", FieldType::kDecimal, 10, "bandwidth from time_ns on", Fold::kMax},
     [](const TrafficRow& row) { return Gigabytes(row.point.value); }},
};

void FindBandwidth(const Run& run, ViewSeries<kBandwidthColumns, kBandwidthPointColumns>* groups) {
  for (auto& [kind, traffic] : CopyTrafficOf(run)) {
    TrafficSums sums;
    sums.count = traffic.count;
    sums.bytes = traffic.bytes;
    sums.time_ns = traffic.time_ns;
    ForEachHeld(traffic.points, std::nullopt, [&](int64_t rate, int64_t start_ns, int64_t end_ns) {
      if (rate >= 0) sums.rates.Add(rate, LengthOf({start_ns, end_ns}));
    });
    if (groups->by_time()) {
      std::vector<SeriesPoint> points = Thinned(std::move(traffic.points));
      for (SeriesPoint& point : points) point.value = std::max<int64_t>(point.value, 0);
      sums.points = SeriesPoints(std::move(points), run.origin_ns());
    }
    groups->Take({RankName(run.rank()), kind.device_id, kind.Name()}, sums);
  }
}

}  // namespace

extern constexpr View kBandwidthView = {.name = "bandwidth",
                                        .help = "how fast copies and memsets were, by kind",
                                        .fields = FieldsWithoutBy<kBandwidthColumns>,
                                        .make = MakeGroups<kBandwidthView, FindBandwidth>,
                                        .by = kSeriesKeys,
                                        .narrow = "count,bytes,time_ns,mean_gbps,p50_gbps,max_gbps",
                                        .saved_form = 1};

}  // namespace oplens::prof
