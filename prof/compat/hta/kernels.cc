#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>

#include "prof/compat/hta/events.h"
#include "prof/compat/hta/views.h"
#include "prof/run/run.h"
#include "prof/views/rank_order.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

constexpr size_t kMostNames = 10;
constexpr double kQuantile = 0.8;
constexpr std::string_view kOthers = "others";

constexpr Field kHtaKernelsFields[] = {
    {"rank", "Rank", "", FieldType::kText, 6, "number of the process", Fold::kKey},
    {"type", "Type", "", FieldType::kText, 13, "COMPUTATION, COMMUNICATION or MEMORY", Fold::kKey},
    {"name", "Name", "", FieldType::kText, Field::kShared,
     "of the kernel; \"others\": all names of the type with less time", Fold::kKey},
    {"sum_ns", "Sum(ns)", "ns", FieldType::kInteger, 14, "sum of the durations", Fold::kSum},
    {"max_ns", "Max(ns)", "ns", FieldType::kInteger, 12,
     "longest duration; where there are others, largest sum of a name", Fold::kMax},
    {"min_ns", "Min(ns)", "ns", FieldType::kInteger, 12,
     "shortest duration; where there are others, least sum of a name", Fold::kMin},
    {"stddev_ns", "Stddev(ns)", "ns", FieldType::kDecimal, 14,
     "standard deviation of the same, over n - 1; 0 of one", Fold::kNone},
    {"mean_ns", "Mean(ns)", "ns", FieldType::kDecimal, 14, "mean of the same", Fold::kMean},
};

/// Of durations, or of sums of them, us. Exact as long as they are those of less than 2^63 us.
struct Statistics {
  int64_t count = 0;
  int64_t sum_us = 0;
  int64_t max_us = std::numeric_limits<int64_t>::min();
  int64_t min_us = std::numeric_limits<int64_t>::max();
  double squares = 0;  // Of the values.

  void Add(int64_t us) {
    ++count;
    if (__builtin_add_overflow(sum_us, us, &sum_us)) sum_us = INT64_MAX;
    max_us = std::max(max_us, us);
    min_us = std::min(min_us, us);
    squares += static_cast<double>(us) * static_cast<double>(us);
  }
  double Mean() const { return static_cast<double>(sum_us) / static_cast<double>(count); }
  double Deviation() const {
    if (count < 2) return 0;
    const double rest = squares - static_cast<double>(sum_us) * Mean();
    return std::sqrt(std::max(rest, 0.0) / static_cast<double>(count - 1));
  }
};

struct HtaKernelsRow {
  std::string rank;
  HtaClass kind = HtaClass::kOther;
  std::string name;
  Statistics statistics;
};

/// Linear interpolation between the two values around the place.
double HtaKernelsQuantileOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double place = kQuantile * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const double low = values[below];
  if (below + 1 == values.size()) return low;
  return low + (values[below + 1] - low) * (place - std::floor(place));
}

/// Makes "others" of all names but those with most time. `rows`: by sum, largest first.
void FoldOthers(std::vector<HtaKernelsRow>* rows) {
  std::vector<double> running;
  for (const HtaKernelsRow& row : *rows) {
    running.push_back((running.empty() ? 0 : running.back()) +
                      static_cast<double>(row.statistics.sum_us));
  }
  const double most = HtaKernelsQuantileOf(running);
  std::vector<HtaKernelsRow> folded;
  HtaKernelsRow others = rows->front();
  others.name = kOthers;
  others.statistics = {};
  for (size_t i = 0; i < rows->size(); ++i) {
    HtaKernelsRow& row = (*rows)[i];
    const int64_t sum_us = row.statistics.sum_us;
    if (i >= kMostNames || running[i] > most) {
      others.statistics.Add(sum_us);
    } else {
      row.statistics = {};
      row.statistics.Add(sum_us);
      folded.push_back(std::move(row));
    }
  }
  if (others.statistics.count > 0) folded.push_back(std::move(others));
  *rows = std::move(folded);
}

std::vector<HtaKernelsRow> HtaKernelsRowsOf(const HtaEvents& events, HtaClass kind,
                                            std::string_view rank) {
  std::unordered_map<std::string_view, Statistics> names;
  for (const HtaEvent& event : events.all()) {
    if (event.kind == kind) names[events.NameOf(event)].Add(event.duration_us());
  }
  std::vector<HtaKernelsRow> rows;
  rows.reserve(names.size());
  for (const auto& [name, statistics] : names) {
    rows.push_back({std::string(rank), kind, std::string(name), statistics});
  }
  std::sort(rows.begin(), rows.end(), [](const HtaKernelsRow& a, const HtaKernelsRow& b) {
    return std::tie(b.statistics.sum_us, a.name) < std::tie(a.statistics.sum_us, b.name);
  });
  if (rows.size() > kMostNames) FoldOthers(&rows);
  return rows;
}

bool HtaKernelsBefore(const HtaKernelsRow& a, const HtaKernelsRow& b) {
  if (a.kind != b.kind) return HtaClassWord(a.kind) < HtaClassWord(b.kind);
  if (a.name != b.name) return a.name < b.name;
  if (a.rank != b.rank) return RankBefore()(a.rank, b.rank);
  return a.statistics.sum_us > b.statistics.sum_us;
}

class HtaKernels : public Partial {
 public:
  HtaKernels() : notes_("groups") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override {
    if (run == nullptr) return;
    const HtaEvents events(run->trace());
    for (const HtaClass kind :
         {HtaClass::kComputation, HtaClass::kCommunication, HtaClass::kMemory}) {
      for (HtaKernelsRow& row : HtaKernelsRowsOf(events, kind, run->rank()))
        rows_.push_back(std::move(row));
    }
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const HtaKernels&>(other);
    rows_.insert(rows_.end(), more.rows_.begin(), more.rows_.end());
    notes_.Merge(more.notes_);
  }
  std::vector<Field> Fields() const override {
    return {std::begin(kHtaKernelsFields), std::end(kHtaKernelsFields)};
  }

  void Emit(Sink* sink) const override {
    constexpr double kNs = 1000;
    std::vector<const HtaKernelsRow*> rows;
    for (const HtaKernelsRow& row : rows_) rows.push_back(&row);
    std::sort(rows.begin(), rows.end(), [](const HtaKernelsRow* a, const HtaKernelsRow* b) {
      return HtaKernelsBefore(*a, *b);
    });
    for (const HtaKernelsRow* row : rows) {
      const Statistics& of = row->statistics;
      const std::array<Cell, std::size(kHtaKernelsFields)> cells = {Text(row->rank),
                                                                    Text(HtaClassWord(row->kind)),
                                                                    Text(row->name),
                                                                    Integer(HtaNs(of.sum_us)),
                                                                    Integer(HtaNs(of.max_us)),
                                                                    Integer(HtaNs(of.min_us)),
                                                                    Cell{of.Deviation() * kNs},
                                                                    Cell{of.Mean() * kNs}};
      sink->Row(cells);
    }
  }

  std::vector<std::string> Notes() const override { return notes_.Sentences(); }

 private:
  std::vector<HtaKernelsRow> rows_;
  ViewNotes notes_;
};

}  // namespace

std::unique_ptr<Partial> MakeHtaKernels(const ViewOptions&) {
  return std::make_unique<HtaKernels>();
}

}  // namespace oplens::prof
