#include "prof/views/kernels/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/price/kernel_facts.h"
#include "prof/table/text_sinks.h"
#include "test/prof/rows.h"
#include "test/support/json_tree.h"
#include "test/support/random_cases.h"
#include "test/support/test_files.h"

namespace oplens::prof::summary_test {
namespace {

using test::JsonTree;
using test::Require;
using testing::HasSubstr;
using Texts = std::vector<std::string>;

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

  std::vector<JsonTree> Rows(std::string_view sort = "total", size_t top = 0) {
    const auto path = test::TestDir() / "summary.json";
    Output output(path.string());
    const auto sink = MakeJsonSink(&output, false);
    sink->Begin("summary", plan_.fields);
    summary_.Write(ParseOrder(sort, plan_.fields), top, sink.get());
    output.Commit();
    const std::string text = test::ReadFile(path);
    std::vector<JsonTree> rows;
    for (size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      rows.emplace_back(text.substr(begin, end - begin));
    }
    return rows;
  }

  /// One column of the rows as texts.
  Texts Column(const std::string& key, std::string_view sort = "total", size_t top = 0) {
    Texts values;
    for (const JsonTree& row : Rows(sort, top)) {
      const std::string value = row.At("/" + key);
      values.push_back(value.starts_with('"') ? row.TextAt("/" + key) : value);
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
  const JsonTree& mm = rows[0];
  EXPECT_EQ(mm.At("/op"), "\"mm\"");
  EXPECT_EQ(mm.At("/count"), "3");
  EXPECT_EQ(mm.At("/total"), "600");
  EXPECT_EQ(mm.RealAt("/mean"), 200.0);
  EXPECT_EQ(mm.At("/min"), "100");
  EXPECT_EQ(mm.At("/max"), "300");
  EXPECT_EQ(mm.RealAt("/share"), 75.0);
  EXPECT_EQ(mm.At("/flops"), "10000000");
  EXPECT_EQ(mm.At("/bytes"), "2000");
  EXPECT_DOUBLE_EQ(mm.RealAt("/flops_known"), 500 * 100 / 600.0);
  EXPECT_DOUBLE_EQ(mm.RealAt("/bytes_known"), 500 * 100 / 600.0);
  EXPECT_DOUBLE_EQ(mm.RealAt("/tflops"), 20.0);  // 10^7 FLOP in 500 ns.
  EXPECT_DOUBLE_EQ(mm.RealAt("/gbps"), 4.0);     // 2000 B in 500 ns.
  EXPECT_DOUBLE_EQ(mm.RealAt("/tc"), 75.0);      // 300 of 400 ns that are known.
  EXPECT_DOUBLE_EQ(mm.RealAt("/tc_known"), 400 * 100 / 600.0);
  EXPECT_EQ(mm.At("/perstep"), "null");
  const JsonTree& add = rows[1];
  for (const char* key : {"flops", "bytes", "tflops", "gbps", "tc"}) {
    EXPECT_EQ(add.At(std::string("/") + key), "null") << key;
  }
  EXPECT_EQ(add.RealAt("/flops_known"), 0.0);
  EXPECT_EQ(add.RealAt("/tc_known"), 0.0);
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
  EXPECT_DOUBLE_EQ(rows[0].RealAt("/inferred_pct"), 100 * 200 / 600.0);
  EXPECT_DOUBLE_EQ(rows[1].RealAt("/inferred_pct"), 100 * 100 / 150.0);
  record.evidence = Evidence::kCapture;
  record.confidence = Confidence::kMedium;  // Matched, not recorded.
  grouped.Add({"mm", 100}, record);
  EXPECT_DOUBLE_EQ(grouped.Rows()[0].RealAt("/inferred_pct"), 100 * 300 / 700.0);
}

TEST(SummaryTest, UntimedKernelsAreCountedWithoutATime) {
  KernelRecord untimed = test::PlainRecord();
  untimed.reasons.Add(Reason::kUntimed);
  Grouped grouped("op");
  grouped.Add({"mm", 0, 100}, untimed);
  grouped.Add({"mm", 50, 100});
  grouped.Add({"add", 0}, untimed);
  const auto rows = grouped.Rows();
  EXPECT_EQ(rows[0].At("/count"), "2");
  EXPECT_EQ(rows[0].RealAt("/mean"), 50.0);
  EXPECT_EQ(rows[0].At("/min"), "50");
  EXPECT_EQ(rows[0].At("/flops"), "200");
  EXPECT_DOUBLE_EQ(rows[0].RealAt("/tflops"), 0.002);  // Of the timed one.
  EXPECT_EQ(rows[1].At("/count"), "1");
  for (const char* key : {"total", "mean", "min", "max", "share"}) {
    EXPECT_EQ(rows[1].At(std::string("/") + key), "null") << key;
  }
}

TEST(SummaryTest, UnknownKeysAreAGroupOfTheirOwn) {
  Grouped grouped("op,step,stream");
  grouped.Add({"", 5, {}, {}, 3});
  grouped.Add({"mm", 4});
  grouped.Add({"", 3});
  const auto rows = grouped.Rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].At("/op"), "null");
  EXPECT_EQ(rows[0].At("/step"), "3");
  EXPECT_EQ(rows[0].At("/stream"), "3");
  EXPECT_EQ(rows[1].At("/op"), "\"mm\"");
  EXPECT_EQ(rows[1].At("/step"), "null");
  EXPECT_EQ(rows[2].At("/op"), "null");
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
  EXPECT_EQ(grouped.Column("layer"), (Texts{"a:b", "b"}));
  EXPECT_EQ(grouped.Column("total"), (Texts{"5", "2"}));
}

/// An op of one product of the kind that has this key.
ops::PricedOp OpWithSize(std::string_view key) {
  ops::PricedOp op;
  ops::MatrixProduct& product = op.product.emplace();
  product.extents = {{"M", 1}, {"N", 2}, {"K", 3}};
  if (key.starts_with("conv_")) {
    product.kind = ops::MatrixProduct::Kind::kConvolution;
    product.sizes = {{key, 4}};
    product.stride = {2, 2};
  } else if (key == "heads" || key == "sq" || key == "sk" || key == "head_dim" || key == "causal") {
    product.kind = ops::MatrixProduct::Kind::kAttention;
    product.sizes = {{key, 4}};
  }
  return op;
}

TEST(SummaryTest, EveryKeyGroups) {
  Epochs epochs;
  KernelFactsCache names(&epochs, nullptr);
  for (const std::string_view key : kGroupKeys) {
    const ops::PricedOp sized = OpWithSize(key);
    Grouped grouped(key);
    KernelRecord first = test::PlainRecord();
    first.range = {"epoch 1", "batch"};
    first.rank = "0";
    KernelRecord second = test::PlainRecord();
    second.stream_id = 9;
    second.device_id = 1;
    second.short_name = "other_kernel";
    second.long_name = "void other_kernel<NegFunctor<float> >(float*)";
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
      row.params = record == &first ? "M=1" : "M=2";
      if (record == &first) {
        row.price = &sized;
        row.extents = sized.product->extents;
        row.op_layout = "TN";
      }
      row.layer = copy.layer;
      row.phase = record == &first ? Phase::kForward : Phase::kOptimizer;
      row.shapes = record == &first ? "(2,3)" : "(2,4)";
      row.dtype = record == &first ? "fp16" : "fp32";
      row.share.role = record == &first ? ops::Role::kMain : ops::Role::kReduce;
      grouped.summary()->Add(row);
    }
    EXPECT_EQ(grouped.summary()->group_count(), 2u) << key;
    EXPECT_EQ(grouped.Column("count"), (Texts{"2", "1"})) << key;
  }
}

TEST(SummaryTest, SortsByAnyColumn) {
  Grouped grouped("op");
  grouped.Add({"b", 10, 5});
  grouped.Add({"a", 30});
  grouped.Add({"c", 5, 7});
  grouped.Add({"c", 5, 1});
  grouped.Add({"", 1});
  EXPECT_EQ(grouped.Column("op"), (Texts{"a", "b", "c", "null"}));
  EXPECT_EQ(grouped.Column("op", "-total"), (Texts{"null", "b", "c", "a"}));
  EXPECT_EQ(grouped.Column("op", "total:asc"), (Texts{"null", "b", "c", "a"}));
  EXPECT_EQ(grouped.Column("op", "total:desc"), (Texts{"a", "b", "c", "null"}));
  EXPECT_EQ(grouped.Column("op", "count"), (Texts{"c", "a", "b", "null"}));
  // Unknown ones are last in either order.
  EXPECT_EQ(grouped.Column("op", "flops"), (Texts{"c", "b", "a", "null"}));
  EXPECT_EQ(grouped.Column("op", "-flops"), (Texts{"b", "c", "a", "null"}));
  EXPECT_EQ(grouped.Column("op", "op"), (Texts{"a", "b", "c", "null"}));
  EXPECT_EQ(grouped.Column("op", "-op"), (Texts{"c", "b", "a", "null"}));
  EXPECT_EQ(grouped.Column("op", "mean"), (Texts{"a", "b", "c", "null"}));
}

TEST(SummaryTest, TopFoldsTheRest) {
  Grouped grouped("op,stream");
  for (int i = 1; i <= 5; ++i) grouped.Add({std::string(1, static_cast<char>('a' + i)), i * 10, i});
  EXPECT_EQ(grouped.Column("op", "total", 2), (Texts{"f", "e", "(3 more)"}));
  EXPECT_EQ(grouped.Column("total", "total", 2), (Texts{"50", "40", "60"}));
  EXPECT_EQ(grouped.Column("stream", "total", 2), (Texts{"3", "3", "null"}));
  EXPECT_EQ(grouped.Column("flops", "total", 2), (Texts{"5", "4", "6"}));
  EXPECT_EQ(grouped.Column("count", "total", 2), (Texts{"1", "1", "3"}));
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
  EXPECT_EQ(rows[0].At("/op"), "\"(graph replay)\"");
  EXPECT_EQ(rows[0].At("/step"), "null");
  EXPECT_EQ(rows[0].At("/count"), "2");
  EXPECT_EQ(rows[0].At("/total"), "160");
  EXPECT_EQ(rows[0].RealAt("/share"), 80);
  EXPECT_EQ(rows[0].At("/flops"), "null");
  EXPECT_EQ(rows[0].At("/perstep"), "null") << "of two steps";
  EXPECT_EQ(rows[1].RealAt("/perstep"), 30) << "its own step";
  EXPECT_EQ(rows[1].RealAt("/share"), 15) << "of the time with the replays";
  // It is never folded.
  EXPECT_EQ(groups.Column("op", "-total", 1), (Texts{"add", "(1 more)", "(graph replay)"}));
  EXPECT_EQ(groups.Column("op", "total", 1), (Texts{"(graph replay)", "(2 more)"}));
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
  EXPECT_EQ(rows[0].At("/perstep"), "null") << rows[0].At("");
  EXPECT_EQ(rows[1].RealAt("/perstep"), 20) << rows[1].At("");
}

TEST(SummaryTest, AStepThatIsNotNamedHasNoTimeOfItsOwn) {
  Grouped groups("step,op");
  for (int i = 0; i < 5; ++i) {
    groups.Add({.op = "a", .duration_ns = 10, .name = "a"});
    groups.Add({.op = "b", .duration_ns = 20, .name = "b"});
  }
  for (const auto& row : groups.Rows()) EXPECT_EQ(row.At("/perstep"), "null") << row.At("");
}

TEST(SummaryTest, TooManyGroupsCountTogether) {
  Grouped grouped("op", {.groups = 2});
  for (const char* op : {"a", "b", "c", "d", "a", "c"}) grouped.Add({op, 10});
  EXPECT_EQ(grouped.Column("op"), (Texts{"a", "b", "(other)"}));
  EXPECT_EQ(grouped.Column("total"), (Texts{"20", "10", "30"}));
  EXPECT_EQ(grouped.Column("op", "total", 1), (Texts{"a", "(1 more)", "(other)"}));
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
  EXPECT_EQ(rows[0].RealAt("/perstep"), 65.0);  // 50, 60, 70, 80.
  EXPECT_EQ(rows[1].RealAt("/perstep"), 2.0);   // 8, and three times nothing.
  EXPECT_TRUE(grouped.summary()->Notes().empty());
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
  EXPECT_EQ(by_step.Column("perstep", "step"), (Texts{"55.0", "66.0", "77.0", "88.0", "null"}));
  EXPECT_EQ(by_both.Column("perstep", "perstep", 2), (Texts{"80.0", "70.0", "34.0"}))
      << "the others: 50 + 60 and 5 + 6 + 7 + 8 in four steps, and what is of no step";
  EXPECT_EQ(by_step.Column("perstep", "step", 2), (Texts{"55.0", "66.0", "82.5"}));

  Grouped few("step", {.groups = 1});
  few.Add({"mm", 10, {}, {}, 1});
  few.Add({"mm", 20, {}, {}, 2});
  EXPECT_EQ(few.Column("perstep"), (Texts{"10.0", "null"})) << "(other)";
}

TEST(SummaryTest, ARepeatedSequenceIsTheSteps) {
  Grouped grouped("op");
  grouped.Add({"load", 7, {}, {}, {}, {}, "warm_up"});
  for (int i = 0; i < 4; ++i) {
    grouped.Add({"mm", 10 + i, {}, {}, {}, {}, "gemm"});
    grouped.Add({"add", 1, {}, {}, {}, {}, "add"});
    grouped.Add({"mm", 10, {}, {}, {}, {}, "gemm"});
  }
  EXPECT_EQ(grouped.Column("op"), (Texts{"mm", "load", "add"}));
  EXPECT_EQ(grouped.Column("perstep"), (Texts{"21.5", "0.0", "1.0"}));
  ASSERT_EQ(grouped.summary()->Notes().size(), 1u);
  EXPECT_THAT(grouped.summary()->Notes()[0],
              HasSubstr("the last 12 kernels are 4 times the same sequence of 3"));
}

TEST(SummaryTest, NamedStepsGoBeforeRepetition) {
  Grouped grouped("op");
  for (int i = 0; i < 4; ++i) {
    grouped.Add({"mm", 10, {}, {}, i / 2, {}, "gemm"});
    grouped.Add({"add", 1, {}, {}, i / 2, {}, "add"});
  }
  EXPECT_EQ(grouped.Column("perstep"), (Texts{"20.0", "2.0"}));
}

TEST(SummaryTest, HostileNumbersDoNotWrap) {
  Grouped grouped("op");
  for (int i = 0; i < 3; ++i) grouped.Add({"mm", kMax, kMax, kMax});
  const auto rows = grouped.Rows();
  EXPECT_EQ(rows[0].NumberAt("/total"), kMax);
  EXPECT_DOUBLE_EQ(rows[0].RealAt("/flops"), 3.0 * static_cast<double>(kMax));
  EXPECT_EQ(rows[0].RealAt("/share"), 100.0);
}

TEST(SummaryTest, NoKernelsGiveTheHeaderAlone) {
  Grouped grouped("op");
  EXPECT_EQ(grouped.Rows().size(), 0u);
  EXPECT_TRUE(grouped.summary()->Notes().empty());
}

void CheckAGrouping() {
  Grouped grouped("op", {.groups = 6});
  std::map<std::string, int64_t> totals;
  int64_t total = 0;
  int64_t flops = 0;
  const int kernels = test::AnyIn(0, 101);
  for (int i = 0; i < kernels; ++i) {
    const uint8_t op = test::AnyByte();
    const auto duration = test::AnyIn<int64_t>(0, 65536);
    const bool priced = test::AnyBool();
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
  const auto top = test::AnyIn<size_t>(0, 9);
  for (const JsonTree& row : grouped.Rows("total", top)) {
    const auto number_or_zero = [&](const std::string& path) {
      return row.At(path) == "null" ? 0 : row.RealAt(path);
    };
    rows_count += row.NumberAt("/count");
    rows_total += row.NumberAt("/total");
    rows_flops += static_cast<int64_t>(number_or_zero("/flops"));
    share += number_or_zero("/share");
    const std::string op = row.TextAt("/op");
    if (!op.starts_with('(')) Require(row.NumberAt("/total") == totals.at(op));
  }
  Require(rows_count == kernels);
  Require(rows_total == total);
  Require(rows_flops == flops);
  if (total > 0) Require(std::abs(share - 100) < 1e-9);
}

TEST(SummaryProperty, EveryKernelIsInOneGroup) { test::CheckRandomCases(CheckAGrouping); }

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
