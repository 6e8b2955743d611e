#include "prof/gate/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "prof/gate/gate_output.h"
#include "test/gate/made_diff.h"

namespace oplens::prof::gate_test {
namespace {

using test::MadeDiff;
using test::MadeFigure;
using test::MadeScopes;
using testing::ElementsAre;
using testing::HasSubstr;

GateResult Check(std::vector<std::string> expressions, const Diff& diff = MadeDiff(),
                 bool comparable = false) {
  return Gate::Parse(expressions, comparable, MadeScopes()).Check(diff);
}

GateItem One(std::string expression, const Diff& diff = MadeDiff()) {
  return Check({std::move(expression)}, diff).items.front();
}

GateOutcome Outcome(std::string expression, const Diff& diff = MadeDiff()) {
  return One(std::move(expression), diff).outcome;
}

constexpr GateOutcome kHolds = GateOutcome::kHolds;
constexpr GateOutcome kBroken = GateOutcome::kBroken;
constexpr GateOutcome kNoData = GateOutcome::kNoData;

TEST(GateTest, ComparesTheTotal) {
  EXPECT_EQ(Outcome("total>+5%"), kBroken);
  EXPECT_EQ(Outcome("total>+20%"), kHolds);
  EXPECT_EQ(Outcome("total>+2.1ms"), kHolds);
  EXPECT_EQ(Outcome("total>=+2.1ms"), kBroken);
  EXPECT_EQ(Outcome("total>14ms"), kBroken);
  EXPECT_EQ(Outcome("total<14ms"), kHolds);
  EXPECT_EQ(One("total>+5%").message, "12.000 ms -> 14.100 ms, +2.100 ms (+17.5 % of the base)");
  EXPECT_EQ(One("total>13ms").message, "14.100 ms");
}

TEST(GateTest, AddsUpTheRowsThatMatch) {
  // 8 ms -> 11.0004 ms
  EXPECT_EQ(Outcome("op(mm)>+3ms"), kBroken);
  EXPECT_EQ(Outcome("op(mm)>+3.1ms"), kHolds);
  EXPECT_EQ(Outcome("op(mm)>11ms"), kBroken);
  EXPECT_EQ(Outcome("op(m)>+1"), kNoData);
  EXPECT_EQ(Outcome("layer(decoder.*).op(mm)>+37.5%"), kBroken);
  EXPECT_EQ(Outcome("layer(decoder.*).op(mm)>+37.6%"), kHolds);
  // A ratio is that of the sums: 7 of 11 ms.
  EXPECT_EQ(Outcome("op(mm).tc_self_pct<63"), kHolds);
  EXPECT_EQ(Outcome("op(mm).tc_self_pct<64"), kBroken);
  // Names as they are printed.
  EXPECT_EQ(Outcome("op(copy_op)>+0"), kBroken);
  EXPECT_EQ(Outcome("layer(unknown)>+0"), kBroken);
  EXPECT_EQ(Outcome("op(mm).device_self_ns<=11.0004ms"), kBroken);
}

TEST(GateTest, ListsTheRowsThatCountMost) {
  const GateItem item = One("operators>+1ms");
  EXPECT_EQ(item.outcome, kBroken);
  std::vector<std::string> names;
  for (const GateRow& row : item.rows) names.push_back(row.name);
  EXPECT_THAT(names,
              ElementsAre("layer=decoder.0 op=mm shape=[8, 8]", "layer=head op=add shape=[8, 8]",
                          "op=copy op shape=[8, 8]", "layer=decoder.1 op=mm shape=[8, 8]"));
}

TEST(GateTest, NoiseIsNoChange) {
  EXPECT_EQ(Outcome("layer(decoder.1)>+0"), kHolds);
  EXPECT_EQ(Outcome("layer(decoder.1)<-0"), kHolds);
  EXPECT_THAT(One("layer(decoder.1)>+0").message, HasSubstr("within the noise"));
  // A change that is asked for is not there.
  EXPECT_EQ(Outcome("layer(decoder.1)>-1%"), kBroken);
  // Values are what they are.
  EXPECT_EQ(Outcome("layer(decoder.1)>4ms"), kBroken);
  // Too few steps to say.
  const GateItem unknown = One("op(copy.op)>+5%");
  EXPECT_EQ(unknown.outcome, kBroken);
  EXPECT_THAT(unknown.message, HasSubstr("too few steps"));
}

TEST(GateTest, NewAndRemovedRows) {
  EXPECT_EQ(Outcome("op(add)>+400us"), kBroken);
  EXPECT_EQ(Outcome("op(add)>+1000%"), kBroken);
  EXPECT_EQ(Outcome("op(add)<+1000%"), kHolds);
  EXPECT_EQ(Outcome("op(softmax)<-99%"), kBroken);
  EXPECT_EQ(Outcome("op(softmax)>+0"), kHolds);
  // It has no value in the new run.
  EXPECT_EQ(Outcome("op(softmax)<5ms"), kNoData);
  // What does not add up is unknown, not 0.
  EXPECT_EQ(Outcome("op(add).tc_self_pct<+1"), kNoData);
  EXPECT_EQ(Outcome("op(add).tc_self_pct<90"), kNoData);
}

TEST(GateTest, MatchesTheKeysOfEitherRun) {
  Diff diff = MadeDiff();
  diff.tables[0].rows[0].base_keys = {"old.0", "mm", "[8, 8]"};
  EXPECT_EQ(Outcome("layer(old.0)>+1ms", diff), kBroken);
  EXPECT_EQ(Outcome("layer(decoder.0)>+1ms", diff), kBroken);
}

TEST(GateTest, AnyLooksAtEachRowApart) {
  // 3 ms of 8: the sum of the two.
  EXPECT_EQ(Outcome("any op(mm)>+40%"), kHolds);
  EXPECT_EQ(Outcome("any op(mm).layer(.*)>+40%"), kBroken);
  const GateItem item = One("any op(.*)>+20%");
  EXPECT_EQ(item.outcome, kBroken);
  ASSERT_EQ(item.rows.size(), 2u);
  EXPECT_EQ(item.rows[0].name, "op=mm");
  EXPECT_EQ(item.rows[1].name, "op=add");
  EXPECT_THAT(item.message, HasSubstr("2 of 4 rows"));
  EXPECT_EQ(Outcome("any operators.tc_self_pct<50"), kBroken);
  EXPECT_THAT(One("any operators.tc_self_pct<10").message, HasSubstr("3 have no value"));
  EXPECT_EQ(Outcome("any layer(head).tc_self_pct<50"), kNoData);
}

TEST(GateTest, RowsThatStandForOthersAreNotCounted) {
  EXPECT_EQ(Outcome("gpu.busy_ns>150"), kHolds);
  EXPECT_EQ(Outcome("gpu.busy_pct<60"), kBroken);
  EXPECT_EQ(Outcome(R"(device(\(all\)).busy_pct<60)"), kHolds);
  EXPECT_EQ(Outcome("gpu.busy_pct<-10"), kBroken);
  EXPECT_EQ(Outcome("gpu.busy_pct<-10%"), kBroken);
  EXPECT_EQ(Outcome("gpu.busy_pct<-20"), kHolds);
  EXPECT_EQ(Outcome("gpu.busy_pct<-21%"), kBroken);
}

TEST(GateTest, ARowMayStandForAFigure) {
  EXPECT_EQ(Outcome("overview(comm_ns)>+40%"), kBroken);
  EXPECT_EQ(Outcome("overview.comm>+60%"), kHolds);
  EXPECT_EQ(Outcome("overview.busy_pct<5"), kNoData);
}

TEST(GateTest, WithoutDataNothingHolds) {
  const GateItem view = One("critical-path>+1");
  EXPECT_EQ(view.outcome, kNoData);
  EXPECT_EQ(view.message, "the diff does not hold critical-path");
  EXPECT_EQ(One("memory.peak>+0").message,
            "memory has no rows; memory: the profile holds no allocations");
  EXPECT_EQ(One("op(conv.*)>+0").message,
            "no row of operators matches; values of op: mm, add, softmax, ...");
  EXPECT_THAT(One("op(mm).p95>+0").message, HasSubstr("cannot be had together"));
  EXPECT_EQ(Outcome("layer(decoder.0).op(mm).p95>+0"), kBroken);
  Diff diff = MadeDiff();
  diff.tables[0].keys[0].key = "module";
  EXPECT_EQ(One("layer(x)>+0", diff).message, "the diff of operators has no key 'layer'");
  diff.total = {};
  EXPECT_EQ(Outcome("total>+0", diff), kNoData);
  diff.total = MadeFigure({}, 5);
  EXPECT_EQ(Outcome("total>+0", diff), kNoData);
  EXPECT_EQ(Outcome("total>4", diff), kBroken);
}

TEST(GateTest, OneRunHasValuesAndNoChanges) {
  Diff diff = MadeDiff();
  diff.base_name.clear();
  for (DiffTable& table : diff.tables) {
    for (DiffRow& row : table.rows) {
      for (Figure& figure : row.figures) figure.base.reset();
    }
  }
  EXPECT_EQ(Outcome("gpu.busy_pct<60", diff), kBroken);
  EXPECT_EQ(Outcome("op(mm)>+0", diff), kNoData);
  EXPECT_THAT(One("total>+0", diff).message, HasSubstr("a change needs a base"));
  const auto needs = [](std::vector<std::string> texts) {
    return Gate::Parse(texts, false, MadeScopes()).needs_base();
  };
  EXPECT_FALSE(needs({"gpu.busy_pct<60"}));
  EXPECT_TRUE(needs({"gpu.busy_pct<60", "total>+0"}));
}

TEST(GateTest, NoDataWinsOverBroken) {
  EXPECT_EQ(Check({"total>+50%"}).exit_code(), 0);
  EXPECT_EQ(Check({"memory.peak>+0", "total>+50%"}).exit_code(), 4);
  EXPECT_EQ(Check({"memory.peak>+0", "total>+5%"}).exit_code(), 4);
  EXPECT_EQ(Check({"total>+5%"}).exit_code(), 5);
}

TEST(GateTest, RunsThatCannotBeCompared) {
  const GateResult result = Check({}, MadeDiff(), true);
  EXPECT_EQ(result.exit_code(), 4);
  EXPECT_EQ(result.items.front().message, "the runs cannot be compared: gpu: A100 -> H100");
  Diff alike = MadeDiff();
  alike.differences.front().decides = false;
  EXPECT_EQ(Check({}, alike, true).exit_code(), 0);
  EXPECT_EQ(Check({"total>+5%"}, MadeDiff(), true).exit_code(), 4);
}

TEST(GateTest, LostDataIsNoPassAndNoFailure) {
  Diff diff = MadeDiff();
  diff.lost = "the new run lost data (file-cut 1)";
  for (const char* expression : {"total>+5%", "total>+50%"}) {
    const GateResult result = Check({expression}, diff);
    EXPECT_EQ(result.exit_code(), 4);
    EXPECT_EQ(result.items.front().expression, kWholeData);
    EXPECT_EQ(GateText(result, "prof").substr(0, 101),
              "prof: no data: whole-data: neither pass nor fail would mean anything: the new run "
              "lost data (file-cut");
    EXPECT_EQ(result.items.size(), 2U);
  }
  EXPECT_EQ(Check({}, diff, true).exit_code(), 4);
}

TEST(GateTest, NamesTheViewsThatItNeeds) {
  const std::vector<std::string> texts = {"total>1", "op(mm)>1", "gpu.busy_pct<6", "layer(a)>1"};
  EXPECT_THAT(Gate::Parse(texts, false, MadeScopes()).views(), ElementsAre("operators", "gpu"));
}

TEST(GateTest, SaysWhatBrokeIt) {
  const std::string text = GateText(Check({"total>+50%", "op(mm)>+3ms", "memory.peak>+0"}), "prof");
  EXPECT_EQ(text,
            "prof: broken: op(mm)>+3ms: 8.000 ms -> 11.000 ms, +3.000 ms (+37.5 % of the base)\n"
            "prof:   layer=decoder.0 op=mm shape=[8, 8]: 4.000 ms -> 7.000 ms\n"
            "prof:   layer=decoder.1 op=mm shape=[8, 8]: 4.000 ms -> 4.000 ms\n"
            "prof: no data: memory.peak>+0: memory has no rows; memory: the profile holds no "
            "allocations\n");
}

/// Keeps the texts of rows.
class TextSink : public Sink {
 public:
  void Begin(std::string_view, std::vector<Field> fields) override { fields_ = std::move(fields); }
  void Row(std::span<const Cell> cells) override {
    ASSERT_EQ(cells.size(), fields_.size());
    std::vector<std::string> texts;
    std::string scratch;
    for (size_t i = 0; i < cells.size(); ++i) {
      texts.emplace_back(CellText(fields_[i], cells[i], &scratch));
      scratch.clear();
    }
    rows.push_back(std::move(texts));
  }
  std::vector<std::vector<std::string>> rows;

 private:
  std::vector<Field> fields_;
};

TEST(GateTest, MakesATable) {
  TextSink sink;
  sink.Begin("gate", {GateFields().begin(), GateFields().end()});
  EmitGate(Check({"total>+5%", "op(add)>+0", "memory.peak>+0"}), &sink);
  ASSERT_EQ(sink.rows.size(), 4u);
  EXPECT_THAT(sink.rows[0],
              ElementsAre("total>+5%", "broken", "(all)", "", "total", "ns", "12000000.000",
                          "14100000.000", "2100000.000", "17.500", "1000.000", "changed",
                          "12.000 ms -> 14.100 ms, +2.100 ms (+17.5 % of the base)"));
  EXPECT_EQ(sink.rows[2][2], "layer=head op=add shape=[8, 8]");
  EXPECT_EQ(sink.rows[2][6], "");
  EXPECT_THAT(sink.rows[3],
              ElementsAre("memory.peak>+0", "no-data", "(all)", "memory", "peak_bytes", "B", "", "",
                          "", "", "", "", HasSubstr("memory has no rows")));
}

TEST(GateTest, RowsThatLackKeysOrFiguresDoNoHarm) {
  Diff diff = MadeDiff();
  diff.tables[0].rows.push_back({{"a"}, {}, {}});
  diff.tables[0].rows.push_back({{}, {"old", "gone", ""}, diff.tables[0].rows[0].figures});
  diff.tables[1].rows.push_back({{"comm"}, {}, {}});
  for (const char* text : {"any op(.*)>+0", "operators>+0", "layer(a)>+0", "op(gone)>+0",
                           "overview(comm_ns)>+0", "any overview.comm>+0"}) {
    EXPECT_FALSE(One(text, diff).message.empty()) << text;
  }
}

TEST(GateTest, KeepsAtMostSoManyRows) {
  Diff diff = MadeDiff();
  diff.tables[0].rows.assign(200, diff.tables[0].rows.front());
  const GateItem item = One("op(mm)>+0", diff);
  EXPECT_EQ(item.rows.size() + item.more_rows, 200u);
  EXPECT_LE(item.rows.size(), 50u);
  EXPECT_THAT(GateText(Check({"op(mm)>+0"}, diff), "prof"), HasSubstr("and 195 more rows"));
}

}  // namespace
}  // namespace oplens::prof::gate_test
