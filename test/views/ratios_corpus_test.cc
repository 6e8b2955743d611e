// What the tables of fields say of ratios: the fields are there, and over every profile of the
// corpus each value is what they give.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/input/profile_records.h"
#include "prof/price_all.h"
#include "prof/views/run_views.h"
#include "test/support/test_files.h"
#include "test/support/whole_corpus.h"

namespace oplens::prof::ratios_corpus_test {
namespace {

namespace fs = std::filesystem;

/// A ratio of a table, as places of fields.
struct RatioPlaces {
  size_t value = 0;
  std::vector<size_t> of;
  size_t over = 0;
  double times = 1;
};

/// The ratios of a table. Fails the test where one names what is no sum.
std::vector<RatioPlaces> RatiosOf(const std::vector<Field>& fields) {
  const auto place_of = [&](std::string_view key) {
    const auto at = std::find_if(fields.begin(), fields.end(),
                                 [&](const Field& field) { return field.key == key; });
    EXPECT_NE(at, fields.end()) << key;
    if (at == fields.end()) return size_t{0};
    EXPECT_EQ(at->fold, Fold::kSum) << key;
    return static_cast<size_t>(at - fields.begin());
  };
  std::vector<RatioPlaces> ratios;
  for (size_t i = 0; i < fields.size(); ++i) {
    const FieldRatio& ratio = fields[i].ratio;
    if (ratio.empty()) continue;
    EXPECT_EQ(fields[i].type, FieldType::kDecimal) << fields[i].key;
    RatioPlaces& found = ratios.emplace_back();
    found.value = i;
    found.over = place_of(ratio.over);
    found.times = ratio.times;
    std::string_view rest = ratio.of;
    while (!rest.empty()) {
      const std::string_view key = rest.substr(0, rest.find('+'));
      found.of.push_back(place_of(key));
      rest.remove_prefix(std::min(rest.size(), key.size() + 1));
    }
    EXPECT_FALSE(found.of.empty());
  }
  return ratios;
}

std::optional<double> NumberOf(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell.value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* decimal = std::get_if<double>(&cell.value)) return *decimal;
  return std::nullopt;
}

using Checked = std::map<std::string, int64_t>;  // How many values, by view and field.

class RatioSink : public Sink {
 public:
  explicit RatioSink(Checked* checked) : checked_(*checked) {}

  void Begin(std::string_view table, std::vector<Field> fields) override {
    name_ = table;
    ratios_ = RatiosOf(fields);
    fields_ = std::move(fields);
  }

  void Row(std::span<const Cell> cells) override {
    for (const RatioPlaces& ratio : ratios_) {
      const std::optional<double> value = NumberOf(cells[ratio.value]);
      const std::optional<double> over = NumberOf(cells[ratio.over]);
      double sum = 0;
      bool known = over && *over != 0;
      for (const size_t place : ratio.of) {
        const std::optional<double> part = NumberOf(cells[place]);
        known = known && part;
        sum += part.value_or(0);
      }
      if (!value || !known) continue;
      const double expected = ratio.times * sum / *over;
      const std::string what = name_ + "." + std::string(fields_[ratio.value].key);
      EXPECT_NEAR(*value, expected, 1e-9 * std::max(1e-3, std::abs(expected))) << what;
      ++checked_[what];
    }
  }

 private:
  Checked& checked_;
  std::string name_;
  std::vector<Field> fields_;
  std::vector<RatioPlaces> ratios_;
};

class RatioSinks : public Destination {
 public:
  std::unique_ptr<Sink> NewTable() override { return std::make_unique<RatioSink>(&checked); }
  void Commit() override {}
  Checked checked;
};

void Check(const std::vector<std::string>& paths, const ViewRequest& request, RatioSinks* sinks,
           const std::string& counters = "") {
  const std::vector<ViewPlan> plans = PlanViews(request);
  Diagnostics diagnostics;
  Inputs inputs(paths, {}, NeedsOf(plans));
  inputs.Count(counters);
  ViewRunner views(plans, {}, sinks);
  PriceAll(&inputs, {}, &views, &diagnostics);
  views.Finish();
}

TEST(RatiosTest, OfSumsThatAreThere) {
  int found = 0;
  for (const View& view : Views()) {
    SCOPED_TRACE(view.name);
    found += static_cast<int>(RatiosOf(FieldsOf(view, {})).size());
  }
  EXPECT_GT(found, 10);
}

TEST(RatiosCorpusTest, ValuesAreThoseOfTheirFields) {
  OPLENS_NEED_CORPUS();
  SKIP_WITH_SANITIZERS();
  RatioSinks sinks;
  for (const char* const folder : {"kineto", "nsys", "nvprof"}) {
    for (const auto& entry : fs::directory_iterator(test::CorpusDir().path / folder)) {
      SCOPED_TRACE(entry.path());
      try {
        Check({entry.path().string()}, {.list = "all"}, &sinks);
      } catch (const Error&) {
        continue;  // No profile.
      }
    }
  }
  const auto kineto = test::CorpusDir().path / "kineto";
  Check({(kineto / "ddp_sampled_w128").string()}, {.list = "all", .by = "step,rank"}, &sinks);
  // Rates are over what was counted, where it was: these two alone are of columns of the row.
  const fs::path counted = fs::path(test::SourceDir()) / "test/golden/counters";
  for (const char* const list : {"kernels", "counters"}) {
    Check({(counted / "step.json.gz").string()},
          {.list = list,
           .columns = "flops,bytes,measured_flops,measured_bytes,flops_ratio,bytes_ratio"},
          &sinks, (counted / "step.csv.gz").string());
  }
  // What only its own word chooses.
  for (const View& view : Views()) {
    std::string columns = "all";
    for (const Field& field : FieldsOf(view, {})) {
      if (field.on_request && field.key.starts_with("inferred_"))
        columns += "," + std::string(field.key);
    }
    if (columns == "all") continue;
    Check({(kineto / "diff_ddp/test_v100_rank1.json.gz").string()},
          {.list = view.name, .columns = columns}, &sinks);
  }
  for (const View& view : Views()) {
    for (const Field& field : FieldsOf(view, {})) {
      if (field.ratio.empty()) continue;
      const std::string what = std::string(view.name) + "." + std::string(field.key);
      EXPECT_GT(sinks.checked[what], 0) << what;
    }
  }
}

}  // namespace
}  // namespace oplens::prof::ratios_corpus_test
