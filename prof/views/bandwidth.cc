#include "prof/views/bandwidth.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/copy_bandwidth.h"
#include "prof/run/time_series.h"
#include "prof/views/histogram.h"
#include "prof/views/queue.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/stream_keys.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

constexpr double kBytesOfGigabyte = 1e9;

constexpr Field kKindField = {
    "kind", "Kind", "", FieldType::kText, 15, "Memcpy HtoD, DtoH, DtoD, ..., Memset", Fold::kKey};

constexpr Field kBandwidthFields[] = {
    kRankField,
    kDeviceField,
    kKindField,
    {"count", "Count", "", FieldType::kInteger, 9, "copies or fills", Fold::kSum},
    {"bytes", "Bytes", "B", FieldType::kInteger, 14, "sum of their sizes", Fold::kSum},
    {"time_ns", "Time(ns)", "ns", FieldType::kInteger, 12, "time in which any of them ran",
     Fold::kSum},
    AsRatio({"mean_gbps", "Mean(GB/s)", "GB/s", FieldType::kDecimal, 10, "bytes / time_ns",
             Fold::kNone},
            {"bytes", "time_ns", 1}),
    {"min_gbps", "Min", "GB/s", FieldType::kDecimal, 9,
     "the least of the sums of those that run, each its bytes over its time", Fold::kMin},
    {"p25_gbps", "P25", "GB/s", FieldType::kDecimal, 9,
     "what was not exceeded for 25 % of time_ns, at most 1.6 % off", Fold::kQuantiles},
    {"p50_gbps", "P50", "GB/s", FieldType::kDecimal, 9, "the same for 50 %", Fold::kQuantiles},
    {"p75_gbps", "P75", "GB/s", FieldType::kDecimal, 9, "the same for 75 %", Fold::kQuantiles},
    {"max_gbps", "Max", "GB/s", FieldType::kDecimal, 9, "the largest", Fold::kMax},
};

constexpr Field kBandwidthPointFields[] = {
    kRankField,
    kDeviceField,
    kKindField,
    {"time_ns", "Time(ns)", "ns", FieldType::kInteger, 14, "from the first event of the rank",
     Fold::kKey},
    {"gbps", "GB/s", "GB/s", FieldType::kDecimal, 10, "from then on", Fold::kMax},
};

Cell Gigabytes(const std::optional<int64_t>& bytes_per_s) {
  if (!bytes_per_s) return {};
  return {static_cast<double>(*bytes_per_s) / kBytesOfGigabyte};
}

struct TrafficSums {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t time_ns = 0;
  Histogram rates;  // Bytes per second, by time.
  std::vector<SeriesPoint> points;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Sums(&self->count, &self->bytes, &self->time_ns);
    bytes->Values(&self->rates);
    TransferPoints(bytes, &self->points);
  }

  void Merge(const TrafficSums& more) {
    count = SaturatingSum(count, more.count);
    bytes = SaturatingSum(bytes, more.bytes);
    time_ns = SaturatingSum(time_ns, more.time_ns);
    rates.Merge(more.rates);
    const auto middle = static_cast<std::ptrdiff_t>(points.size());
    points.insert(points.end(), more.points.begin(), more.points.end());
    std::inplace_merge(points.begin(), points.begin() + middle, points.end());
  }
};

class Bandwidth : public SavedPartial<Bandwidth> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rows_, &self->notes_);
  }

  explicit Bandwidth(const ViewOptions& options)
      : by_time_(HasKey(options, "time", "bandwidth", SeriesKeys())), notes_("bandwidth") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Bandwidth&>(other);
    for (const auto& [key, sums] : more.rows_) rows_[key].Merge(sums);
    notes_.Merge(more.notes_);
  }
  std::vector<Field> Fields() const override {
    if (by_time_) return {std::begin(kBandwidthPointFields), std::end(kBandwidthPointFields)};
    return {std::begin(kBandwidthFields), std::end(kBandwidthFields)};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 private:
  struct Key {
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->rank, &self->device, &self->kind);
    }

    std::string rank;
    int64_t device = 0;
    std::string kind;
  };
  struct KeyOrder {
    bool operator()(const Key& a, const Key& b) const {
      if (a.rank != b.rank) return RankBefore()(a.rank, b.rank);
      return std::tie(a.device, a.kind) < std::tie(b.device, b.kind);
    }
  };

  bool by_time_;
  std::map<Key, TrafficSums, KeyOrder> rows_;
  ViewNotes notes_;
};

void Bandwidth::End(const Run* run) {
  if (run == nullptr) return;
  const int64_t origin_ns = by_time_ ? run->origin_ns() : 0;
  for (auto& [kind, traffic] : CopyTrafficOf(*run)) {
    TrafficSums sums;
    sums.count = traffic.count;
    sums.bytes = traffic.bytes;
    sums.time_ns = traffic.time_ns;
    ForEachHeld(traffic.points, std::nullopt, [&](int64_t rate, int64_t start_ns, int64_t end_ns) {
      if (rate >= 0) sums.rates.Add(rate, LengthOf({start_ns, end_ns}));
    });
    if (by_time_) {
      sums.points = Thinned(std::move(traffic.points));
      for (SeriesPoint& point : sums.points) {
        point = {LengthOf({origin_ns, point.time_ns}), std::max<int64_t>(point.value, 0)};
      }
    }
    rows_[{std::string(run->rank()), kind.device_id, kind.Name()}].Merge(sums);
  }
}

void Bandwidth::Emit(Sink* sink) const {
  for (const auto& [key, sums] : rows_) {
    std::vector<Cell> cells = {Text(key.rank), Integer(key.device), Text(key.kind)};
    const size_t keys = cells.size();
    if (by_time_) {
      for (const SeriesPoint& point : sums.points) {
        cells.resize(keys);
        cells.insert(cells.end(), {Integer(point.time_ns), Gigabytes(point.value)});
        sink->Row(cells);
      }
      continue;
    }
    const Cell mean =
        sums.time_ns == 0
            ? Cell{}
            : Cell{static_cast<double>(sums.bytes) / static_cast<double>(sums.time_ns)};
    cells.insert(cells.end(),
                 {Integer(sums.count), Integer(sums.bytes), Integer(sums.time_ns), mean,
                  Gigabytes(sums.rates.least()), Gigabytes(sums.rates.Quantile(25)),
                  Gigabytes(sums.rates.Quantile(50)), Gigabytes(sums.rates.Quantile(75)),
                  Gigabytes(sums.rates.largest())});
    sink->Row(cells);
  }
}

}  // namespace

std::span<const Field> BandwidthFields() { return kBandwidthFields; }

std::unique_ptr<Partial> MakeBandwidth(const ViewOptions& options) {
  return std::make_unique<Bandwidth>(options);
}

}  // namespace oplens::prof
