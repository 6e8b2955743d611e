#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/sums.h"
#include "prof/compat/tb/tree.h"
#include "prof/run/run.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"
#include "test/views/golden_tables.h"

namespace oplens::prof::tb_kernels_golden_test {
namespace {

using test::GoldenTrace;
using test::ViewRow;

std::span<const Field> NoFields() { return {}; }

/// "[40, 2, 1]" as "40,2,1".
std::string ExtentOf(const std::string& list) {
  std::string text;
  for (const char c : list) {
    if (c == ',' || (c >= '0' && c <= '9')) text.push_back(c);
  }
  return text;
}

std::string NumberOf(const std::string& text) { return text.empty() ? "0" : text; }

struct Compared {
  const char* golden;
  const char* ours;
  int digits;
  double unit;  // Of ours in that of the golden.
};
constexpr Compared kNumbers[] = {
    {"Total Duration (us)", "total_ns", 0, 1e-3},
    {"Mean Duration (us)", "mean_ns", 0, 1e-3},
    {"Max Duration (us)", "max_ns", 0, 1e-3},
    {"Min Duration (us)", "min_ns", 0, 1e-3},
    {"Mean Blocks Per SM", "blocks_per_sm", 2, 1},
    {"Mean Est. Achieved Occupancy (%)", "achieved_occupancy_pct", 2, 1},
};

void ExpectRow(const ViewRow& golden, const ViewRow& ours) {
  const std::string& calls = golden.at("Calls");
  EXPECT_EQ(calls, ours.at("calls"));
  for (const Compared& field : kNumbers) {
    const auto printed = golden.find(field.golden);
    if (printed == golden.end()) continue;  // Files without any have no such column.
    const double told = std::stod(ours.at(field.ours)) * field.unit;
    // A time with a fraction is as the reference has it, not rounded.
    const bool fraction = field.unit < 1 && printed->second.find('.') != std::string::npos;
    const double slack = 1e-6 * told + (field.unit < 1 ? 0.0005 * std::stod(calls) : 1e-6);
    EXPECT_TRUE(test::IsPrinted(told, printed->second, fraction ? 4 : field.digits, slack))
        << field.ours << " " << told << ", golden " << printed->second;
  }
}

void ExpectTable(const GoldenTrace& trace, const std::string& table,
                 const std::vector<std::string>& by,
                 const std::function<std::string(const ViewRow&)>& golden_key) {
  SCOPED_TRACE(trace.name);
  const auto partial = test::PartialOf(test::ViewBy("tb", "groups"), {trace.path}, {.by = by});
  std::map<std::string, ViewRow> ours;
  for (const ViewRow& row : test::RowsOf(*partial)) {
    std::string key;
    for (const std::string& word : by) key += row.at(word) + "|";
    ours[key] = row;
  }
  const std::vector<ViewRow> golden = test::ReadGoldenTable(trace.folder + "/" + table);
  EXPECT_EQ(golden.size(), ours.size());
  for (const ViewRow& row : golden) {
    const std::string key = golden_key(row);
    SCOPED_TRACE(key);
    const auto found = ours.find(key);
    if (found == ours.end()) {
      ADD_FAILURE() << "no such row";
      continue;
    }
    const char* use = by.size() == 1 ? "Tensor Cores Used" : "Kernel Uses Tensor Cores";
    EXPECT_EQ(row.at(use) == "Yes" ? "yes" : "no", found->second.at("tc"));
    if (by.size() > 1) {
      EXPECT_EQ(row.at("Op is Tensor Cores eligible") == "Yes" ? "yes" : "no",
                found->second.at("tc_elig"));
    }
    ExpectRow(row, found->second);
  }
}

TEST(TbKernelsGoldenTest, ByName) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  const auto traces = test::GoldenTracesWith("tb_kernels.csv");
  EXPECT_GE(traces.size(), 18u);
  for (const GoldenTrace& trace : traces) {
    ExpectTable(trace, "tb_kernels.csv", {"kernel"},
                [](const ViewRow& row) { return row.at("Name") + "|"; });
  }
}

TEST(TbKernelsGoldenTest, ByProperties) {
  OPLENS_NEED_CORPUS();
  for (const GoldenTrace& trace : test::GoldenTracesWith("tb_kernels_by_op.csv")) {
    ExpectTable(trace, "tb_kernels_by_op.csv", {"kernel", "op", "grid", "block", "regs", "smem"},
                [](const ViewRow& row) {
                  return row.at("Name") + "|" + row.at("Operator") + "|" +
                         ExtentOf(row.at("Grid")) + "|" + ExtentOf(row.at("Block")) + "|" +
                         NumberOf(row.at("Register Per Thread")) + "|" +
                         NumberOf(row.at("Shared Memory")) + "|";
                });
  }
}

/// Keeps what the advice goes by.
class Ratios : public Partial {
 public:
  void End(const Run* run) override {
    if (run == nullptr) return;
    MergeInto(&time_, TbTensorCoreTimeOf(run->trace(), TbTree(run->trace())));
  }
  void Merge(const Partial& other) override {
    MergeInto(&time_, dynamic_cast<const Ratios&>(other).time_);
  }
  std::vector<Field> Fields() const override { return {}; }
  void Emit(Sink* sink) const override { static_cast<void>(sink); }
  const TbTensorCoreTime& time() const { return time_; }

 private:
  TbTensorCoreTime time_;
};

TEST(TbKernelsGoldenTest, RatiosOfTheAdvice) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  constexpr View kRatios = {"ratios", "", kTbTreeNeeds, NoFields, [](const ViewOptions&) {
                              return std::unique_ptr<Partial>(std::make_unique<Ratios>());
                            }};
  size_t compared = 0;
  for (const GoldenTrace& trace : test::GoldenTracesWith("tb_overview.json")) {
    SCOPED_TRACE(trace.name);
    const auto golden = nlohmann::json::parse(test::ReadFile(trace.folder + "/tb_overview.json"));
    const auto partial = test::PartialOf(kRatios, {trace.path});
    const TbTensorCoreTime& time = dynamic_cast<const Ratios&>(*partial).time();
    const auto expect = [&](const char* name, double ours) {
      if (!golden.contains(name) || golden.at(name).is_null()) return;
      ++compared;
      EXPECT_NEAR(ours, golden.at(name).get<double>(), 1e-4) << name;
    };
    expect("tc_used_ratio", time.used_ratio());
    expect("tc_eligible_ops_kernel_ratio", time.eligible_ratio());
  }
  EXPECT_GE(compared, 30u);
}

}  // namespace
}  // namespace oplens::prof::tb_kernels_golden_test
