#include <algorithm>
#include <string_view>
#include <utility>

#include "prof/run/class_times.h"
#include "prof/run/time_series.h"
#include "prof/views/common/histogram.h"
#include "prof/views/common/series_partial.h"

namespace oplens::prof {
namespace {

/// With this much queued work on a stream, the driver blocks launches.
constexpr int64_t kFullQueue = 1024;

struct QueueKey {
  RankName rank;
  int64_t device = 0;
  int64_t stream = 0;

  friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
};

struct QueueSums {
  Sum changes;
  Sum span_ns;
  Sum length_times_ns;
  Sum blocked_ns;
  Sum starved_ns;
  Histogram lengths;  // Weighted by time.
  SeriesPoints points;

  std::string_view Problem() const { return span_ns > 0 ? "" : "a queue has no time"; }

  void Add(int64_t length, int64_t time_ns) {
    span_ns += time_ns;
    int64_t product = 0;
    if (__builtin_mul_overflow(length, time_ns, &product)) product = INT64_MAX;
    length_times_ns += product;
    if (length >= kFullQueue) blocked_ns += time_ns;
    if (length == 0) starved_ns += time_ns;
    lengths.Add(length, time_ns);
  }
};

using QueueRow = SeriesRow<QueueKey, QueueSums>;

constexpr Column<QueueRow> kQueueColumns[] = {
    KeyColumn<&QueueKey::rank>{kRankField},
    KeyColumn<&QueueKey::device>{kDeviceField},
    KeyColumn<&QueueKey::stream>{kStreamField},
    FigureColumn<&QueueSums::changes>{"changes", "Changes", "", 9,
                                      "times at which the length changes"},
    FigureColumn<&QueueSums::span_ns>{"span_ns", "Span(ns)", "ns", 14,
                                      "from the first change to the last, within the selection"},
    {{"mean", "Mean", "", FieldType::kDecimal, 9, "mean length over span_ns"},
     RatioOf<&QueueSums::length_times_ns, &QueueSums::span_ns>},
    FigureColumn<&QueueSums::lengths, Extreme::kLeast>{"min", "Min", "", 6, "smallest length"},
    FigureColumn<&QueueSums::lengths, 25>{
        "p25", "P25", "", 6, "length not exceeded for 25 % of span_ns, at most 1.6 % off"},
    FigureColumn<&QueueSums::lengths, 50>{"p50", "P50", "", 6, "the same for 50 %"},
    FigureColumn<&QueueSums::lengths, 75>{"p75", "P75", "", 6, "the same for 75 %"},
    FigureColumn<&QueueSums::lengths, Extreme::kLargest>{"max", "Max", "", 6, "largest length"},
    FigureColumn<&QueueSums::blocked_ns>{
        "blocked_ns", "Blocked(ns)", "ns", 12,
        "time in which the length was 1024 or more: launches wait"},
    {AsRatio({"blocked_pct", "Blocked%", "%", FieldType::kDecimal, 8, "100 x blocked_ns / span_ns"},
             {"blocked_ns", "span_ns", 100}),
     RatioOf<&QueueSums::blocked_ns, &QueueSums::span_ns, 100>},
    FigureColumn<&QueueSums::starved_ns>{
        "starved_ns", "Starved(ns)", "ns", 14,
        "time in which the length was 0: all launched work had begun"},
    {AsRatio({"starved_pct", "Starved%", "%", FieldType::kDecimal, 8, "100 x starved_ns / span_ns"},
             {"starved_ns", "span_ns", 100}),
     RatioOf<&QueueSums::starved_ns, &QueueSums::span_ns, 100>},
};

constexpr Column<QueueRow> kQueuePointColumns[] = {
    KeyColumn<&QueueKey::rank>{kRankField},
    KeyColumn<&QueueKey::device>{kDeviceField},
    KeyColumn<&QueueKey::stream>{kStreamField},
    {kPointTimeField, [](const QueueRow& row) { return Integer(row.point.time_ns); }},
    {{"length", "Length", "", FieldType::kInteger, 8, "length from time_ns on", Fold::kMax},
     [](const QueueRow& row) { return Integer(row.point.value); }},
};

void FindQueue(const Run& run, ViewSeries<kQueueColumns, kQueuePointColumns>* groups) {
  const auto windows = run.windows();
  const auto looked_at = [&](int64_t time_ns) {
    if (!windows) return true;
    return std::any_of(windows->begin(), windows->end(), [&](const Interval& window) {
      return window.start_ns <= time_ns && time_ns < window.end_ns;
    });
  };
  for (auto& [stream, points] : QueueLengths(run)) {
    QueueSums sums;
    ForEachHeld(points, windows, [&](int64_t length, int64_t start_ns, int64_t end_ns) {
      sums.Add(length, LengthOf({start_ns, end_ns}));
    });
    if (sums.span_ns == 0) continue;
    if (windows) std::erase_if(points, [&](const SeriesPoint& p) { return !looked_at(p.time_ns); });
    sums.changes = static_cast<int64_t>(points.size());
    if (groups->by_time()) sums.points = SeriesPoints(Thinned(std::move(points)), run.origin_ns());
    groups->Take({RankName(run.rank()), stream.first, stream.second}, sums);
  }
}

}  // namespace

extern constexpr View kQueueView = {.name = "queue",
                                    .help = "how much work waited on each stream",
                                    .fields = FieldsWithoutBy<kQueueColumns>,
                                    .make = MakeGroups<kQueueView, FindQueue>,
                                    .by = kSeriesKeys,
                                    .narrow = "mean,p50,max,blocked_pct,starved_pct",
                                    .saved_form = 1};

}  // namespace oplens::prof
