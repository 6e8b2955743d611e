#include "prof/views/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/price/kernel_facts.h"
#include "prof/table/text_sinks.h"
#include "test/prof/rows.h"
#include "test/support/test_files.h"

namespace oplens::prof::summary_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

struct KernelSpec {
  std::string op;
  int64_t duration_ns = 0;
  std::optional<int64_t> flops = std::nullopt;
  std::optional<int64_t> bytes = std::nullopt;
  std::optional<int64_t> step = std::nullopt;
  ops::TensorCoreUse tensor_core = ops::TensorCoreUse::kUnknown;
  std::string name = "kernel";
};

/// Groups kernels and reads the rows back.
class Grouped {
 public:
  explicit Grouped(std::string_view by, Summary::Limits limits = {})
      : plan_(PlanSummary(by)), summary_(&plan_, limits) {}

  void Add(const KernelSpec& spec, const KernelRecord& base = test::PlainRecord()) {
    KernelRecord record = base;
    record.duration_ns = spec.duration_ns;
    record.step = spec.step;
    record.long_name = spec.name;
    PricedKernel row;
    row.record = &record;
    row.op = spec.op;
    row.share.flops = spec.flops;
    row.share.bytes = spec.bytes;
    row.tensor_core = spec.tensor_core;
    row.layer = record.layer;
    summary_.Add(row);
  }

  void AddReplay(int64_t duration_ns, std::optional<int64_t> step = std::nullopt) {
    KernelRecord record;
    record.duration_ns = duration_ns;
    record.step = step;
    PricedKernel row;
    row.record = &record;
    row.replay = true;
    EXPECT_TRUE(summary_.AddReplay(row));
  }

  std::vector<nlohmann::json> Rows(std::string_view sort = "total", size_t top = 0) {
    const auto path = test::TestDir() / "summary.json";
    Output output(path.string());
    const auto sink = MakeJsonSink(&output, false);
    sink->Begin("summary", plan_.fields);
    summary_.Write(ParseOrder(sort, plan_.fields), top, sink.get());
    output.Commit();
    const std::string text = test::ReadFile(path);
    std::vector<nlohmann::json> rows;
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      rows.push_back(nlohmann::json::parse(text.substr(begin, end - begin)));
    }
    return rows;
  }

  /// One column of the rows as texts.
  std::vector<std::string> Column(const char* key, std::string_view sort = "total",
                                  size_t top = 0) {
    std::vector<std::string> values;
    for (const auto& row : Rows(sort, top)) {
      values.push_back(row.at(key).is_string() ? row.at(key).get<std::string>()
                                               : row.at(key).dump());
    }
    return values;
  }

  Summary* summary() { return &summary_; }

 private:
  SummaryPlan plan_;
  Summary summary_;
};

TEST(SummaryTest, FiguresOfAGroup) {
  Grouped grouped("op");
  grouped.Add({"mm", 300, 6'000'000, 1500, std::nullopt, ops::TensorCoreUse::kYes});
  grouped.Add({"mm", 100, std::nullopt, std::nullopt, std::nullopt, ops::TensorCoreUse::kNo});
  grouped.Add({"mm", 200, 4'000'000, 500});
  grouped.Add({"add", 200});
  const auto rows = grouped.Rows();
  ASSERT_EQ(rows.size(), 2u);
  const nlohmann::json& mm = rows[0];
  EXPECT_EQ(mm["op"], "mm");
  EXPECT_EQ(mm["count"], 3);
  EXPECT_EQ(mm["total"], 600);
  EXPECT_EQ(mm["mean"], 200.0);
  EXPECT_EQ(mm["min"], 100);
  EXPECT_EQ(mm["max"], 300);
  EXPECT_EQ(mm["share"], 75.0);
  EXPECT_EQ(mm["flops"], 10'000'000);
  EXPECT_EQ(mm["bytes"], 2000);
  EXPECT_DOUBLE_EQ(mm["flops_known"].get<double>(), 500 * 100 / 600.0);
  EXPECT_DOUBLE_EQ(mm["bytes_known"].get<double>(), 500 * 100 / 600.0);
  EXPECT_DOUBLE_EQ(mm["tflops"].get<double>(), 20.0);  // 10^7 FLOP in 500 ns.
  EXPECT_DOUBLE_EQ(mm["gbps"].get<double>(), 4.0);     // 2000 B in 500 ns.
  EXPECT_DOUBLE_EQ(mm["tc"].get<double>(), 75.0);      // 300 of 400 ns that are known.
  EXPECT_DOUBLE_EQ(mm["tc_known"].get<double>(), 400 * 100 / 600.0);
  EXPECT_TRUE(mm["perstep"].is_null());
  const nlohmann::json& add = rows[1];
  for (const char* key : {"flops", "bytes", "tflops", "gbps", "tc"}) {
    EXPECT_TRUE(add[key].is_null()) << key;
  }
  EXPECT_EQ(add["flops_known"], 0.0);
  EXPECT_EQ(add["tc_known"], 0.0);
}

TEST(SummaryTest, SharesOfWhatIsInferred) {
  Grouped grouped("op");
  KernelRecord record = test::PlainRecord();
  grouped.Add({"mm", 300}, record);
  for (const Evidence evidence :
       {Evidence::kCapture, Evidence::kRepetition, Evidence::kReference}) {
    record.evidence = evidence;
    grouped.Add({"mm", 100}, record);
    grouped.Add({"add", 50}, record);
  }
  const auto rows = grouped.Rows();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_DOUBLE_EQ(rows[0]["inferred_pct"].get<double>(), 100 * 200 / 600.0);
  EXPECT_DOUBLE_EQ(rows[1]["inferred_pct"].get<double>(), 100 * 100 / 150.0);
}

TEST(SummaryTest, UntimedKernelsAreCountedWithoutATime) {
  KernelRecord untimed = test::PlainRecord();
  untimed.reasons.Add(Reason::kUntimed);
  Grouped grouped("op");
  grouped.Add({"mm", 0, 100}, untimed);
  grouped.Add({"mm", 50, 100});
  grouped.Add({"add", 0}, untimed);
  const auto rows = grouped.Rows();
  EXPECT_EQ(rows[0]["count"], 2);
  EXPECT_EQ(rows[0]["mean"], 50.0);
  EXPECT_EQ(rows[0]["min"], 50);
  EXPECT_EQ(rows[0]["flops"], 200);
  EXPECT_DOUBLE_EQ(rows[0]["tflops"].get<double>(), 0.002);  // Of the timed one.
  EXPECT_EQ(rows[1]["count"], 1);
  for (const char* key : {"total", "mean", "min", "max", "share"}) {
    EXPECT_TRUE(rows[1][key].is_null()) << key;
  }
}

TEST(SummaryTest, UnknownKeysAreAGroupOfTheirOwn) {
  Grouped grouped("op,step,stream");
  grouped.Add({"", 5, {}, {}, 3});
  grouped.Add({"mm", 4});
  grouped.Add({"", 3});
  const auto rows = grouped.Rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(rows[0]["op"].is_null());
  EXPECT_EQ(rows[0]["step"], 3);
  EXPECT_EQ(rows[0]["stream"], 3);
  EXPECT_EQ(rows[1]["op"], "mm");
  EXPECT_TRUE(rows[1]["step"].is_null());
  EXPECT_TRUE(rows[2]["op"].is_null());
}

TEST(SummaryTest, ValuesDoNotRunIntoEachOther) {
  KernelRecord one = test::PlainRecord();
  one.layer = {"a", "b"};
  KernelRecord other = test::PlainRecord();
  other.layer = {"b"};
  Grouped grouped("op,layer");
  grouped.Add({"x", 1}, one);
  grouped.Add({"xa:", 2}, other);
  grouped.Add({"x", 4}, one);
  EXPECT_THAT(grouped.Column("layer"), ElementsAre("a:b", "b"));
  EXPECT_THAT(grouped.Column("total"), ElementsAre("5", "2"));
}

TEST(SummaryTest, EveryKeyGroups) {
  Epochs epochs;
  KernelFactsCache names(&epochs, nullptr);
  for (const std::string_view key : kGroupKeys) {
    Grouped grouped(key);
    KernelRecord first = test::PlainRecord();
    first.range = {"epoch 1", "batch"};
    first.rank = "0";
    KernelRecord second = test::PlainRecord();
    second.stream_id = 9;
    second.device_id = 1;
    second.short_name = "other_kernel";
    second.long_name = "void other_kernel<float>(float*)";
    second.rank = "1";
    second.layer = {"stem"};
    second.range = {"epoch 1"};
    second.direction = Direction::kBackward;
    second.grid = {3, 1, 1};
    second.block = {32, 1, 1};
    second.registers_per_thread = 40;
    second.static_shared_memory_bytes = 16;
    second.dynamic_shared_memory_bytes = 1024;
    second.evidence = Evidence::kRepetition;
    second.confidence = Confidence::kHigh;
    std::string op = "mm";
    int64_t step = 1;
    for (const KernelRecord* record : {&first, &second, &first}) {
      KernelRecord copy = *record;
      copy.step = record == &first ? step : step + 1;
      PricedKernel row;
      row.record = &copy;
      row.facts = names.Of(copy.long_name);
      row.op = record == &first ? "mm" : "add";
      row.mod = record == &first ? "torch" : "Tensor";
      row.layer = copy.layer;
      row.phase = record == &first ? Phase::kForward : Phase::kOptimizer;
      row.shapes = record == &first ? "(2,3)" : "(2,4)";
      row.dtype = record == &first ? "fp16" : "fp32";
      row.share.role = record == &first ? ops::Role::kMain : ops::Role::kReduce;
      grouped.summary()->Add(row);
    }
    EXPECT_EQ(grouped.summary()->group_count(), 2u) << key;
    EXPECT_THAT(grouped.Column("count"), ElementsAre("2", "1")) << key;
  }
}

TEST(SummaryTest, SortsByAnyColumn) {
  Grouped grouped("op");
  grouped.Add({"b", 10, 5});
  grouped.Add({"a", 30});
  grouped.Add({"c", 5, 7});
  grouped.Add({"c", 5, 1});
  grouped.Add({"", 1});
  EXPECT_THAT(grouped.Column("op"), ElementsAre("a", "b", "c", "null"));
  EXPECT_THAT(grouped.Column("op", "-total"), ElementsAre("null", "b", "c", "a"));
  EXPECT_THAT(grouped.Column("op", "total:asc"), ElementsAre("null", "b", "c", "a"));
  EXPECT_THAT(grouped.Column("op", "total:desc"), ElementsAre("a", "b", "c", "null"));
  EXPECT_THAT(grouped.Column("op", "count"), ElementsAre("c", "a", "b", "null"));
  // Unknown ones are last in either order.
  EXPECT_THAT(grouped.Column("op", "flops"), ElementsAre("c", "b", "a", "null"));
  EXPECT_THAT(grouped.Column("op", "-flops"), ElementsAre("b", "c", "a", "null"));
  EXPECT_THAT(grouped.Column("op", "op"), ElementsAre("a", "b", "c", "null"));
  EXPECT_THAT(grouped.Column("op", "-op"), ElementsAre("c", "b", "a", "null"));
  EXPECT_THAT(grouped.Column("op", "mean"), ElementsAre("a", "b", "c", "null"));
}

TEST(SummaryTest, TopFoldsTheRest) {
  Grouped grouped("op,stream");
  for (int i = 1; i <= 5; ++i) grouped.Add({std::string(1, static_cast<char>('a' + i)), i * 10, i});
  EXPECT_THAT(grouped.Column("op", "total", 2), ElementsAre("f", "e", "(3 more)"));
  EXPECT_THAT(grouped.Column("total", "total", 2), ElementsAre("50", "40", "60"));
  EXPECT_THAT(grouped.Column("stream", "total", 2), ElementsAre("3", "3", "null"));
  EXPECT_THAT(grouped.Column("flops", "total", 2), ElementsAre("5", "4", "6"));
  EXPECT_THAT(grouped.Column("count", "total", 2), ElementsAre("1", "1", "3"));
  EXPECT_EQ(grouped.Rows("total", 5).size(), 5u);
  EXPECT_EQ(grouped.Rows("total", 6).size(), 5u);
}

TEST(SummaryTest, GraphReplaysAreOneGroup) {
  Grouped groups("op,step");
  groups.Add({.op = "add", .duration_ns = 10, .step = 1});
  groups.Add({.op = "mm", .duration_ns = 30, .step = 2});
  groups.AddReplay(100, 1);
  groups.AddReplay(60, 2);
  const auto rows = groups.Rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["op"], "(graph replay)");
  EXPECT_TRUE(rows[0]["step"].is_null());
  EXPECT_EQ(rows[0]["count"], 2);
  EXPECT_EQ(rows[0]["total"], 160);
  EXPECT_EQ(rows[0]["share"], 80);
  EXPECT_TRUE(rows[0]["flops"].is_null());
  EXPECT_TRUE(rows[0]["perstep"].is_null()) << "of two steps";
  EXPECT_EQ(rows[1]["perstep"], 30) << "its own step";
  EXPECT_EQ(rows[1]["share"], 15) << "of the time with the replays";
  // It is never folded.
  EXPECT_THAT(groups.Column("op", "-total", 1), ElementsAre("add", "(1 more)", "(graph replay)"));
  EXPECT_THAT(groups.Column("op", "total", 1), ElementsAre("(graph replay)", "(2 more)"));
}

TEST(SummaryTest, ARepeatedSequenceTellsNoStepOfReplays) {
  Grouped groups("op");
  for (int i = 0; i < 5; ++i) {
    groups.Add({.op = "a", .duration_ns = 10, .name = "a"});
    groups.Add({.op = "b", .duration_ns = 20, .name = "b"});
    groups.AddReplay(100);
  }
  const auto rows = groups.Rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(rows[0]["perstep"].is_null()) << rows[0];
  EXPECT_EQ(rows[1]["perstep"], 20) << rows[1];
}

TEST(SummaryTest, AStepThatIsNotNamedHasNoTimeOfItsOwn) {
  Grouped groups("step,op");
  for (int i = 0; i < 5; ++i) {
    groups.Add({.op = "a", .duration_ns = 10, .name = "a"});
    groups.Add({.op = "b", .duration_ns = 20, .name = "b"});
  }
  for (const auto& row : groups.Rows()) EXPECT_TRUE(row["perstep"].is_null()) << row;
}

TEST(SummaryTest, TooManyGroupsCountTogether) {
  Grouped grouped("op", {.groups = 2});
  for (const char* op : {"a", "b", "c", "d", "a", "c"}) grouped.Add({op, 10});
  EXPECT_THAT(grouped.Column("op"), ElementsAre("a", "b", "(other)"));
  EXPECT_THAT(grouped.Column("total"), ElementsAre("20", "10", "30"));
  EXPECT_THAT(grouped.Column("op", "total", 1), ElementsAre("a", "(1 more)", "(other)"));
  EXPECT_THAT(grouped.summary()->Notes(),
              testing::Contains(HasSubstr("more than 2 groups: 3 kernels")));

  Grouped long_keys("op", {.key_bytes = 1000});
  long_keys.Add({std::string(900, 'x'), 10});
  long_keys.Add({std::string(900, 'y'), 10});
  EXPECT_EQ(long_keys.summary()->group_count(), 1u);
}

TEST(SummaryTest, StepsGiveAMean) {
  Grouped grouped("op");
  grouped.Add({"mm", 1000});  // Before the first step.
  for (int step = 5; step < 9; ++step) {
    grouped.Add({"mm", 10 * step, {}, {}, step});
    if (step == 5) grouped.Add({"add", 8, {}, {}, step});
  }
  const auto rows = grouped.Rows();
  EXPECT_EQ(rows[0]["perstep"], 65.0);  // 50, 60, 70, 80.
  EXPECT_EQ(rows[1]["perstep"], 2.0);   // 8, and three times nothing.
  EXPECT_THAT(grouped.summary()->Notes(), IsEmpty());
}

TEST(SummaryTest, AGroupOfOneStepHasItsOwnTime) {
  Grouped by_step("step");
  Grouped by_both("op,step");
  for (Grouped* grouped : {&by_step, &by_both}) {
    grouped->Add({"mm", 1000});  // Before the first step.
    for (int step = 5; step < 9; ++step) {
      grouped->Add({"mm", 10 * step, {}, {}, step});
      grouped->Add({"add", step, {}, {}, step});
    }
  }
  EXPECT_THAT(by_step.Column("perstep", "step"),
              ElementsAre("55.0", "66.0", "77.0", "88.0", "null"));
  EXPECT_THAT(by_both.Column("perstep", "perstep", 2), ElementsAre("80.0", "70.0", "34.0"))
      << "the others: 50 + 60 and 5 + 6 + 7 + 8 in four steps, and what is of no step";
  EXPECT_THAT(by_step.Column("perstep", "step", 2), ElementsAre("55.0", "66.0", "82.5"));

  Grouped few("step", {.groups = 1});
  few.Add({"mm", 10, {}, {}, 1});
  few.Add({"mm", 20, {}, {}, 2});
  EXPECT_THAT(few.Column("perstep"), ElementsAre("10.0", "null")) << "(other)";
}

TEST(SummaryTest, ARepeatedSequenceIsTheSteps) {
  Grouped grouped("op");
  grouped.Add({"load", 7, {}, {}, {}, {}, "warm_up"});
  for (int i = 0; i < 4; ++i) {
    grouped.Add({"mm", 10 + i, {}, {}, {}, {}, "gemm"});
    grouped.Add({"add", 1, {}, {}, {}, {}, "add"});
    grouped.Add({"mm", 10, {}, {}, {}, {}, "gemm"});
  }
  EXPECT_THAT(grouped.Column("op"), ElementsAre("mm", "load", "add"));
  EXPECT_THAT(grouped.Column("perstep"), ElementsAre("21.5", "0.0", "1.0"));
  EXPECT_THAT(grouped.summary()->Notes(),
              ElementsAre(HasSubstr("the last 12 kernels are 4 times the same sequence of 3")));
}

TEST(SummaryTest, NamedStepsGoBeforeRepetition) {
  Grouped grouped("op");
  for (int i = 0; i < 4; ++i) {
    grouped.Add({"mm", 10, {}, {}, i / 2, {}, "gemm"});
    grouped.Add({"add", 1, {}, {}, i / 2, {}, "add"});
  }
  EXPECT_THAT(grouped.Column("perstep"), ElementsAre("20.0", "2.0"));
}

TEST(SummaryTest, HostileNumbersDoNotWrap) {
  Grouped grouped("op");
  for (int i = 0; i < 3; ++i) grouped.Add({"mm", kMax, kMax, kMax});
  const auto rows = grouped.Rows();
  EXPECT_EQ(rows[0]["total"], kMax);
  EXPECT_DOUBLE_EQ(rows[0]["flops"].get<double>(), 3.0 * static_cast<double>(kMax));
  EXPECT_EQ(rows[0]["share"], 100.0);
}

TEST(SummaryTest, NoKernelsGiveTheHeaderAlone) {
  Grouped grouped("op");
  EXPECT_THAT(grouped.Rows(), IsEmpty());
  EXPECT_THAT(grouped.summary()->Notes(), IsEmpty());
}

RC_GTEST_PROP(SummaryProperty, EveryKernelIsInOneGroup,
              (const std::vector<std::tuple<uint8_t, uint16_t, bool>>& kernels, uint8_t top)) {
  Grouped grouped("op", {.groups = 6});
  std::map<std::string, int64_t> totals;
  int64_t total = 0;
  int64_t flops = 0;
  for (const auto& [op, duration, priced] : kernels) {
    const std::string name = "op" + std::to_string(op % 8);
    KernelSpec spec{name, duration};
    if (priced) spec.flops = op;
    grouped.Add(spec);
    totals[name] += duration;
    total += duration;
    flops += priced ? op : 0;
  }
  int64_t rows_count = 0;
  int64_t rows_total = 0;
  int64_t rows_flops = 0;
  double share = 0;
  for (const auto& row : grouped.Rows("total", top % 9)) {
    rows_count += row["count"].get<int64_t>();
    rows_total += row["total"].get<int64_t>();
    rows_flops += row["flops"].is_null() ? 0 : row["flops"].get<int64_t>();
    share += row["share"].is_null() ? 0 : row["share"].get<double>();
    const std::string op = row["op"];
    if (!op.starts_with('(')) RC_ASSERT(row["total"].get<int64_t>() == totals.at(op));
  }
  RC_ASSERT(rows_count == static_cast<int64_t>(kernels.size()));
  RC_ASSERT(rows_total == total);
  RC_ASSERT(rows_flops == flops);
  if (total > 0) RC_ASSERT(std::abs(share - 100) < 1e-9);
}

TEST(PlanSummaryTest, RefusesWhatIsNoKey) {
  for (const char* list : {"", "op,", "colour", "op,op", "count", "idx", ",op", "OP"}) {
    EXPECT_THROW(PlanSummary(list), UsageError) << list;
  }
  EXPECT_EQ(PlanSummary(" op , dir ").keys.size(), 2u);
}

TEST(ParseOrderTest, RefusesWhatIsNoColumn) {
  const SummaryPlan plan = PlanSummary("op,dir");
  for (const char* order : {"", "-", "dir:up", "kernel", "--op", "-op:asc"}) {
    EXPECT_THROW(ParseOrder(order, plan.fields), UsageError) << order;
  }
  EXPECT_EQ(plan.fields[ParseOrder("dir", plan.fields).field].key, "dir");
  EXPECT_TRUE(ParseOrder("dir", plan.fields).ascending);
  EXPECT_TRUE(ParseOrder("stream", PlanSummary("stream").fields).ascending);
  EXPECT_FALSE(ParseOrder("tflops", plan.fields).ascending);
}

}  // namespace
}  // namespace oplens::prof::summary_test
