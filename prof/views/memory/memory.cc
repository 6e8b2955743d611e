#include "prof/views/memory/memory.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "prof/run/memory_curve.h"
#include "prof/run/memory_life.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/time_keys.h"
#include "prof/views/memory/memory_notes.h"

namespace oplens::prof {
namespace {

using Point = MemoryCurve::Point;

struct Curve {
  RankName rank;
  int32_t device_id = -1;
  MemorySource source = MemorySource::kFramework;
  bool told = false;
  int64_t peak_bytes = 0;
  std::vector<Point> points;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self);
  /// GPUs before the host, as in memory-ops.
  friend bool operator<(const Curve& a, const Curve& b) {
    const bool a_host = a.device_id < 0;
    const bool b_host = b.device_id < 0;
    return std::tie(a.rank, a_host, a.device_id, a.source, a.told, a.points) <
           std::tie(b.rank, b_host, b.device_id, b.source, b.told, b.points);
  }
};

template <typename Bytes, typename Self>
void Curve::Transfer(Bytes* bytes, Self* self) {
  bytes->Values(&self->rank, &self->device_id, &self->source, &self->told, &self->peak_bytes);
  if constexpr (Bytes::kReads) {
    self->points.resize(bytes->Size(3));
  } else {
    bytes->Number(self->points.size());
  }
  Point before;
  for (auto& point : self->points) {
    bytes->Near(&point.time_ns, before.time_ns);
    bytes->Near(&point.allocated_bytes, before.allocated_bytes);
    bytes->Near(&point.reserved_bytes, before.reserved_bytes);
    before = point;
  }
}

struct MemoryRow {
  const Curve& curve;
  std::string_view device;
  const Point& point;
};

constexpr Column<MemoryRow> kMemoryColumns[] = {
    {kRankField, [](const MemoryRow& row) { return CellOf(row.curve.rank); }},
    {kMemoryDeviceField, [](const MemoryRow& row) { return Text(row.device); }},
    {kMemorySourceField,
     [](const MemoryRow& row) { return Text(MemorySourceWord(row.curve.source)); }},
    {{"time_ns", "Time(ns)", "ns", FieldType::kInteger, 15, "from the first event of the rank"},
     [](const MemoryRow& row) { return Integer(row.point.time_ns); }},
    {{"allocated_bytes", "Allocated(B)", "B", FieldType::kInteger, 15, "allocated from time_ns on",
      Fold::kMax},
     [](const MemoryRow& row) { return Integer(row.point.allocated_bytes); }},
    {{"reserved_bytes", "Reserved(B)", "B", FieldType::kInteger, 15,
      "held by the allocator from the device at time_ns", Fold::kMax},
     [](const MemoryRow& row) {
       return row.point.reserved_bytes >= 0 ? Integer(row.point.reserved_bytes) : Cell{};
     }},
    {{"fragmentation_bytes", "Fragmentation(B)", "B", FieldType::kInteger, 16,
      "reserved_bytes - allocated_bytes", Fold::kMax},
     [](const MemoryRow& row) {
       const auto& [time_ns, allocated_bytes, reserved_bytes] = row.point;
       if (reserved_bytes < 0) return Cell{};
       return Integer(SaturatingDifference(reserved_bytes, allocated_bytes));
     }},
    {{"peak_bytes", "Peak(B)", "B", FieldType::kInteger, 15,
      "the largest allocated_bytes of this device and source", Fold::kMax},
     [](const MemoryRow& row) { return Integer(row.curve.peak_bytes); }},
    {{"total", "Total", "", FieldType::kText, 8,
      "recorded: the file records totals; sizes: it records none, and allocated_bytes sums the "
      "sizes whose allocation or release it holds"},
     [](const MemoryRow& row) { return Text(row.curve.told ? "recorded" : "sizes"); }},
};

class MemoryView : public MemberPartial<MemoryView, kMemoryColumns> {
 public:
  using CurveOf = MemoryCurve (*)(const Run& run, const MemoryLife::Pool& pool);
  explicit MemoryView(CurveOf curve_of) : curve_of_(curve_of), notes_("memory") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 private:
  CurveOf curve_of_;
  std::vector<Curve> curves_;
  MemoryNotes notes_;

 public:
  static constexpr std::tuple kMembers{&MemoryView::curves_, &MemoryView::notes_};
};

void MemoryView::End(const Run* run) {
  if (run == nullptr || run->trace().memory_events.empty()) return;
  notes_.Count(run->memory());
  for (const MemoryLife::Pool& pool : run->memory().pools()) {
    MemoryCurve found = curve_of_(*run, pool);
    if (found.points.empty()) continue;
    curves_.push_back({RankName(run->rank()), pool.device_id, pool.source, pool.told,
                       found.peak_bytes, std::move(found.points)});
  }
}

MemoryCurve OwnCurveOf(const Run& run, const MemoryLife::Pool& pool) {
  if (!run.SelectsDevice(pool.device_id)) return {};
  const MemoryLife& memory = run.memory();
  const int64_t origin_ns = run.origin_ns();
  const auto windows = run.windows();
  std::vector<Point> all;
  const auto time_of = [&](uint32_t place) {
    return SaturatingDifference(memory.EventAt(place).time_ns, origin_ns);
  };
  // Memory from before the recording: a base line up to the first event.
  if (!windows) all.push_back({std::min<int64_t>(0, time_of(pool.begin)), pool.base_bytes});
  for (uint32_t place = pool.begin; place < pool.end; ++place) {
    if (windows && !IsWithin(*windows, memory.EventAt(place).time_ns)) continue;
    all.push_back({time_of(place), memory.AllocatedAt(place), memory.ReservedAt(pool, place)});
  }
  if (all.empty()) return {};
  std::vector<int64_t> values;
  values.reserve(all.size());
  for (const Point& point : all) values.push_back(point.allocated_bytes);
  MemoryCurve curve;
  curve.peak_bytes = *std::max_element(values.begin(), values.end());
  for (const size_t i : ThinByExtremes(values, kMostCurvePoints)) curve.points.push_back(all[i]);
  return curve;
}

void MemoryView::Emit(Sink* sink) const {
  std::vector<const Curve*> curves;
  for (const Curve& curve : curves_) curves.push_back(&curve);
  std::stable_sort(curves.begin(), curves.end(),
                   [](const Curve* a, const Curve* b) { return *a < *b; });
  TableOf<MemoryRow> table(kMemoryColumns, sink);
  for (const Curve* curve : curves) {
    const std::string device = MemoryDeviceName(curve->device_id);
    for (const Point& point : curve->points) table.Add({*curve, device, point});
  }
}

}  // namespace

std::unique_ptr<Partial> MakeMemoryOf(MemoryView::CurveOf curve_of) {
  return std::make_unique<MemoryView>(curve_of);
}

extern constexpr View kMemoryView = {
    .name = "memory",
    .help = "how much memory was allocated and reserved at each moment",
    .needs = {TracePart::kMemoryEvents},
    .fields = FieldsWithoutBy<kMemoryColumns>,
    .make = [](const ViewOptions&) -> std::unique_ptr<Partial> {
      return std::make_unique<MemoryView>(OwnCurveOf);
    },
    .saved_form = 1};

}  // namespace oplens::prof
