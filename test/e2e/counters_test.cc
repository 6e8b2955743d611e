// --counters: a training step on an H200 under PyTorch's profiler, and what Nsight Compute counted
// of the first 74 kernels of the same step (test/golden/counters).

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::counters_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string Data(const std::string& name) { return SourceDir() + "/test/golden/counters/" + name; }

std::vector<json> RowsOf(const std::string& text) {
  std::vector<json> rows;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    rows.push_back(json::parse(text.substr(begin, end - begin)));
  }
  return rows;
}

std::vector<json> RowsWith(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--json");
  const RunResult result = RunProf(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return RowsOf(result.out);
}

TEST(CountersTest, KernelsGetTheirCounters) {
  const RunResult result =
      RunProf({"--json", "-c", "all", "--counters", Data("step.csv.gz"), Data("step.json.gz")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<json> rows = RowsOf(result.out);
  ASSERT_EQ(rows.size(), 300u);
  const std::vector<json> alone = RowsWith({"-c", "all", Data("step.csv.gz")});
  ASSERT_EQ(alone.size(), 74u);
  // The same kernels in the same order.
  int joined = 0;
  for (size_t i = 0; i < alone.size(); ++i) {
    SCOPED_TRACE(fmt::format("kernel {}: {}", i + 1, std::string(rows[i].at("kernel"))));
    EXPECT_EQ(rows[i].at("grid"), alone[i].at("grid"));
    if (rows[i].at("measured_bytes").is_null()) continue;  // Ambiguous.
    ++joined;
    EXPECT_EQ(rows[i].at("tensor_insts"), alone[i].at("tensor_insts"));
    EXPECT_EQ(rows[i].at("measured_flops"), alone[i].at("measured_flops"));
    EXPECT_NEAR(rows[i].at("measured_bytes").get<double>(),
                alone[i].at("measured_bytes").get<double>(),
                0.1 * alone[i].at("measured_bytes").get<double>());
  }
  EXPECT_GE(joined, 70);
  EXPECT_THAT(result.err, HasSubstr("step.csv.gz has counters for"));
  EXPECT_THAT(result.err, HasSubstr("FLOPs utilisation"));
}

TEST(CountersTest, RatesAreMeasured) {
  const std::vector<std::string> columns = {"-c", "all", "--counters", Data("step.csv.gz"),
                                            Data("step.json.gz")};
  int measured = 0;
  for (const json& row : RowsWith(columns)) {
    SCOPED_TRACE(fmt::format("kernel {}", row.at("idx").get<int64_t>()));
    if (row.at("measured_flops").is_null()) {
      EXPECT_NE(row.at("flops_by"), "measured");
      continue;
    }
    ++measured;
    EXPECT_EQ(row.at("flops_by"), "measured");
    const double rate = row.at("measured_flops").get<double>() / row.at("sil").get<double>() * 1e-3;
    EXPECT_NEAR(row.at("tflops").get<double>(), rate, 1e-3 + rate * 1e-6);
    if (!row.at("pct_math").is_null()) {
      EXPECT_LT(row.at("pct_math").get<double>(), 100.5);
    }
  }
  EXPECT_GT(measured, 100);
}

TEST(CountersTest, ViewSaysWhyTheyDiffer) {
  const std::vector<json> rows =
      RowsWith({"--view", "counters", "--counters", Data("step.csv.gz"), Data("step.json.gz")});
  int agree = 0;
  int padding = 0;
  for (const json& row : rows) {
    if (row.at("flops_why") == "agree") ++agree;
    if (row.at("flops_why") == "padding") ++padding;
    if (row.at("flops").is_null()) continue;
    EXPECT_FALSE(row.at("flops_why").is_null());
  }
  EXPECT_GT(agree, 5);
  EXPECT_GT(padding, 1);
}

TEST(CountersTest, RefusesWhatCannotBeJoined) {
  const std::string trace = Data("step.json.gz");
  const RunResult missing = RunProf({"--counters", "nothing.csv", trace});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("nothing.csv"));
  const std::string report = TestDir() / "a.ncu-rep";
  WriteFile(report, std::string("NVR\0", 4));
  const RunResult binary = RunProf({"--counters", report, trace});
  EXPECT_EQ(binary.exit_code, 1);
  EXPECT_THAT(binary.err, HasSubstr("ncu --import"));
  const std::string records = TestDir() / "a.dict";
  WriteFile(records, "{'kShortName': 'k'}\n");
  const RunResult of_records = RunProf({"--counters", Data("step.csv.gz"), records});
  EXPECT_EQ(of_records.exit_code, 2);
  EXPECT_THAT(of_records.err, HasSubstr("--counters is about profiles"));
  // Of another program.
  const RunResult other = RunProf(
      {"--strict", "--counters", Data("step.csv.gz"), SourceDir() + "/examples/data/demo.sql"});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.err, HasSubstr("no kernel of the profile has the name"));
}

// The rate of a group is that of its kernels, measured or modelled.
TEST(CountersTest, RatesOfGroupsAreThoseOfTheirKernels) {
  const std::vector<std::string> inputs = {"--counters", Data("step.csv.gz"), Data("step.json.gz")};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
    return RowsWith(std::move(arguments));
  };
  struct Work {
    double flops = 0, bytes = 0, flops_ns = 0, bytes_ns = 0;
  };
  std::map<std::string, Work> ops;
  bool any_measured = false;
  for (const json& row : with({"-c", "op,sil,tflops,gbps,flops_by"})) {
    Work& work = ops[row.at("op").is_null() ? "" : std::string(row.at("op"))];
    const double sil = row.at("sil");
    any_measured |= row.at("flops_by") == "measured";
    if (!row.at("tflops").is_null()) {
      work.flops += row.at("tflops").get<double>() * sil;
      work.flops_ns += sil;
    }
    if (!row.at("gbps").is_null()) {
      work.bytes += row.at("gbps").get<double>() * sil;
      work.bytes_ns += sil;
    }
  }
  EXPECT_TRUE(any_measured);
  size_t compared = 0;
  for (const json& row : with({"--by", "op"})) {
    const auto op = ops.find(row.at("op").is_null() ? "" : std::string(row.at("op")));
    if (op == ops.end() || op->second.flops_ns == 0) continue;
    SCOPED_TRACE(op->first);
    ++compared;
    const double tflops = op->second.flops / op->second.flops_ns;
    EXPECT_NEAR(row.at("tflops").get<double>(), tflops, 1e-9 + tflops * 1e-6);
    if (op->second.bytes_ns == 0) continue;
    const double gbps = op->second.bytes / op->second.bytes_ns;
    EXPECT_NEAR(row.at("gbps").get<double>(), gbps, 1e-9 + gbps * 1e-6);
  }
  EXPECT_GE(compared, 5u);
}

// Of one run: a gate has them, a comparison of two would set measured against modelled figures.
TEST(CountersTest, GatesTakeThemAndDiffsDoNot) {
  const std::string trace = Data("step.json.gz");
  const RunResult diff =
      RunProf({"--diff", trace, "--counters", Data("step.csv.gz"), "--csv", trace});
  EXPECT_EQ(diff.exit_code, 2);
  EXPECT_EQ(diff.err, "prof: --counters are those of one run: they do not go with --diff\n");
  const auto rate = [&](const std::vector<std::string>& counters) {
    std::vector<std::string> arguments = {"--json", "--fail-if", "op(mm).tflops<0", trace};
    arguments.insert(arguments.end(), counters.begin(), counters.end());
    const RunResult gate = RunProf(arguments);
    EXPECT_EQ(gate.exit_code, 0) << gate.err;
    return gate.out;
  };
  EXPECT_NE(rate({}), rate({"--counters", Data("step.csv.gz")}));
}

TEST(CountersTest, AloneTheCountedKernelsAreShown) {
  const RunResult as_option = RunProf({"--csv", "-c", "idx,kernel,sil,grid,measured_flops,bound",
                                       "--counters", Data("step.csv.gz")});
  const RunResult as_input =
      RunProf({"--csv", "-c", "idx,kernel,sil,grid,measured_flops,bound", Data("step.csv.gz")});
  EXPECT_EQ(as_option.exit_code, 0) << as_option.err;
  EXPECT_EQ(as_option.out, as_input.out);
  EXPECT_EQ(LineCount(as_option.out), 75);
  EXPECT_THAT(as_option.out, HasSubstr("\"3936\",\"36,1,1\""));
}

}  // namespace
}  // namespace oplens::test::counters_test
