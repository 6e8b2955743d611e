#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "parse/model/reason.h"
#include "prof/compat/compat.h"
#include "prof/views/kernels/summary.h"
#include "prof/views/view_plan.h"
#include "prof/views/views.h"
#include "test/prof/rows.h"
#include "test/support/view_rows.h"

namespace oplens::prof::groups_test {
namespace {

using test::RowsOf;
using test::ViewRow;
using testing::ElementsAre;
using testing::HasSubstr;

KernelRecord RecordOf(const char* name, int64_t duration_ns, std::optional<int64_t> step = {}) {
  KernelRecord record = test::PlainRecord();
  record.short_name = name;
  record.duration_ns = duration_ns;
  record.step = step;
  return record;
}

std::unique_ptr<Partial> GroupsOf(const std::vector<KernelRecord>& records,
                                  const ViewOptions& options = {}) {
  auto partial = kGroupsView.make(options);
  partial->Begin(nullptr);
  for (const KernelRecord& record : records) {
    PricedKernel kernel;
    kernel.record = &record;
    partial->Add(kernel);
  }
  partial->End(nullptr);
  return partial;
}

std::vector<std::string> Values(const Partial& partial, const char* key) {
  std::vector<std::string> values;
  for (const ViewRow& row : RowsOf(partial)) values.push_back(row.at(key));
  return values;
}

/// Whoever takes no more rows than these has no use for any of more.
TEST(GroupsTest, TooManyBySteps) {
  std::vector<KernelRecord> records;
  for (const int64_t step : {1, 2, 3}) {
    for (const char* name : {"a", "b"}) records.push_back(RecordOf(name, 5, step));
  }
  const auto groups = [&](size_t most_rows) {
    return GroupsOf(records, {.by = {"kernel", "step"}, .most_rows = most_rows});
  };
  EXPECT_EQ(Values(*groups(6), "count"), std::vector<std::string>(6, "1"));
  EXPECT_EQ(Values(*groups(5), "count").size(), 6u);
  EXPECT_EQ(Values(*groups(1), "count").size(), 2u);
  EXPECT_THAT(groups(1)->Notes(), testing::Not(testing::Contains(HasSubstr("(other)"))));
  const auto other = groups(5);
  const auto merged = groups(6);
  merged->Merge(*other);
  EXPECT_EQ(Values(*merged, "kernel").size(), 7u);
}

TEST(GroupsTest, ByKernelUnlessAskedOtherwise) {
  const auto groups = GroupsOf({RecordOf("a", 5), RecordOf("b", 20), RecordOf("a", 7)});
  EXPECT_THAT(Values(*groups, "kernel"), ElementsAre("b", "a"));
  EXPECT_THAT(Values(*groups, "total"), ElementsAre("20", "12"));
  EXPECT_THAT(Values(*groups, "count"), ElementsAre("1", "2"));
  const auto by_stream = GroupsOf({RecordOf("a", 5), RecordOf("b", 20)}, {.by = {"stream"}});
  EXPECT_THAT(Values(*by_stream, "total"), ElementsAre("25"));
}

TEST(GroupsTest, ManyTogetherHaveTheRowsOfEachAlone) {
  // Of named steps, of a repetition, and of neither.
  for (const int64_t kind : {0, 1, 2}) {
    constexpr std::string_view names[] = {"step 0", "step 1", "step 2",
                                          "step 3", "step 4", "step 5"};
    std::vector<KernelRecord> records;
    for (int64_t i = 0; i < 60; ++i) {
      const bool is_named = kind == 0 && i > 3;
      KernelRecord record = RecordOf(i % 3 == 0 ? "a" : "b", 10 + i * i % 17,
                                     is_named ? std::optional(i / 10) : std::nullopt);
      record.stream_id = i % 3 == 2 ? 7 : 1;
      record.grid = {i % 3 + 1, 1, 1};
      if (i % 4 != 3)
        record.range = {i % 2 == 0 ? names[i / 10] : std::string_view("same"), "inner"};
      if (kind == 2) record.short_name = i * i % 11 < 5 ? "a" : "c";
      if (i % 20 == 5) record.reasons.Add(Reason::kUntimed);
      records.push_back(record);
    }
    const std::vector<ViewOptions> options = {{},
                                              {.by = {"kernel", "step"}},
                                              {.by = {"stream"}},
                                              {.by = {"grid"}},
                                              {.by = {"device", "step"}},
                                              {.by = {"range"}},
                                              {.by = {"step", "range", "kernel"}}};
    const auto together = kGroupsView.make_together(options);
    for (const auto& partial : together) partial->Begin(nullptr);
    for (const KernelRecord& record : records) {
      PricedKernel kernel;
      kernel.record = &record;
      for (const auto& partial : together) partial->Add(kernel);
    }
    for (const auto& partial : together) partial->End(nullptr);
    for (size_t i = 0; i < options.size(); ++i) {
      const auto alone = GroupsOf(records, options[i]);
      EXPECT_FALSE(RowsOf(*alone).empty());
      EXPECT_EQ(RowsOf(*together[i]), RowsOf(*alone)) << kind << " " << i;
      EXPECT_EQ(together[i]->Notes(), alone->Notes()) << kind << " " << i;
    }
  }
}

TEST(GroupsTest, RanksMergeInAnyOrder) {
  const std::vector<KernelRecord> first = {RecordOf("a", 5, 1), RecordOf("b", 20, 2)};
  const std::vector<KernelRecord> second = {RecordOf("c", 1, 2), RecordOf("a", 40, 3)};
  auto ab = GroupsOf(first);
  ab->Merge(*GroupsOf(second));
  auto ba = GroupsOf(second);
  ba->Merge(*GroupsOf(first));
  std::vector<KernelRecord> all = first;
  all.insert(all.end(), second.begin(), second.end());
  const auto together = GroupsOf(all);
  EXPECT_EQ(RowsOf(*ab), RowsOf(*together));
  EXPECT_EQ(RowsOf(*ba), RowsOf(*together));
  EXPECT_THAT(Values(*ab, "total"), ElementsAre("45", "20", "1"));
  EXPECT_THAT(Values(*ab, "perstep"),
              ElementsAre("15", "6.666666666666667", "0.33333333333333331"));
}

std::string Refused(const ViewRequest& request) {
  try {
    PlanViews(request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PlanViewsTest, NamesTheWrongWordAndTheRightOnes) {
  EXPECT_THAT(Refused({.list = "kernels,nothing"}),
              HasSubstr("there is no view 'nothing'; the views are kernels,copies,"));
  EXPECT_THAT(Refused({.list = "groups", .by = "zebra"}),
              HasSubstr("there is no key 'zebra'; those of groups are op,mod"));
  EXPECT_THAT(Refused({.list = "groups", .sort = "zebra"}),
              HasSubstr("there is no column 'zebra'; the columns are kernel,count"));
  EXPECT_THAT(Refused({.list = "kernels", .sort = "zebra"}), HasSubstr("no column 'zebra'"));
  EXPECT_THAT(Refused({.list = "overview", .by = "step"}), HasSubstr("no view named has keys"));
  EXPECT_THAT(Refused({.list = "groups,gpu", .where = "count>1"}), HasSubstr("one view"));
  EXPECT_THAT(Refused({.list = "gpu", .where = "count>1"}), HasSubstr("no column 'count'"));
  EXPECT_THAT(Refused({.list = "groups", .columns = "sil"}), HasSubstr("there is no column 'sil'"));
  EXPECT_THAT(Refused({.list = "all", .columns = "sil"}), HasSubstr("one view"));
}

TEST(PlanViewsTest, AsksBackForANearWord) {
  EXPECT_EQ(Refused({.list = "overviw"}), "--view: there is no view 'overviw': overview?");
  EXPECT_EQ(Refused({.list = "groups", .by = "opp"}), "--by: there is no key 'opp': op?");
  EXPECT_EQ(Refused({.list = "groups", .sort = "size"}),
            "--sort: there is no column 'size': bytes?");
  EXPECT_EQ(Refused({.list = "groups", .columns = "totl"}),
            "-c: there is no column 'totl': total?");
  EXPECT_EQ(Refused({.list = "events", .instead = CompatViews("torch"), .sort = "cuda_tim"})
                .substr(0, 45),
            "--sort: there is no key 'cuda_tim': cuda_time");
}

TEST(PlanViewsTest, TakesAliases) {
  const auto plans = PlanViews({.list = "groups", .sort = "time", .columns = "kernel,time"});
  const auto fields = FieldsOf(*plans[0].view, plans[0].options);
  ASSERT_EQ(plans[0].places.size(), 2u);
  EXPECT_EQ(fields[plans[0].places[1]].key, "total");
}

TEST(PlanViewsTest, EachViewOnce) {
  const auto plans = PlanViews({.list = "groups,kernels,groups,all"});
  EXPECT_EQ(plans.size(), Views().size());
  EXPECT_EQ(plans[0].view->name, "groups");
  EXPECT_EQ(plans[1].view->name, "kernels");
}

TEST(ViewsTest, TheListIsWhole) {
  for (const View& view : Views()) {
    EXPECT_FALSE(view.help.empty()) << view.name;
    EXPECT_NE(view.make == nullptr, view.stream == nullptr) << view.name;
    for (const Field& field : view.fields()) {
      EXPECT_FALSE(field.help.empty()) << view.name << ' ' << field.key;
      EXPECT_FALSE(field.header.empty()) << view.name << ' ' << field.key;
    }
    EXPECT_THAT(ListOfViews(), HasSubstr(std::string(view.name)));
  }
}

}  // namespace
}  // namespace oplens::prof::groups_test
