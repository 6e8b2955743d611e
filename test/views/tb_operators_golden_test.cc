#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"
#include "test/views/golden_tables.h"

namespace oplens::prof::tb_operators_golden_test {
namespace {

using test::GoldenTrace;
using test::ViewRow;

/// What is not compared: the column has_call_stack, which says whether a table of stacks hangs on
/// the row.
struct Compared {
  const char* golden;
  const char* ours;
};
constexpr Compared kTimes[] = {{"device_self_duration", "device_self_ns"},
                               {"device_total_duration", "device_total_ns"},
                               {"host_self_duration", "host_self_ns"},
                               {"host_total_duration", "host_total_ns"}};
constexpr Compared kShares[] = {{"tc_self_ratio", "tc_self_pct"},
                                {"tc_total_ratio", "tc_total_pct"}};

/// Times of whole microseconds are exact; of others each call may be off by a rounded ns, and
/// sums by what doubles lose.
void ExpectTime(const ViewRow& golden, const ViewRow& ours, const Compared& field) {
  const std::string printed = golden.contains(field.golden) ? golden.at(field.golden) : "";
  const std::string& told = ours.at(field.ours);
  if (printed.empty() || told.empty()) {
    EXPECT_EQ(printed, told) << field.ours;
    return;
  }
  const double us = static_cast<double>(std::stoll(told)) / 1000;
  const double slack = 0.001 * std::stod(golden.at("calls")) + 1e-6 * std::abs(us);
  const bool whole = std::stoll(told) % 1000 == 0;
  EXPECT_TRUE(whole && us == std::stod(printed) ? true : test::IsPrinted(us, printed, 0, slack))
      << field.ours << " " << told << ", golden " << printed << " us";
}

void ExpectRow(const ViewRow& golden, const ViewRow& ours) {
  EXPECT_EQ(golden.at("calls"), ours.at("calls"));
  for (const Compared& field : kTimes) ExpectTime(golden, ours, field);
  EXPECT_EQ(golden.at("tc_eligible") == "Yes" ? "yes" : "no", ours.at("tc_elig"));
  for (const Compared& field : kShares) {
    EXPECT_TRUE(test::IsPrinted(std::stod(ours.at(field.ours)), golden.at(field.golden), 2, 1e-4))
        << field.ours << " " << ours.at(field.ours) << ", golden " << golden.at(field.golden);
  }
}

void ExpectTable(const GoldenTrace& trace, const std::string& table,
                 const std::vector<std::string>& by) {
  SCOPED_TRACE(trace.name);
  const auto partial = test::PartialOf(test::ViewBy("tb", "operators"), {trace.path}, {.by = by});
  std::map<std::pair<std::string, std::string>, ViewRow> ours;
  for (const ViewRow& row : test::RowsOf(*partial)) {
    ours[{row.at("op"), by.empty() ? "" : row.at("shape")}] = row;
  }
  const std::vector<ViewRow> golden = test::ReadGoldenTable(trace.folder + "/" + table);
  EXPECT_EQ(golden.size(), ours.size());
  for (const ViewRow& row : golden) {
    const std::string shape = by.empty() ? "" : row.at("input_shape");
    SCOPED_TRACE(row.at("name") + " " + shape);
    const auto found = ours.find({row.at("name"), shape});
    ASSERT_NE(found, ours.end());
    ExpectRow(row, found->second);
  }
}

TEST(TbOperatorsGoldenTest, ByName) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  const auto traces = test::GoldenTracesWith("tb_operators.csv");
  EXPECT_GE(traces.size(), 18u);
  for (const GoldenTrace& trace : traces) ExpectTable(trace, "tb_operators.csv", {});
}

TEST(TbOperatorsGoldenTest, ByShape) {
  OPLENS_NEED_CORPUS();
  for (const GoldenTrace& trace : test::GoldenTracesWith("tb_operators_by_shape.csv")) {
    ExpectTable(trace, "tb_operators_by_shape.csv", {"shape"});
  }
}

}  // namespace
}  // namespace oplens::prof::tb_operators_golden_test
