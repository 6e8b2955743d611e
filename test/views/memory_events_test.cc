#include "prof/views/memory/memory_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prof/compat/tb/views.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/views/device_run.h"
#include "test/views/made_memory.h"
#include "test/views/made_run.h"

namespace oplens::prof::memory_events_test {
namespace {

using test::AddMemory;
using test::MadeRun;
using test::ViewRow;
using testing::ElementsAre;

const View& kView = kMemoryEventsView;

/// Some fields of each row, joined by blanks; "-" of what is not known.
std::vector<std::string> Texts(const std::vector<ViewRow>& rows,
                               const std::vector<std::string>& fields) {
  std::vector<std::string> texts;
  for (const ViewRow& row : rows) {
    std::string text;
    for (const std::string& field : fields) {
      if (!text.empty()) text += " ";
      text += row.at(field).empty() ? "-" : row.at(field);
    }
    texts.push_back(text);
  }
  return texts;
}

// |- aten::linear ---------------------------| 1000..5000
//     |- aten::empty -| 2000..3000
//        +A 2500          +B 3000: empty is over      -A 4500   -C 6000
TEST(MemoryEventsTest, OwnersAndTimes) {
  MadeRun made;
  made.AddRange("aten::linear", 1000, 5000, RangeKind::kOperator);
  made.AddRange("aten::empty", 2000, 3000, RangeKind::kOperator);
  AddMemory({2500, 0xA, 64}, &made.trace);
  AddMemory({3000, 0xB, 8}, &made.trace);
  AddMemory({4500, 0xA, -64}, &made.trace);
  AddMemory({6000, 0xC, -32}, &made.trace);
  const auto rows = made.RowsOf(kMemoryEventsView.make);
  EXPECT_THAT(Texts(rows, {"op", "around", "size_bytes", "alloc_ns", "free_ns", "duration_ns",
                           "state", "at_peak"}),
              ElementsAre("aten::empty aten::linear 64 1500 3500 2000 freed yes",
                          "aten::linear - 8 2000 - - alive yes", "- - 32 - 5000 - only freed yes"));
  EXPECT_EQ(rows[0].at("address"), "10");
  EXPECT_EQ(rows[0].at("leak"), "") << "no steps";
}

// The API call that took the memory began in the operator, and ended behind it.
TEST(MemoryEventsTest, OwnerOfACallOfTheDriver) {
  MadeRun made;
  made.AddRange("aten::empty", 1000, 2000, RangeKind::kOperator);
  MemoryEvent& event = AddMemory({2500, 1, 64}, &made.trace);
  event.source = MemorySource::kDriver;
  event.launch = made.AddCall(1900, 2600, "cudaMalloc");
  EXPECT_THAT(Texts(made.RowsOf(kMemoryEventsView.make), {"source", "op"}),
              ElementsAre("driver aten::empty"));
}

// What a step took and left behind. The last step left what nothing shows to be left.
TEST(MemoryEventsTest, Leaks) {
  MadeRun made;
  made.AddStep(1, 1000, 2000);
  made.AddStep(2, 2000, 3000);
  AddMemory({500, 1, 1}, &made.trace);
  AddMemory({1500, 2, 2}, &made.trace);
  AddMemory({1600, 3, 4}, &made.trace);
  AddMemory({2500, 3, -4}, &made.trace);
  AddMemory({2600, 4, 8}, &made.trace);
  EXPECT_THAT(Texts(made.RowsOf(kMemoryEventsView.make), {"size_bytes", "step", "state", "leak"}),
              ElementsAre("1 - alive no", "2 1 alive yes", "4 1 freed no", "8 2 alive no"));
}

TEST(MemoryEventsTest, StatesOfOddEvents) {
  MadeRun made;
  AddMemory({10, 1, 100}, &made.trace);
  AddMemory({20, 1, 30}, &made.trace);
  AddMemory({30, 0, 7}, &made.trace);
  EXPECT_THAT(
      Texts(made.RowsOf(kMemoryEventsView.make), {"alloc_ns", "free_ns", "state", "at_peak"}),
      ElementsAre("10 - lost yes", "20 - alive no", "30 - unknown -"));
}

TEST(MemoryEventsTest, LayersAndStacks) {
  test::KinetoBuilder builder;
  builder.AddHost("python_function", "train.py(3): step", 0, 9000);
  builder.AddHost("python_function", "nn.Module: Linear_0", 1000, 7000, 1234,
                  {{"Python module id", "0"}});
  builder.AddOperator({.name = "aten::mm", .start_ns = 2000, .duration_ns = 2000});
  builder.AddInstant("[memory]", 3000,
                     {{"Device Type", "1"}, {"Device Id", "0"}, {"Addr", "1"}, {"Bytes", "8"}});
  const auto path = test::TestDir() / "trace.json";
  builder.Write(path);
  const auto rows = RowsOver(kView, {path.string()});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("layer"), "Linear_0");
  EXPECT_THAT(rows[0].at("stack"), testing::HasSubstr("train.py"));
}

// By address alone; the last release of an address that was never taken stays.
TEST(MemoryEventsTest, PairsOfThePlugin) {
  MadeRun made;
  AddMemory({10, 1, 100}, &made.trace);
  AddMemory({20, 1, 30}, &made.trace);
  AddMemory({30, 1, -30, kUnknownId, kUnknownId, 1}, &made.trace);
  AddMemory({40, 2, -5}, &made.trace);
  AddMemory({50, 2, -6}, &made.trace);
  AddMemory({60, 3, 7}, &made.trace);
  AddMemory({70, 0, 7}, &made.trace);
  const auto rows = made.RowsOf(MakeTbMemoryEvents);
  EXPECT_THAT(Texts(rows, {"device", "op", "size_bytes", "alloc_ns", "free_ns", "state"}),
              ElementsAre("GPU0 <unknown> 30 20 30 freed", "GPU0 <unknown> 6 - 50 only freed",
                          "GPU0 <unknown> 7 60 - alive"));
}

TEST(MemoryEventsTest, OwnersOfThePlugin) {
  test::KinetoBuilder builder;
  builder.AddOperator({.name = "aten::zeros", .start_ns = 1000, .duration_ns = 4000});
  builder.AddOperator({.name = "aten::empty", .start_ns = 2000, .duration_ns = 1000});
  builder.AddOperator({.name = "aten::empty", .start_ns = 7000, .duration_ns = 1000});
  const auto take = [&](int64_t time_ns, const std::string& address) {
    builder.AddInstant(
        "[memory]", time_ns,
        {{"Device Type", "0"}, {"Device Id", "-1"}, {"Addr", address}, {"Bytes", "8"}});
  };
  take(2500, "1");
  take(3500, "2");
  take(6000, "3");
  take(7500, "4");
  const auto path = test::TestDir() / "trace.json";
  builder.Write(path);
  EXPECT_THAT(Texts(RowsOver(test::ViewBy("tb", "memory-events"), {path.string()}), {"op"}),
              ElementsAre("aten::zeros (aten::empty)", "aten::zeros", "<unknown>",
                          "CallTreeRoot (aten::empty)"));
}

TEST(MemoryEventsTest, RanksInAnyOrderOfFiles) {
  std::vector<std::string> paths;
  for (const int rank : {10, 2}) {
    test::KinetoBuilder builder;
    builder.AddMember("distributedInfo", R"({"rank": )" + std::to_string(rank) + "}");
    builder.AddOperator(
        {.name = "my::op" + std::to_string(rank), .start_ns = 0, .duration_ns = 10});
    for (const char* address : {"1", "2"}) {
      builder.AddInstant(
          "[memory]", 5,
          {{"Device Type", "1"}, {"Device Id", "0"}, {"Addr", address}, {"Bytes", "8"}});
    }
    paths.push_back((test::TestDir() / (std::to_string(rank) + ".json")).string());
    builder.Write(paths.back());
  }
  const auto rows = RowsOver(kView, paths);
  EXPECT_THAT(Texts(rows, {"rank", "op", "address"}),
              ElementsAre("2 my::op2 1", "2 my::op2 2", "10 my::op10 1", "10 my::op10 2"));
  EXPECT_EQ(rows, RowsOver(kView, {paths[1], paths[0]}));
  EXPECT_EQ(rows, MergedRows(kView, paths));
}

}  // namespace
}  // namespace oplens::prof::memory_events_test
