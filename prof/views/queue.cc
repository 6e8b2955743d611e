#include "prof/views/queue.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/queue_length.h"
#include "prof/run/time_series.h"
#include "prof/views/histogram.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/stream_keys.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

/// From so many pieces of work on a stream the driver lets a launch wait.
constexpr int64_t kFullQueue = 1024;

constexpr Field kQueueFields[] = {
    kRankField,
    kDeviceField,
    kStreamField,
    {"changes", "Changes", "", FieldType::kInteger, 9, "times at which the length changes",
     Fold::kSum},
    {"span_ns", "Span(ns)", "ns", FieldType::kInteger, 14,
     "from the first change to the last, as far as it is looked at", Fold::kSum},
    {"mean", "Mean", "", FieldType::kDecimal, 9, "mean length over span_ns", Fold::kNone},
    {"min", "Min", "", FieldType::kInteger, 6, "least length", Fold::kMin},
    {"p25", "P25", "", FieldType::kInteger, 6,
     "the length that was not exceeded for 25 % of span_ns, at most 1.6 % off", Fold::kQuantiles},
    {"p50", "P50", "", FieldType::kInteger, 6, "the same for 50 %", Fold::kQuantiles},
    {"p75", "P75", "", FieldType::kInteger, 6, "the same for 75 %", Fold::kQuantiles},
    {"max", "Max", "", FieldType::kInteger, 6, "largest length", Fold::kMax},
    {"blocked_ns", "Blocked(ns)", "ns", FieldType::kInteger, 12,
     "time in which the length was 1024 or more: launches wait", Fold::kSum},
    AsRatio({"blocked_pct", "Blocked%", "%", FieldType::kDecimal, 8, "100 x blocked_ns / span_ns",
             Fold::kNone},
            {"blocked_ns", "span_ns", 100}),
    {"starved_ns", "Starved(ns)", "ns", FieldType::kInteger, 14,
     "time in which the length was 0: nothing was asked for that had not begun", Fold::kSum},
    AsRatio({"starved_pct", "Starved%", "%", FieldType::kDecimal, 8, "100 x starved_ns / span_ns",
             Fold::kNone},
            {"starved_ns", "span_ns", 100}),
};

constexpr Field kQueuePointFields[] = {
    kRankField,
    kDeviceField,
    kStreamField,
    {"time_ns", "Time(ns)", "ns", FieldType::kInteger, 14, "from the first event of the rank",
     Fold::kKey},
    {"length", "Length", "", FieldType::kInteger, 8, "from then on", Fold::kMax},
};

constexpr std::string_view kQueueViewKeys[] = {"time", "rank"};

struct QueueSums {
  int64_t changes = 0;
  int64_t span_ns = 0;
  int64_t length_times_ns = 0;
  int64_t blocked_ns = 0;
  int64_t starved_ns = 0;
  Histogram lengths;  // By time.
  std::vector<SeriesPoint> points;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Sums(&self->changes, &self->span_ns, &self->length_times_ns, &self->blocked_ns,
                &self->starved_ns);
    bytes->Values(&self->lengths);
    TransferPoints(bytes, &self->points);
    if constexpr (Bytes::kReads) bytes->Check(self->span_ns > 0, "a queue has no time");
  }

  void Add(int64_t length, int64_t time_ns) {
    span_ns = SaturatingSum(span_ns, time_ns);
    int64_t product = 0;
    if (__builtin_mul_overflow(length, time_ns, &product)) product = INT64_MAX;
    length_times_ns = SaturatingSum(length_times_ns, product);
    if (length >= kFullQueue) blocked_ns = SaturatingSum(blocked_ns, time_ns);
    if (length == 0) starved_ns = SaturatingSum(starved_ns, time_ns);
    lengths.Add(length, time_ns);
  }
  void Merge(const QueueSums& more) {
    constexpr int64_t QueueSums::*kSums[] = {&QueueSums::changes, &QueueSums::span_ns,
                                             &QueueSums::length_times_ns, &QueueSums::blocked_ns,
                                             &QueueSums::starved_ns};
    for (const auto sum : kSums) this->*sum = SaturatingSum(this->*sum, more.*sum);
    lengths.Merge(more.lengths);
    const auto middle = static_cast<std::ptrdiff_t>(points.size());
    points.insert(points.end(), more.points.begin(), more.points.end());
    std::inplace_merge(points.begin(), points.begin() + middle, points.end());
  }
};

class Queue : public SavedPartial<Queue> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rows_, &self->notes_);
  }

  explicit Queue(const ViewOptions& options)
      : by_time_(HasKey(options, "time", "queue", kQueueViewKeys)), notes_("queue") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Queue&>(other);
    for (const auto& [key, sums] : more.rows_) rows_[key].Merge(sums);
    notes_.Merge(more.notes_);
  }
  std::vector<Field> Fields() const override {
    if (by_time_) return {std::begin(kQueuePointFields), std::end(kQueuePointFields)};
    return {std::begin(kQueueFields), std::end(kQueueFields)};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 private:
  struct Key {
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->rank, &self->device, &self->stream);
    }

    std::string rank;
    int64_t device = 0;
    int64_t stream = 0;
  };
  struct KeyOrder {
    bool operator()(const Key& a, const Key& b) const {
      if (a.rank != b.rank) return RankBefore()(a.rank, b.rank);
      return std::tie(a.device, a.stream) < std::tie(b.device, b.stream);
    }
  };

  bool by_time_;
  std::map<Key, QueueSums, KeyOrder> rows_;
  ViewNotes notes_;
};

void Queue::End(const Run* run) {
  if (run == nullptr) return;
  const auto windows = run->windows();
  const int64_t origin_ns = by_time_ ? run->origin_ns() : 0;
  const auto looked_at = [&](int64_t time_ns) {
    if (!windows) return true;
    return std::any_of(windows->begin(), windows->end(), [&](const Interval& window) {
      return window.start_ns <= time_ns && time_ns < window.end_ns;
    });
  };
  for (auto& [stream, points] : QueueLengths(*run)) {
    QueueSums sums;
    ForEachHeld(points, windows, [&](int64_t length, int64_t start_ns, int64_t end_ns) {
      sums.Add(length, LengthOf({start_ns, end_ns}));
    });
    if (sums.span_ns == 0) continue;
    if (windows) std::erase_if(points, [&](const SeriesPoint& p) { return !looked_at(p.time_ns); });
    sums.changes = static_cast<int64_t>(points.size());
    if (by_time_) {
      sums.points = Thinned(std::move(points));
      for (SeriesPoint& point : sums.points) point.time_ns = LengthOf({origin_ns, point.time_ns});
    }
    rows_[{std::string(run->rank()), stream.first, stream.second}].Merge(sums);
  }
}

void Queue::Emit(Sink* sink) const {
  for (const auto& [key, sums] : rows_) {
    std::vector<Cell> cells = {Text(key.rank), Integer(key.device), Integer(key.stream)};
    const size_t keys = cells.size();
    if (by_time_) {
      for (const SeriesPoint& point : sums.points) {
        cells.resize(keys);
        cells.insert(cells.end(), {Integer(point.time_ns), Integer(point.value)});
        sink->Row(cells);
      }
      continue;
    }
    const Cell mean = {static_cast<double>(sums.length_times_ns) /
                       static_cast<double>(sums.span_ns)};
    cells.insert(cells.end(),
                 {Integer(sums.changes), Integer(sums.span_ns), mean, Integer(sums.lengths.least()),
                  Integer(sums.lengths.Quantile(25)), Integer(sums.lengths.Quantile(50)),
                  Integer(sums.lengths.Quantile(75)), Integer(sums.lengths.largest()),
                  Integer(sums.blocked_ns), PercentCell(sums.blocked_ns, sums.span_ns),
                  Integer(sums.starved_ns), PercentCell(sums.starved_ns, sums.span_ns)});
    sink->Row(cells);
  }
}

}  // namespace

std::span<const Field> QueueFields() { return kQueueFields; }
std::span<const std::string_view> SeriesKeys() { return kQueueViewKeys; }

std::unique_ptr<Partial> MakeQueue(const ViewOptions& options) {
  return std::make_unique<Queue>(options);
}

}  // namespace oplens::prof
