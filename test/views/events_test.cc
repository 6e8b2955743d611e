#include "prof/views/calls/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "prof/compat/torch/views.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/views/made_run.h"

namespace oplens::prof::events_test {
namespace {

using test::MadeRun;
using test::ViewRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Rows = std::map<std::string, ViewRow>;

const View& kView = kEventsView;

Rows ByName(const std::vector<ViewRow>& rows) {
  Rows by_name;
  for (const ViewRow& row : rows) by_name[row.at("name")] = row;
  return by_name;
}

void Call(MadeRun* made, const char* name, int64_t start_ns, int64_t end_ns,
          ThreadIndex thread = 0) {
  made->AddRange(name, start_ns, end_ns, RangeKind::kOperator, thread);
}

MemoryEvent& AddMemory(MadeRun* made, int64_t time_ns, int64_t size_bytes, int32_t device) {
  MemoryEvent& event = made->trace.memory_events.emplace_back();
  event.time_ns = time_ns;
  event.size_bytes = size_bytes;
  event.device_id = device;
  return event;
}

// |- linear ---------------| 1000..11000, launches 50
//   |- t -|   |- addmm --|   2000..3000, 5000..9000, launches 700
TEST(EventsTest, Nested) {
  MadeRun made;
  Call(&made, "aten::linear", 1000, 11000);
  Call(&made, "aten::t", 2000, 3000);
  Call(&made, "aten::addmm", 5000, 9000);
  made.AddKernel(20000, 20700, made.AddCall(6000, 6100), "gemm");
  made.AddKernel(21000, 21050, made.AddCall(10000, 10100), "bias");
  made.AddCopy(22000, 22030);
  Rows rows = ByName(made.RowsOf(kEventsView.make));
  ASSERT_EQ(rows.size(), 6u);
  ViewRow& linear = rows["aten::linear"];
  EXPECT_EQ(linear["kind"], "call");
  EXPECT_EQ(linear["calls"], "1");
  EXPECT_EQ(linear["host_self_ns"], "5000");
  EXPECT_EQ(linear["host_total_ns"], "10000");
  EXPECT_EQ(linear["device_self_ns"], "50");
  EXPECT_EQ(linear["device_total_ns"], "750");
  EXPECT_EQ(linear["host_total_bytes"], "");
  ViewRow& gemm = rows["gemm"];
  EXPECT_EQ(gemm["kind"], "device");
  EXPECT_EQ(gemm["host_self_ns"], "");
  EXPECT_EQ(gemm["device_self_ns"], "700");
  EXPECT_EQ(gemm["device_total_ns"], "700");
  EXPECT_EQ(rows["aten::t"]["device_total_ns"], "0");
  EXPECT_EQ(rows.count("Memcpy "), 1u) << "of a kind that the trace does not tell";
}

// Unlike a row of `operators`, the whole time of a call inside another of its name counts again.
TEST(EventsTest, RecursionCountsAgain) {
  MadeRun made;
  Call(&made, "f", 0, 10000);
  Call(&made, "f", 1000, 7000);
  Call(&made, "g", 8000, 9000);
  made.AddKernel(20000, 20010, made.AddCall(2000, 2100));
  Rows rows = ByName(made.RowsOf(kEventsView.make));
  EXPECT_EQ(rows["f"]["calls"], "2");
  EXPECT_EQ(rows["f"]["host_total_ns"], "16000");
  EXPECT_EQ(rows["f"]["host_self_ns"], "9000");
  EXPECT_EQ(rows["f"]["device_self_ns"], "10");
  EXPECT_EQ(rows["f"]["device_total_ns"], "20");
}

// a holds b and c, which cross: they cover 7000 of it, but are 9000 long.
TEST(EventsTest, WhatCrossesIsCoveredOnceByOurRules) {
  MadeRun made;
  Call(&made, "a", 0, 10000);
  Call(&made, "b", 1000, 5000);
  Call(&made, "c", 3000, 8000);
  EXPECT_EQ(ByName(made.RowsOf(kEventsView.make))["a"]["host_self_ns"], "3000");
  EXPECT_EQ(ByName(made.RowsOf(MakeTorchEvents<0>))["a"]["host_self_ns"], "1000");
}

TEST(EventsTest, MemoryOfItsThreadOrOfAny) {
  MadeRun made;
  made.AddThread(1, 2);
  Call(&made, "around", 0, 100);
  Call(&made, "inside", 10, 50);
  AddMemory(&made, 20, 512, 0);
  AddMemory(&made, 60, -100, 0);
  AddMemory(&made, 30, 7, -1);
  AddMemory(&made, 40, 9, -1).thread = 1;
  AddMemory(&made, 500, 4096, 0);
  AddMemory(&made, 25, 1 << 20, 0).source = MemorySource::kDriver;
  Rows rows = ByName(made.RowsOf(kEventsView.make));
  EXPECT_EQ(rows["around"]["device_total_bytes"], "412");
  EXPECT_EQ(rows["around"]["device_self_bytes"], "-100");
  EXPECT_EQ(rows["inside"]["device_self_bytes"], "512");
  EXPECT_EQ(rows["inside"]["host_self_bytes"], "7");
  EXPECT_EQ(rows.count("[memory]"), 0u);
  rows = ByName(made.RowsOf(MakeTorchEvents<0>));
  EXPECT_EQ(rows["inside"]["host_self_bytes"], "16");
  EXPECT_EQ(rows["[memory]"]["calls"], "1");
  EXPECT_EQ(rows["[memory]"]["device_self_bytes"], "4096");
}

TEST(EventsTest, RanksMergeAndStandAlone) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 2; ++rank) {
    test::KinetoBuilder builder;
    test::KinetoOperator op;
    op.name = "aten::mm";
    op.start_ns = 5000 * rank;
    op.duration_ns = 1000 + rank;
    builder.AddOperator(op);
    op.name = rank == 0 ? "aten::add" : "aten::sub";
    op.start_ns += 2000;
    builder.AddOperator(op);
    builder.Launch({}, op.start_ns + 100);
    builder.AddMember("distributedInfo", "{\"rank\": " + std::to_string(rank) + "}");
    const std::filesystem::path path = test::TestDir() / ("rank" + std::to_string(rank) + ".json");
    builder.Write(path);
    paths.push_back(path.string());
  }
  const std::vector<std::string> back = {paths[1], paths[0]};
  for (const View* view : {&test::ViewNamed("events"), &test::ViewBy("torch", "events"),
                           &test::ViewBy("torch-legacy", "events")}) {
    EXPECT_EQ(test::RowsOf(*test::PartialOf(*view, paths)),
              test::RowsOf(*test::PartialOf(*view, back)));
    EXPECT_EQ(test::PartialOf(*view, paths)->Document(), test::PartialOf(*view, back)->Document());
  }
  Rows rows = ByName(test::RowsOf(*test::PartialOf(kView, paths)));
  EXPECT_EQ(rows["aten::mm"]["host_total_ns"], "2001");
  EXPECT_EQ(rows["kernel"]["calls"], "2");
  const auto by_rank = test::PartialOf(test::ViewBy("torch", "events"), paths, {.by = {"rank"}});
  EXPECT_EQ(test::RowsOf(*by_rank).size(), 6u);
  EXPECT_THAT(by_rank->Document(), HasSubstr("=\nrank 0\n-"));
  EXPECT_THAT(by_rank->Document(), HasSubstr("=\nrank 1\n-"));
}

TEST(EventsTest, RecordsAndProfilesWithoutCallsSayWhatIsMissing) {
  const auto partial = kEventsView.make({});
  partial->Begin(nullptr);
  partial->End(nullptr);
  EXPECT_THAT(partial->Notes(), ElementsAre(HasSubstr("give the profile itself")));
  EXPECT_THAT(test::RowsOf(*partial), IsEmpty());
  MadeRun made;
  made.AddKernel(0, 10);
  const auto of_kernels = made.PartialOf(kEventsView.make, [](PricedKernel*) {});
  EXPECT_THAT(of_kernels->Notes(), ElementsAre(HasSubstr("recorded no calls")));
}

TEST(EventsTest, WordsOfBy) {
  const auto make = [](auto make_events, const std::string& word) { make_events({.by = {word}}); };
  EXPECT_NO_THROW(make(kEventsView.make, "shape"));
  EXPECT_NO_THROW(make(MakeTorchEvents<0>, "stack"));
  EXPECT_NO_THROW(make(MakeTorchLegacyEvents, "rank"));
  EXPECT_NO_THROW(make(MakeTorchLegacyEvents, "call"));
  EXPECT_THROW(make(MakeTorchLegacyEvents, "shape"), UsageError);
  EXPECT_THROW(make(MakeTorchEvents<0>, "call"), UsageError);
  EXPECT_THROW(make(kEventsView.make, "total"), UsageError);
  EXPECT_THROW(make(kEventsView.make, "layer"), UsageError);
  EXPECT_THROW(MakeTorchLegacyEvents({.by = {"call", "total"}}), UsageError);
}

MadeRun* LegacyRun(MadeRun* made) {
  Call(made, "mul", 1000, 3500);
  Call(made, "add", 4000, 7250);
  Call(made, "mul", 5000, 6500);
  made->AddKernel(9000, 9700, made->AddCall(5100, 5200));
  made->AddKernel(9800, 10000, made->AddCall(4100, 4200));
  return made;
}

std::string LegacyText(const std::vector<std::string>& by, const std::string& sort = {},
                       size_t top = 0) {
  MadeRun made;
  const ViewOptions options = {.by = by, .sort = sort, .top = top};
  return LegacyRun(&made)
      ->PartialOf(
          MakeTorchLegacyEvents, [](PricedKernel*) {}, options)
      ->Document();
}

// A kernel counts in every call around its launch.
TEST(EventsTest, LegacyTables) {
  EXPECT_EQ(
      LegacyText({"call"}),
      "-------  ---------------  ---------------  ---------------  ---------------  "
      "---------------\n"
      "Name            CPU time        CUDA time            Calls        CPU total       CUDA "
      "total\n"
      "-------  ---------------  ---------------  ---------------  ---------------  "
      "---------------\n"
      "mul              2.500us          0.000us                1          2.500us          "
      "0.000us\n"
      "add              3.250us          0.900us                1          3.250us          "
      "0.900us\n"
      "mul              1.500us          0.700us                1          1.500us          "
      "0.700us\n");
  EXPECT_THAT(LegacyText({}),
              HasSubstr("\nmul              2.000us          0.350us                2          "
                        "4.000us          0.700us\n"
                        "add              3.250us          0.900us                1          "
                        "3.250us          0.900us\n"));
  EXPECT_THAT(LegacyText({"total"}),
              HasSubstr("\nTotal              2.417us          0.533us                3          "
                        "7.250us          1.600us\n"));
}

TEST(EventsTest, LegacyTablesSortUpwards) {
  const auto order = [](const std::string& sort, size_t top = 0) {
    const std::string text = LegacyText({}, sort, top);
    const size_t mul = text.find("\nmul");
    const size_t add = text.find("\nadd");
    return mul < add ? "mul" : "add";
  };
  EXPECT_EQ(order("cpu_time"), "mul");        // 2.0, 3.25
  EXPECT_EQ(order("cuda_time"), "mul");       // 0.35, 0.9
  EXPECT_EQ(order("cpu_time_total"), "add");  // 4.0, 3.25
  EXPECT_EQ(order("cuda_time_total"), "mul");
  EXPECT_EQ(order("count"), "add");
  EXPECT_THAT(LegacyText({}, "count", 1), Not(HasSubstr("mul")));
  EXPECT_EQ(test::ViewBy("torch-legacy", "events").sort_words.size(), 5u);
  EXPECT_EQ(test::ViewBy("torch-1.13", "events").sort_words.size(), 11u);
  EXPECT_EQ(test::ViewBy("torch", "events").sort_words.size(), 26u);
  EXPECT_THAT(test::ViewNamed("events").sort_words, IsEmpty());
}

TEST(EventsTest, NothingIsAnEmptyDocument) {
  for (const auto make : {MakeTorchEvents<0>, MakeTorchLegacyEvents}) {
    EXPECT_EQ(make({})->Document(), "");
    EXPECT_TRUE(make({})->IsDocument());
  }
  EXPECT_FALSE(kEventsView.make({})->IsDocument());
}

// Texts that are no texts, and numbers out of bounds.
TEST(EventsTest, HostileNames) {
  EventRow row;
  row.name = "a\nb\x1b[31m\xff";
  row.calls = 1;
  row.host_self_ns = INT64_MIN;
  row.host_total_ns = INT64_MAX;
  row.device_self_bytes = INT64_MIN;
  const std::vector<EventRow> rows = {row, row};
  const std::string text = TorchTable(rows, {true, 100, "x\ny"});
  EXPECT_THAT(text, HasSubstr("a_b_[31m\xEF\xBF\xBD"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(TorchLegacyTable(rows, ""), HasSubstr("a_b_[31m\xEF\xBF\xBD"));
}

TEST(EventsTest, TimesOutOfBounds) {
  MadeRun made;
  Call(&made, "whole", INT64_MIN, INT64_MAX - 1);
  Call(&made, "back", 100, 50);
  Call(&made, "part", -5, INT64_MAX - 1);
  made.AddKernel(0, INT64_MAX, made.AddCall(10, 20));
  made.AddKernel(0, INT64_MAX, made.AddCall(10, 20));
  AddMemory(&made, INT64_MIN, INT64_MAX, 0);
  AddMemory(&made, INT64_MAX, INT64_MIN, 0);
  for (const auto make : {kEventsView.make, MakeTorchEvents<0>, MakeTorchLegacyEvents}) {
    const auto partial = made.PartialOf(make, [](PricedKernel*) {});
    EXPECT_FALSE(test::RowsOf(*partial).empty());
    partial->Document();
  }
}

// By our rules the rows of calls are those of `operators`, whatever happened.
RC_GTEST_PROP(EventsProperty, SelfTimesAreThoseOfOperators, ()) {
  MadeRun made;
  made.AddThread(1, 2);
  for (int i = *rc::gen::inRange(0, 25); i > 0; --i) {
    const int64_t start_ns = *rc::gen::inRange(0, 60);
    const int64_t end_ns = start_ns + *rc::gen::inRange(-2, 30);
    const auto thread = *rc::gen::inRange<ThreadIndex>(0, 2);
    if (*rc::gen::inRange(0, 3) > 0) {
      Call(&made, *rc::gen::element("a", "b", "c"), start_ns, end_ns, thread);
      continue;
    }
    const LaunchIndex launch = made.AddCall(start_ns, start_ns + 1);
    made.trace.launches[launch].thread = thread;
    made.AddKernel(start_ns, end_ns, *rc::gen::arbitrary<bool>() ? launch : kNoLaunch);
  }
  Rows events;
  int64_t device_ns = 0;
  for (const ViewRow& row : made.RowsOf(kEventsView.make)) {
    if (row.at("kind") == "call") events[row.at("name")] = row;
    if (row.at("kind") == "device") device_ns += std::stoll(row.at("device_self_ns"));
  }
  for (const ViewRow& row : made.RowsOf(kOperatorsView.make)) {
    device_ns -= std::stoll(row.at("device_self_ns"));
    if (row.at("op") == "(unattributed)") continue;
    ViewRow& event = events[row.at("op")];
    RC_ASSERT(event["calls"] == row.at("calls"));
    RC_ASSERT(event["host_self_ns"] == row.at("host_self_ns"));
    RC_ASSERT(event["device_self_ns"] == row.at("device_self_ns"));
  }
  RC_ASSERT(device_ns == 0);
  made.RowsOf(MakeTorchEvents<0>);
  made.RowsOf(MakeTorchLegacyEvents, {.by = {"call"}});
}

}  // namespace
}  // namespace oplens::prof::events_test
