#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/compat/tb/views.h"
#include "prof/views/memory/memory_events.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/views/device_run.h"
#include "test/views/made_memory.h"
#include "test/views/made_run.h"

namespace oplens::prof::memory_ops_test {
namespace {

using test::AddMemory;
using test::MadeRun;
using test::ViewRow;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

const View& kView = kMemoryOpsView;

/// "op: calls increase/self allocations/self allocated/self peak leaked" of each row; "-": unknown.
std::vector<std::string> Texts(const std::vector<ViewRow>& rows) {
  std::vector<std::string> texts;
  for (const ViewRow& row : rows) {
    const auto cell = [&](const std::string& field) {
      return row.at(field).empty() ? std::string("-") : row.at(field);
    };
    texts.push_back(cell("op") + ": " + cell("calls") + " " + cell("size_increase_bytes") + "/" +
                    cell("self_size_increase_bytes") + " " + cell("allocations") + "/" +
                    cell("self_allocations") + " " + cell("allocated_bytes") + "/" +
                    cell("self_allocated_bytes") + " " + cell("peak_bytes") + " " +
                    cell("leaked_bytes"));
  }
  return texts;
}

// |- linear ------------------------------| 1000..5000      |- relu -| 6000..7000
//     |- empty -| 2000..3000
//        +64 2500          +8 4000, -64 4500                  +16 6500         -8 9000
TEST(MemoryOpsTest, Nested) {
  MadeRun made;
  made.AddRange("linear", 1000, 5000, RangeKind::kOperator);
  made.AddRange("empty", 2000, 3000, RangeKind::kOperator);
  made.AddRange("relu", 6000, 7000, RangeKind::kOperator);
  made.AddRange("view", 6100, 6200, RangeKind::kOperator);
  AddMemory({2500, 1, 64}, &made.trace);
  AddMemory({4000, 2, 8}, &made.trace);
  AddMemory({4500, 1, -64}, &made.trace);
  AddMemory({6500, 3, 16}, &made.trace);
  AddMemory({9000, 2, -8}, &made.trace);
  EXPECT_THAT(Texts(made.RowsOf(kMemoryOpsView.make)),
              ElementsAre("empty: 1 64/64 1/1 64/64 64 -", "linear: 1 8/-56 2/1 72/8 8 -",
                          "relu: 1 16/16 1/1 16/16 0 -", "(no operator): - -8/-8 0/0 0/0 0 -"));
}

// What was there before the recording is a row of its own: the rows are what was there at the peak.
TEST(MemoryOpsTest, PeakOfRecordedTotals) {
  MadeRun made;
  made.AddRange("mm", 1000, 5000, RangeKind::kOperator);
  AddMemory({2000, 1, 100, 1100}, &made.trace);
  AddMemory({3000, 9, -50, 1050}, &made.trace);
  EXPECT_THAT(Texts(made.RowsOf(kMemoryOpsView.make)),
              UnorderedElementsAre("mm: 1 50/50 1/1 100/100 100 -",
                                   "(not recorded): - -/- -/- -/- 1000 -"));
}

// f calls itself: what is inside counts once.
TEST(MemoryOpsTest, Recursion) {
  MadeRun made;
  made.AddRange("f", 0, 100, RangeKind::kOperator);
  made.AddRange("g", 10, 90, RangeKind::kOperator);
  made.AddRange("f", 20, 80, RangeKind::kOperator);
  AddMemory({30, 1, 8}, &made.trace);
  AddMemory({95, 2, 4}, &made.trace);
  EXPECT_THAT(Texts(made.RowsOf(kMemoryOpsView.make)),
              ElementsAre("f: 2 12/12 2/2 12/12 12 -", "g: 1 8/0 1/0 8/0 0 -"));
}

TEST(MemoryOpsTest, LeaksAndSteps) {
  MadeRun made;
  made.AddStep(1, 1000, 2000);
  made.AddStep(2, 2000, 3000);
  made.AddRange("mm", 1100, 1900, RangeKind::kOperator);
  made.AddRange("mm", 2100, 2900, RangeKind::kOperator);
  AddMemory({1500, 1, 8}, &made.trace);
  AddMemory({1600, 2, 4}, &made.trace);
  AddMemory({2500, 2, -4}, &made.trace);
  EXPECT_THAT(Texts(made.RowsOf(kMemoryOpsView.make)), ElementsAre("mm: 2 8/8 2/2 12/12 12 8"));
  const auto rows = made.RowsOf(kMemoryOpsView.make, {.by = {"step"}});
  EXPECT_THAT(Texts(rows), ElementsAre("mm: 1 12/12 2/2 12/12 12 8", "mm: 1 -4/-4 0/0 0/0 0 0"));
  EXPECT_EQ(rows[0].at("step"), "1");
  EXPECT_EQ(rows[1].at("step"), "2");
}

TEST(MemoryOpsTest, GpusBeforeTheHost) {
  MadeRun made;
  made.AddRange("few", 0, 100, RangeKind::kOperator);
  made.AddRange("much", 200, 300, RangeKind::kOperator);
  AddMemory({10, 1, 1000}, &made.trace).device_id = -1;
  AddMemory({20, 2, 8}, &made.trace).device_id = 1;
  AddMemory({30, 3, 8}, &made.trace).device_id = 0;
  AddMemory({210, 4, 64}, &made.trace).device_id = 0;
  std::vector<std::string> order;
  for (const ViewRow& row : made.RowsOf(kMemoryOpsView.make)) {
    if (row.at("op") == "few" || row.at("op") == "much") {
      order.push_back(row.at("device") + " " + row.at("op"));
    }
  }
  EXPECT_THAT(order, ElementsAre("GPU0 much", "GPU0 few", "GPU1 few", "CPU few"));
}

TEST(MemoryOpsTest, WithoutAddressesNoOneOwnsThePeak) {
  MadeRun made;
  made.AddRange("mm", 0, 100, RangeKind::kOperator);
  AddMemory({10, 0, 8}, &made.trace);
  EXPECT_THAT(Texts(made.RowsOf(kMemoryOpsView.make)),
              UnorderedElementsAre("mm: 1 8/8 1/1 8/8 - -", "(not recorded): - -/- -/- -/- 8 -"));
}

TEST(MemoryOpsTest, DevicesAndSourcesAreApart) {
  MadeRun made;
  made.AddRange("mm", 0, 100, RangeKind::kOperator);
  AddMemory({.time_ns = 10, .address = 1, .size_bytes = 1}, &made.trace);
  AddMemory({.time_ns = 10, .address = 1, .size_bytes = 2, .device_id = -1}, &made.trace);
  AddMemory({.time_ns = 10, .address = 1, .size_bytes = 4, .source = MemorySource::kDriver},
            &made.trace);
  std::vector<std::string> texts;
  for (const ViewRow& row : made.RowsOf(kMemoryOpsView.make)) {
    texts.push_back(row.at("device") + " " + row.at("source") + " " + row.at("allocated_bytes"));
  }
  EXPECT_THAT(texts, ElementsAre("GPU0 framework 1", "GPU0 driver 4", "CPU framework 2"));
}

TEST(MemoryOpsTest, TakesFourKeys) {
  EXPECT_THROW(kMemoryOpsView.make({.by = {"shape"}}), UsageError);
  EXPECT_THROW(MakeTbMemoryOps({.by = {"layer"}}), UsageError);
  const auto fields = kMemoryOpsView.make({.by = {"rank", "layer", "stack", "step"}})->Fields();
  EXPECT_EQ(fields.size(), kMemoryOpsView.fields().size() + 4);
  EXPECT_EQ(fields[3].key, "rank");
  EXPECT_EQ(fields[4].key, "layer");
}

std::vector<std::string> WriteRanks() {
  std::vector<std::string> paths;
  for (const int rank : {10, 2}) {
    test::KinetoBuilder builder;
    builder.AddMember("distributedInfo", R"({"rank": )" + std::to_string(rank) + "}");
    builder.AddOperator({.name = "aten::mm", .start_ns = 0, .duration_ns = 1000});
    builder.AddInstant(
        "[memory]", 500,
        {{"Device Type", "1"}, {"Device Id", "0"}, {"Addr", "1"}, {"Bytes", std::to_string(rank)}});
    paths.push_back((test::TestDir() / (std::to_string(rank) + ".json")).string());
    builder.Write(paths.back());
  }
  return paths;
}

TEST(MemoryOpsTest, RanksAddUpOrStayApart) {
  const std::vector<std::string> paths = WriteRanks();
  const auto rows = RowsOver(kView, paths);
  EXPECT_THAT(Texts(rows), ElementsAre("aten::mm: 2 12/12 2/2 12/12 12 -"));
  EXPECT_EQ(rows, MergedRows(kView, paths));
  EXPECT_EQ(rows, RowsOver(kView, {paths[1], paths[0]}));
  const auto apart = test::RowsOf(*test::PartialOf(kView, paths, {.by = {"rank"}}));
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].at("rank"), "10");
}

// Releases happen where they happen; f inside f counts again, as the plugin has it; a second g is
// not come to on the way to any event, but its own call counts.
TEST(MemoryOpsTest, TableOfThePlugin) {
  test::KinetoBuilder builder;
  const auto call = [&](const std::string& name, int64_t start_ns, int64_t duration_ns) {
    builder.AddOperator({.name = name, .start_ns = start_ns, .duration_ns = duration_ns});
  };
  call("f", 0, 10'000);
  call("g", 1'000, 8'000);
  call("f", 2'000, 4'000);
  call("g", 20'000, 5'000);
  call("h", 21'000, 1'000);
  const auto event = [&](int64_t time_ns, const std::string& bytes) {
    builder.AddInstant("[memory]", time_ns,
                       {{"Device Type", "0"}, {"Device Id", "-1"}, {"Bytes", bytes}});
  };
  event(3'000, "8");
  event(7'000, "-8");
  event(50'000, "99");
  const auto path = test::TestDir() / "trace.json";
  builder.Write(path);
  EXPECT_THAT(Texts(RowsOver(test::ViewBy("tb", "memory-ops"), {path.string()})),
              ElementsAre("f: 2 8/8 2/1 16/8 - -", "g: 2 0/-8 1/0 8/0 - -"));
}

/// What the rows of both views say of the same events.
RC_GTEST_PROP(MemoryOpsPropertyTest, RowsAreTheEvents, ()) {
  MadeRun made;
  made.AddStep(1, 0, 50);
  made.AddStep(2, 50, 100);
  for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
    const int64_t start_ns = *rc::gen::inRange<int64_t>(0, 100);
    made.AddRange("op" + std::to_string(i % 3), start_ns,
                  start_ns + *rc::gen::inRange<int64_t>(-2, 60), RangeKind::kOperator);
  }
  int64_t allocations = 0;
  int64_t increase = 0;
  for (int i = *rc::gen::inRange(1, 30); i > 0; --i) {
    const int64_t size = *rc::gen::inRange<int64_t>(-4, 5);
    AddMemory({*rc::gen::inRange<int64_t>(0, 120), *rc::gen::inRange<int64_t>(1, 4), size},
              &made.trace);
    allocations += size > 0 ? 1 : 0;
    increase += size;
  }
  const auto number = [](const ViewRow& row, const char* field) {
    return row.at(field).empty() ? 0 : std::stoll(row.at(field));
  };
  const auto events = made.RowsOf(kMemoryEventsView.make);
  std::map<std::string, int64_t> of_events;
  for (const ViewRow& row : events) {
    if (row.at("at_peak") == "yes") of_events["peak"] += number(row, "size_bytes");
    if (row.at("leak") == "yes") of_events["leaked"] += number(row, "size_bytes");
  }
  for (const std::vector<std::string>& by :
       {std::vector<std::string>(), std::vector<std::string>{"step", "layer"}}) {
    std::map<std::string, int64_t> sums;
    for (const ViewRow& row : made.RowsOf(kMemoryOpsView.make, {.by = by})) {
      sums["increase"] += number(row, "self_size_increase_bytes");
      sums["allocations"] += number(row, "self_allocations");
      sums["peak"] += number(row, "peak_bytes");
      sums["leaked"] += number(row, "leaked_bytes");
      RC_ASSERT(number(row, "self_allocations") <= number(row, "allocations"));
      RC_ASSERT(number(row, "self_allocated_bytes") <= number(row, "allocated_bytes"));
    }
    RC_ASSERT(sums["increase"] == increase);
    RC_ASSERT(sums["allocations"] == allocations);
    RC_ASSERT(sums["peak"] == of_events["peak"]);
    RC_ASSERT(sums["leaked"] == of_events["leaked"]);
  }
}

}  // namespace
}  // namespace oplens::prof::memory_ops_test
