// The page of a diff: what is in it is the diff.

#include "report/diff_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "test/gate/made_diff.h"
#include "test/report/read_page.h"
#include "test/support/test_files.h"

namespace oplens::test::diff_page_test {
namespace {

using nlohmann::json;
using prof::Change;
using prof::Diff;
using prof::DiffRow;
using prof::DiffTable;
using prof::test::MadeDiff;
using testing::HasSubstr;
namespace fs = std::filesystem;

Diff Classed() {
  Diff diff = MadeDiff();
  constexpr Change kClasses[] = {Change::kSlower, Change::kSame, Change::kAdded, Change::kRemoved,
                                 Change::kSlower};
  std::vector<DiffRow>& rows = diff.tables[0].rows;
  for (size_t i = 0; i < rows.size(); ++i) rows[i].figures[0].change = kClasses[i];
  for (size_t i = 1; i < diff.tables.size(); ++i) {
    DiffTable& table = diff.tables[i];
    table.shown_figures = table.figures.size();
    for (DiffRow& row : table.rows) row.figures[0].change = Change::kSlower;
  }
  return diff;
}

std::string PageText(const Diff& diff, const report::DiffPagePlan& plan,
                     report::DiffPageResult* result = nullptr,
                     report::Timeline timeline = report::Timeline()) {
  const fs::path path = TestDir() / "diff.html";
  Output output(path);
  const report::DiffPageResult made =
      report::WriteDiffPage(diff, std::move(timeline), plan, &output);
  output.Commit();
  if (result != nullptr) *result = made;
  std::string text = ReadFile(path);
  EXPECT_EQ(text.size(), made.page_bytes);
  return text;
}

json SummaryOf(const std::string& page) {
  constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"diff\">";
  const size_t begin = page.find(kBegin) + kBegin.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::string ChunkOf(const std::string& page, const std::string& id) {
  const std::string mark = "id=\"" + id + "\">";
  const size_t begin = page.find(mark) + mark.size();
  return Inflate(FromBase64(page.substr(begin, page.find("</script>", begin) - begin)));
}

/// The rows of a table, as objects.
std::vector<json> RowsOf(const std::string& page, const json& table) {
  const json columns = json::parse(ChunkOf(page, table["table"]))["columns"];
  std::vector<json> rows(table["rows"].get<size_t>());
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string key = table["fields"][i]["key"];
    for (size_t row = 0; row < rows.size(); ++row) {
      if (columns[i].contains("v")) {
        rows[row][key] = columns[i]["v"][row];
      } else {
        const int place = columns[i]["i"][row];
        rows[row][key] = place < 0 ? json() : columns[i]["d"][static_cast<size_t>(place)];
      }
    }
  }
  return rows;
}

const report::DiffPagePlan kPlan = {"oplens test", "", "", 0};

TEST(DiffPageTest, HoldsTheDiff) {
  const Diff diff = Classed();
  const std::string page = PageText(diff, kPlan);
  EXPECT_THAT(page, HasSubstr("<title>base.json -&gt; new.json</title>"));
  const json summary = SummaryOf(page);
  EXPECT_EQ(summary["schema"], 1);
  EXPECT_EQ(summary["verdict"], diff.verdict);
  EXPECT_EQ(summary["total"]["delta"], 2.1e6);
  EXPECT_EQ(summary["total"]["delta_pct"], 17.5);
  EXPECT_EQ(summary["causes"].size(), 3u);
  EXPECT_EQ(summary["causes"][2]["verdict"], "unknown");
  EXPECT_EQ(summary["differences"][0], json::parse(R"({"fact": "gpu", "base": "A100",
                                                       "new": "H100", "decides": true})"));
  EXPECT_EQ(summary["notes"][0], diff.notes[0]);
  ASSERT_EQ(summary["tables"].size(), diff.tables.size());
  const std::vector<json> rows = RowsOf(page, summary["tables"][0]);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0]["layer"], "decoder.0");
  EXPECT_EQ(rows[0]["class"], "slower");
  EXPECT_EQ(rows[0]["device_self_ns_base"], 4e6);
  EXPECT_EQ(rows[0]["device_self_ns_new"], 7e6);
  EXPECT_EQ(rows[0]["device_self_ns_delta"], 3e6);
  EXPECT_EQ(rows[0]["device_self_ns_delta_pct"], 75);
  EXPECT_NEAR(rows[0]["share_pct"].get<double>(), 100 * 3 / 2.1, 1e-6);
  EXPECT_EQ(rows[0]["calls_delta"], 0);
  EXPECT_EQ(rows[1]["device_self_ns_base"], nullptr);
  EXPECT_EQ(rows[1]["device_self_ns_delta"], 0.5e6);
  EXPECT_EQ(rows[2]["class"], "removed");
  EXPECT_EQ(rows[3]["layer"], nullptr);
  EXPECT_EQ(rows[3]["verdict"], "unknown");
  // What did not change comes last, and figures that are not printed do not come.
  EXPECT_EQ(rows[4]["class"], "same");
  EXPECT_FALSE(rows[0].contains("tc_ns_base"));
  EXPECT_FALSE(rows[0].contains("was"));
  EXPECT_EQ(page, PageText(diff, kPlan));
}

TEST(DiffPageTest, NamesInputsByWhatTellsThemApart) {
  Diff diff = Classed();
  const auto title = [&](std::string base, std::string now) {
    diff.base_name = std::move(base);
    diff.new_name = std::move(now);
    return SummaryOf(PageText(diff, kPlan))["title"].get<std::string>();
  };
  EXPECT_EQ(title("/data/me/a.json", "/data/me/b.json"), "a.json -> b.json");
  EXPECT_EQ(title("/data/me/one/w0.json", "/data/me/two/w0.json"), "one/w0.json -> two/w0.json");
  EXPECT_EQ(title("/data/me/a.json", "/data/me/a.json"), "a.json -> a.json");
  EXPECT_EQ(title("/data/one/", "w0.json"), "one -> w0.json");
  EXPECT_EQ(title("", "/"), " -> ");
}

TEST(DiffPageTest, SaysWhatARowWas) {
  Diff diff = Classed();
  diff.tables[0].rows[0].base_keys = {"decoder.0", "addmm", "[8]"};
  const std::string page = PageText(diff, kPlan);
  const std::vector<json> rows = RowsOf(page, SummaryOf(page)["tables"][0]);
  EXPECT_EQ(rows[0]["was"], "decoder.0 addmm [8]");
  EXPECT_EQ(rows[1]["was"], nullptr);
}

TEST(DiffPageTest, LeavesOutWhatDidNotChangeFirst) {
  Diff diff = Classed();
  DiffTable& table = diff.tables[0];
  const DiffRow slower = table.rows[0];
  DiffRow same = table.rows[1];
  table.rows.clear();
  for (int i = 0; i < 5'000; ++i) {
    same.keys[0] = "layer" + std::to_string(i * 7919);
    same.figures[0].base = i * 31.7;
    table.rows.push_back(same);
  }
  table.rows.push_back(slower);
  report::DiffPageResult result;
  const std::string whole = PageText(diff, kPlan);
  report::DiffPagePlan plan = kPlan;
  plan.limit_bytes = whole.size() - 20'000;
  const std::string page = PageText(diff, plan, &result);
  EXPECT_LE(page.size(), plan.limit_bytes);
  const json kept = SummaryOf(page)["tables"][0];
  EXPECT_GT(kept["rows"], 100);
  EXPECT_EQ(kept["rows"].get<size_t>() + kept["left_out"].get<size_t>(), 5'001u);
  EXPECT_EQ(RowsOf(page, kept)[0]["class"], "slower");
  ASSERT_EQ(result.left_out.size(), 1u);
  EXPECT_THAT(result.left_out[0], HasSubstr("of 5001 rows of operators"));
  plan.limit_bytes = 1000;
  EXPECT_THROW(PageText(diff, plan), UsageError);
}

TEST(DiffPageTest, HostileTextsStayTexts) {
  const std::string hostile = "</script><script>x</script>\xff<!--oplens:data-->";
  Diff diff = Classed();
  diff.base_name = diff.verdict = diff.notes[0] = diff.causes[0].sentence = hostile;
  diff.differences[0].now = diff.tables[0].rows[0].keys[1] = hostile;
  diff.total.base = std::numeric_limits<double>::quiet_NaN();
  const std::string page = PageText(diff, kPlan);
  EXPECT_THAT(page, testing::Not(HasSubstr("<script>x")));
  const json summary = SummaryOf(page);
  EXPECT_EQ(summary["total"]["base"], nullptr);
  EXPECT_THAT(summary["verdict"].get<std::string>(), HasSubstr("</script><script>x"));
}

TEST(DiffPageTest, CutsPaths) {
  Diff diff = Classed();
  diff.base_name = "/home/somebody/runs/base.json";
  report::DiffPagePlan plan = kPlan;
  plan.folder = "/home/somebody/work";
  EXPECT_THAT(PageText(diff, plan), testing::Not(HasSubstr("somebody")));
}

/// A rank and an empty lane of each run.
report::Timeline TwoRuns() {
  report::Timeline timeline;
  for (const char* run : {"base", "new"}) {
    report::Rank& rank = timeline.ranks.emplace_back();
    rank.rank = rank.run = run;
    timeline.lanes.emplace_back().rank = run;
  }
  return timeline;
}

TEST(DiffPageTest, HoldsTimelinesOfBothRuns) {
  const Diff diff = Classed();
  report::DiffPageResult result;
  const std::string page = PageText(diff, kPlan, &result, TwoRuns());
  EXPECT_THAT(result.left_out, testing::Contains("events of the host: --no-host").Times(0));
  const ReadPage read(page);
  ASSERT_EQ(read.summary().at("ranks").size(), 2u);
  EXPECT_EQ(read.summary().at("ranks")[0].at("run"), "base");
  EXPECT_EQ(read.summary().at("ranks")[1].at("run"), "new");
  EXPECT_EQ(read.summary().at("timeline").at("lanes").size(), 2u);
  // The tables of the diff are where they were.
  EXPECT_EQ(RowsOf(page, SummaryOf(page)["tables"][0]).size(), 5u);
}

TEST(DiffPageTest, TimelinesOfOneRunAreNone) {
  report::Timeline one = TwoRuns();
  one.ranks.pop_back();
  const auto has_none = testing::Not(HasSubstr("id=\"summary\""));
  EXPECT_THAT(PageText(Classed(), kPlan, nullptr, std::move(one)), has_none);
  EXPECT_THAT(PageText(Classed(), kPlan), has_none);
}

TEST(DiffPageTest, TimelinesGetWhatTablesLeave) {
  const Diff diff = Classed();
  report::DiffPagePlan plan = kPlan;
  plan.limit_bytes = PageText(diff, kPlan).size() + 100;
  report::DiffPageResult result;
  const std::string page = PageText(diff, plan, &result, TwoRuns());
  EXPECT_LE(page.size(), plan.limit_bytes);
  EXPECT_THAT(page, testing::Not(HasSubstr("id=\"summary\"")));
  EXPECT_THAT(result.left_out, testing::Contains(HasSubstr("the timelines: ")));
}

}  // namespace
}  // namespace oplens::test::diff_page_test
