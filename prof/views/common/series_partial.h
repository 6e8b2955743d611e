#ifndef OPLENS_PROF_VIEWS_COMMON_SERIES_PARTIAL_H_
#define OPLENS_PROF_VIEWS_COMMON_SERIES_PARTIAL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "prof/run/class_times.h"
#include "prof/run/time_series.h"
#include "prof/views/common/group_view.h"

namespace oplens::prof {

/// Ascending points of a series; Merge() merges them in order.
class SeriesPoints {
 public:
  SeriesPoints() = default;
  /// Makes times relative to `origin_ns`.
  SeriesPoints(std::vector<SeriesPoint> points, int64_t origin_ns) : points_(std::move(points)) {
    for (SeriesPoint& point : points_) point.time_ns = LengthOf({origin_ns, point.time_ns});
  }

  auto begin() const { return points_.begin(); }
  auto end() const { return points_.end(); }

  void Merge(const SeriesPoints& other) {
    const auto middle = static_cast<std::ptrdiff_t>(points_.size());
    points_.insert(points_.end(), other.points_.begin(), other.points_.end());
    std::inplace_merge(points_.begin(), points_.begin() + middle, points_.end());
  }

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    auto& points = self->points_;
    if constexpr (Bytes::kReads) {
      points.resize(bytes->Size(2));
    } else {
      bytes->Number(points.size());
    }
    SeriesPoint before;
    for (auto& point : points) {
      bytes->Near(&point.time_ns, before.time_ns);
      bytes->Near(&point.value, before.value);
      if constexpr (Bytes::kReads) {
        bytes->Check(&point == points.data() || !(point < before), "points do not ascend");
      }
      before = point;
    }
  }

 private:
  std::vector<SeriesPoint> points_;
};

template <typename Key, typename Sums>
struct SeriesRow {
  const Key& key;
  const Sums& sums;
  SeriesPoint point = {};  ///< With --by time.
};

inline constexpr std::string_view kSeriesKeys[] = {"time", "rank"};
inline constexpr Field kPointTimeField = {
    "time_ns", "Time(ns)", "ns", FieldType::kInteger, 14, "from the first event of the rank",
    Fold::kKey};

/// ViewGroups of series: a row each with its sums, or with --by time one per point (Sums::points).
template <const auto& columns, const auto& point_columns>
class ViewSeries : public GroupedPartial<RowKey<ColumnRow<columns>>, RowSums<ColumnRow<columns>>,
                                         ColumnRow<columns>> {
  using Row = ColumnRow<columns>;
  using Key = RowKey<Row>;
  using Sums = RowSums<Row>;
  using Base = GroupedPartial<Key, Sums, Row>;

 public:
  ViewSeries(const View& view, const ViewOptions& options)
      : Base(view.name, options, kSeriesKeys,
             IsByTime(options) ? std::span<const Column<Row>>(point_columns) : columns),
        by_time_(IsByTime(options)) {}

  bool by_time() const { return by_time_; }
  using Base::Take;

 private:
  static bool IsByTime(const ViewOptions& options) {
    return std::find(options.by.begin(), options.by.end(), "time") != options.by.end();
  }
  void EmitGroup(const Key& key, const Sums& sums, TableOf<Row>* table) const override {
    if (!by_time_) return table->Add({key, sums});
    for (const SeriesPoint& point : sums.points) table->Add({key, sums, point});
  }

  bool by_time_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_SERIES_PARTIAL_H_
