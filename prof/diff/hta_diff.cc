#include "prof/diff/hta_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "prof/views/hta_diff_names.h"

namespace oplens::prof {
namespace {

using enum FieldType;

constexpr Field kHtaDiffDeviceField = {
    "device", "Device", "", kText, 6, "cpu: of the host, or gpu", Fold::kKey};
constexpr Field kNameFields[] = {
    {"name", "Name", "", kText, Field::kShared, "as recorded, or without its arguments",
     Fold::kKey},
    {"base_count", "BaseCount", "", kInteger, 9, "how often it ran in the step of the base",
     Fold::kSum},
    {"new_count", "NewCount", "", kInteger, 8, "the same of the new run", Fold::kSum},
    {"delta_count", "DeltaCount", "", kInteger, 10, "new_count - base_count", Fold::kSum},
    {"base_ns", "Base(ns)", "ns", kInteger, 13, "sum of the durations in the step of the base",
     Fold::kSum},
    {"new_ns", "New(ns)", "ns", kInteger, 13, "the same of the new run", Fold::kSum},
    {"delta_ns", "Delta(ns)", "ns", kInteger, 13, "new_ns - base_ns", Fold::kSum},
    {"category", "Category", "", kText, 8, "+ it ran more often, - less often, = as often",
     Fold::kNone},
    {"list", "List", "", kText, 9, "added, deleted, increased, decreased or unchanged: by counts",
     Fold::kNone},
};

struct HtaDiffSums {
  int64_t count = 0;
  int64_t time_ns = 0;
};

enum SideIndex : size_t { kBase, kNew, kSides };

struct HtaDiffRow {
  std::string device;  // "": both.
  std::string name;
  std::array<HtaDiffSums, kSides> sides;

  int64_t delta_count() const {
    return SaturatingDifference(sides[kNew].count, sides[kBase].count);
  }
  int64_t delta_ns() const {
    return SaturatingDifference(sides[kNew].time_ns, sides[kBase].time_ns);
  }
  std::string_view category() const {
    return delta_count() > 0 ? "+" : delta_count() < 0 ? "-" : "=";
  }
  std::string_view list() const {
    if (sides[kBase].count == 0) return "added";
    if (sides[kNew].count == 0) return "deleted";
    return delta_count() > 0 ? "increased" : delta_count() < 0 ? "decreased" : "unchanged";
  }
};

class HtaDiff : public CompatDiff {
 public:
  HtaDiff(const DiffInput& base, const DiffInput& now, const std::vector<std::string>& by)
      : by_device_(Has(by, "device")), by_short_name_(Has(by, "short_name")) {
    const DiffInput* const inputs[kSides] = {&base, &now};
    for (size_t side = 0; side < kSides; ++side) Take(*inputs[side], side);
    for (const auto& [key, sides] : found_) rows_.push_back({key.first, key.second, sides});
    std::stable_sort(rows_.begin(), rows_.end(), [](const HtaDiffRow& a, const HtaDiffRow& b) {
      return a.delta_ns() > b.delta_ns();
    });
    found_.clear();
  }

  void Write(std::string_view table, Sink* sink) const override;
  std::string Words() const override;
  std::vector<std::string> Notes() const override { return notes_; }

 private:
  static bool Has(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  void Take(const DiffInput& input, size_t side);

  bool by_device_;
  bool by_short_name_;
  std::array<std::string, kSides> names_;
  std::array<std::optional<int64_t>, kSides> steps_;
  std::map<std::pair<std::string, std::string>, std::array<HtaDiffSums, kSides>> found_;
  std::vector<HtaDiffRow> rows_;
  std::vector<std::string> notes_;
};

void HtaDiff::Take(const DiffInput& input, size_t side) {
  names_[side] = input.name;
  const KeptRows& rows = input.tables->At(0);
  const std::string_view rank = FirstRank(input, &notes_);
  std::optional<int64_t>& first = steps_[side];
  for (size_t row = 0; row < rows.size(); ++row) {
    const int64_t step = rows.Count(row, "step");
    if (!first || step < *first) first = step;  // Of any rank.
  }
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.Text(row, "rank") != rank || rows.Count(row, "step") != first) continue;
    const std::string_view name = rows.Text(row, "name");
    HtaDiffSums& sums = found_[{by_device_ ? std::string(rows.Text(row, "device")) : std::string(),
                                by_short_name_ ? HtaShortName(name) : std::string(name)}][side];
    sums.count = SaturatingAdd(sums.count, rows.Count(row, "count"));
    sums.time_ns = SaturatingAdd(sums.time_ns, rows.Count(row, "time_ns"));
  }
}

void HtaDiff::Write(std::string_view, Sink* sink) const {
  std::vector<Field> fields = {kDiffRulesField};
  if (by_device_) fields.push_back(kHtaDiffDeviceField);
  fields.insert(fields.end(), std::begin(kNameFields), std::end(kNameFields));
  RankFields("name,delta_ns,category,delta_count,new_ns,base_ns,list", &fields);
  sink->Begin("diff_names", std::move(fields));
  for (const HtaDiffRow& row : rows_) {
    std::vector<Cell> cells = {Text("hta")};
    if (by_device_) cells.push_back(Text(row.device));
    const auto& [base, now] = row.sides;
    cells.insert(cells.end(),
                 {Text(row.name), Integer(base.count), Integer(now.count),
                  Integer(row.delta_count()), Integer(base.time_ns), Integer(now.time_ns),
                  Integer(row.delta_ns()), Text(row.category()), Text(row.list())});
    sink->Row(cells);
  }
  sink->End();
}

std::string HtaDiff::Words() const {
  const auto step = [this](size_t side) {
    return steps_[side] ? fmt::format("step {}", *steps_[side]) : std::string("no step");
  };
  std::map<std::string_view, size_t> lists;
  for (const HtaDiffRow& row : rows_) ++lists[row.list()];
  std::string text =
      fmt::format("base  {}: {}\nnew   {}: {}\nBy the rules of HTA's TraceDiff:", names_[kBase],
                  step(kBase), names_[kNew], step(kNew));
  std::string_view separator = " ";
  for (const std::string_view list : {"added", "deleted", "increased", "decreased", "unchanged"}) {
    text += fmt::format("{}{} {}", separator, lists[list], list);
    separator = ", ";
  }
  return text + "\n";
}

}  // namespace

std::unique_ptr<CompatDiff> MakeHtaDiff(const DiffInput& base, const DiffInput& now,
                                        const std::vector<std::string>& by) {
  return std::make_unique<HtaDiff>(base, now, by);
}

}  // namespace oplens::prof
