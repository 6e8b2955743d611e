// The page around the data, and the command line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "report/options.h"
#include "report/page_shell.h"
#include "report/page_tables.h"

namespace oplens::report::page_test {
namespace {

using testing::HasSubstr;

TEST(PageShellTest, SplitsAtItsMarkers) {
  const PageShell shell = SplitPage("a<!--oplens:title-->b<!--oplens:data-->c");
  EXPECT_EQ(shell.head, "a");
  EXPECT_EQ(shell.middle, "b");
  EXPECT_EQ(shell.tail, "c");
  EXPECT_EQ(shell.size(), 3u);
}

TEST(PageShellTest, AMissingMarkerIsAnError) {
  for (const char* page :
       {"", "<!--oplens:title-->", "<!--oplens:data-->", "<!--oplens:data--><!--oplens:title-->",
        "<!--oplens:title--><!--oplens:data--><!--oplens:data-->"}) {
    EXPECT_THROW(SplitPage(page), Error) << page;
  }
}

TEST(PageShellTest, TheBuiltInPageHasThem) {
  const PageShell shell = SplitPage(EmbeddedPage());
  EXPECT_THAT(std::string(shell.head), HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(std::string(shell.tail), HasSubstr("</html>"));
}

TEST(OptionsTest, Sizes) {
  EXPECT_EQ(ReadSize("10MB"), 10'000'000u);
  EXPECT_EQ(ReadSize("10 MB"), 10'000'000u);
  EXPECT_EQ(ReadSize("1.5M"), 1'500'000u);
  EXPECT_EQ(ReadSize("500k"), 500'000u);
  EXPECT_EQ(ReadSize("500KB"), 500'000u);
  EXPECT_EQ(ReadSize("2g"), 2'000'000'000u);
  EXPECT_EQ(ReadSize("123456"), 123'456u);
  EXPECT_EQ(ReadSize("7B"), 7u);
  for (const char* wrong :
       {"", "MB", "10XB", "-5", "0", "1e9", "nan", "inf", "10MBB", "5 5", "1T"}) {
    EXPECT_THROW(ReadSize(wrong), UsageError) << wrong;
  }
}

TEST(OptionsTest, ThePageIsNamedAfterItsInput) {
  EXPECT_EQ(DefaultOutput("net.sql"), "net.sql.html");
  EXPECT_EQ(DefaultOutput("../runs/a.json.gz"), "a.json.gz.html");
  EXPECT_EQ(DefaultOutput("/runs/today/"), "today.html");
  EXPECT_EQ(DefaultOutput("/runs/today/."), "today.html");
  EXPECT_THROW(DefaultOutput("/"), UsageError);
}

Options Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "report");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data());
}

TEST(OptionsTest, Defaults) {
  const Options options = Parse({"net.sql"});
  EXPECT_EQ(options.output, "net.sql.html");
  EXPECT_EQ(options.limit_bytes, 10'000'000u);
  EXPECT_TRUE(options.host);
  EXPECT_FALSE(options.keep_paths);
  EXPECT_FALSE(options.open);
  EXPECT_FALSE(options.run.selection.steps);
}

TEST(OptionsTest, ADiffHasABaseAndANewRun) {
  const Options options = Parse({"--diff", "base.json", "runs/new.json"});
  EXPECT_EQ(options.diff_base, "base.json");
  EXPECT_EQ(options.inputs, std::vector<std::string>{"runs/new.json"});
  EXPECT_EQ(options.output, "new.json.diff.html");
  EXPECT_EQ(Parse({"--diff=a", "b", "-o", "c.html"}).output, "c.html");
  EXPECT_EQ(Parse({"net.sql"}).diff_base, "");
}

TEST(OptionsTest, WrongOnes) {
  for (const std::vector<const char*>& arguments :
       std::vector<std::vector<const char*>>{{},
                                             {"a", "b"},
                                             {"-"},
                                             {"-o", "", "a"},
                                             {"-o", "-", "--open", "a"},
                                             {"--nonsense", "a"},
                                             {"--step-range", "x", "a"},
                                             {"--step", "(", "a"},
                                             {"--diff", "a"},
                                             {"--diff", "", "a"},
                                             {"--diff", "-", "a"},
                                             {"--gpu", "nothing", "a"},
                                             {""}}) {
    EXPECT_THROW(Parse(arguments), UsageError);
  }
}

TEST(PlanTest, EveryViewIsPlainOnceAndFirst) {
  const TablePlans plans = PlanTables();
  ASSERT_EQ(plans.plans.size(), plans.tables.size());
  std::vector<std::string_view> plain;
  for (size_t i = 0; i < plans.plans.size(); ++i) {
    const prof::View& view = prof::Views()[plans.tables[i].view];
    EXPECT_EQ(plans.plans[i].view, &view);
    if (plans.tables[i].kind == TableKind::kPlain) {
      plain.push_back(view.name);
    } else {
      EXPECT_EQ(plain.back(), view.name);
      EXPECT_TRUE(plans.tables[i].whole);
      EXPECT_FALSE(plans.plans[i].options.by.empty());
    }
  }
  std::vector<std::string_view> all;
  for (const prof::View& view : prof::Views()) {
    if (view.on_pages) all.push_back(view.name);
  }
  EXPECT_EQ(plain, all);
  // Views that compare ranks are not on a page of one input.
  const TablePlans of_one = PlanTables(SIZE_MAX, nullptr, false);
  for (const TablePlans::Of& table : of_one.tables) {
    EXPECT_FALSE(prof::Views()[table.view].of_ranks);
  }
  EXPECT_LT(of_one.tables.size(), plans.tables.size());
}

TEST(PlanTest, RowsByStepKeepTheKeysOfTheView) {
  const TablePlans plans = PlanTables();
  size_t found = 0;
  for (size_t i = 0; i < plans.plans.size(); ++i) {
    if (plans.tables[i].kind != TableKind::kByStep) continue;
    if (plans.plans[i].view->name != "groups") continue;
    EXPECT_THAT(plans.plans[i].options.by, testing::ElementsAre("kernel", "rank", "step"));
    ++found;
  }
  EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace oplens::report::page_test
