#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "prof/compat/hta/events.h"
#include "prof/compat/hta/views.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"

namespace oplens::prof {
namespace {

constexpr size_t kMostNames = 10;
constexpr double kQuantile = 0.8;
constexpr std::string_view kOthers = "others";

/// Of durations, or of sums of them, us. Exact for sums below 2^63 us.
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

/// A name in one file.
struct HtaName {
  std::string name;
  Statistics statistics;
};

/// Folds all but the names with most time into "others". `rows`: by sum, largest first.
void FoldOthers(std::vector<HtaName>* rows) {
  std::vector<double> running;
  for (const HtaName& row : *rows) {
    running.push_back((running.empty() ? 0 : running.back()) +
                      static_cast<double>(row.statistics.sum_us));
  }
  std::vector<double> sorted = running;
  std::sort(sorted.begin(), sorted.end());
  const double most = HtaQuantile(sorted, kQuantile);
  std::vector<HtaName> folded;
  HtaName others = {std::string(kOthers), {}};
  for (size_t i = 0; i < rows->size(); ++i) {
    HtaName& row = (*rows)[i];
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

std::vector<HtaName> HtaNamesOf(const HtaEvents& events, HtaClass kind) {
  std::unordered_map<std::string_view, Statistics> names;
  for (const HtaEvent& event : events.all()) {
    if (event.kind == kind) names[events.NameOf(event)].Add(event.duration_us());
  }
  std::vector<HtaName> rows;
  rows.reserve(names.size());
  for (const auto& [name, statistics] : names) rows.push_back({std::string(name), statistics});
  std::sort(rows.begin(), rows.end(), [](const HtaName& a, const HtaName& b) {
    return std::tie(b.statistics.sum_us, a.name) < std::tie(a.statistics.sum_us, b.name);
  });
  if (rows.size() > kMostNames) FoldOthers(&rows);
  return rows;
}

struct HtaNameKey {
  std::string type;
  std::string name;
  RankName rank;

  friend auto operator<=>(const HtaNameKey&, const HtaNameKey&) = default;
};

using HtaNameRow = GroupRow<HtaNameKey, Statistics>;

template <auto value>
Cell HtaNsOf(const HtaNameRow& row) {
  return Integer(HtaNs(row.sums.*value));
}
template <auto value>
Cell HtaDecimalNsOf(const HtaNameRow& row) {
  constexpr double kNs = 1000;
  return Cell{(row.sums.*value)() * kNs};
}

constexpr Column<HtaNameRow> kHtaKernelsColumns[] = {
    KeyColumn<&HtaNameKey::rank>{
        {"rank", "Rank", "", FieldType::kText, 6, "number of the process", Fold::kKey}},
    KeyColumn<&HtaNameKey::type>{{"type", "Type", "", FieldType::kText, 13,
                                  "COMPUTATION, COMMUNICATION or MEMORY", Fold::kKey}},
    KeyColumn<&HtaNameKey::name>{
        {"name", "Name", "", FieldType::kText, Field::kShared,
         "name of the kernel; \"others\": all names of the type with less time", Fold::kKey}},
    {{"sum_ns", "Sum(ns)", "ns", FieldType::kInteger, 14, "sum of the durations", Fold::kSum},
     HtaNsOf<&Statistics::sum_us>},
    {{"max_ns", "Max(ns)", "ns", FieldType::kInteger, 12,
      "longest duration; if there are others, largest sum of a name", Fold::kMax},
     HtaNsOf<&Statistics::max_us>},
    {{"min_ns", "Min(ns)", "ns", FieldType::kInteger, 12,
      "shortest duration; if there are others, smallest sum of a name", Fold::kMin},
     HtaNsOf<&Statistics::min_us>},
    {{"stddev_ns", "Stddev(ns)", "ns", FieldType::kDecimal, 14,
      "standard deviation of the same values, over n - 1; 0 for one value", Fold::kNone},
     HtaDecimalNsOf<&Statistics::Deviation>},
    {{"mean_ns", "Mean(ns)", "ns", FieldType::kDecimal, 14, "mean of the same values", Fold::kMean},
     HtaDecimalNsOf<&Statistics::Mean>},
};

/// A rank with two files has a row for each.
class HtaKernels : public GroupedPartial<HtaNameKey, std::vector<Statistics>, HtaNameRow> {
 public:
  HtaKernels() : GroupedPartial("groups", {}, {}, kHtaKernelsColumns) {}

  void End(const Run* run) override {
    if (run == nullptr) return;
    const HtaEvents events(run->trace());
    for (const HtaClass kind :
         {HtaClass::kComputation, HtaClass::kCommunication, HtaClass::kMemory}) {
      for (const HtaName& row : HtaNamesOf(events, kind)) {
        Take({std::string(HtaClassWord(kind)), row.name, RankName(run->rank())}, {row.statistics});
      }
    }
  }

 private:
  void EmitGroup(const HtaNameKey& key, const std::vector<Statistics>& files,
                 TableOf<HtaNameRow>* table) const override {
    std::vector<Statistics> rows = files;
    std::ranges::sort(rows, std::greater<>(), &Statistics::sum_us);
    for (const Statistics& row : rows) table->Add({key, row});
  }
};

}  // namespace

std::unique_ptr<Partial> MakeHtaKernels(const ViewOptions&) {
  return std::make_unique<HtaKernels>();
}

}  // namespace oplens::prof
