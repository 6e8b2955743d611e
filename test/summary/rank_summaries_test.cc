// Many inputs: read several at a time, or each into a summary of its own, they show the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "prof/summary_file/summary_file.h"
#include "prof/views/common/view.h"
#include "test/support/kineto_builder.h"
#include "test/support/network_run.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::test::rank_summaries_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RunResult Prof(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Program("prof"));
  return RunProgram(arguments);
}

/// All views that a summary can hold.
std::vector<std::string> SavedViews() {
  std::vector<std::string> names;
  for (const prof::View& view : prof::Views()) {
    if (view.saved_form > 0) names.emplace_back(view.name);
  }
  return names;
}

/// A rank whose number is told, with kernels that take `scale` times as long.
void WriteRank(const fs::path& path, int64_t rank, int64_t scale) {
  KinetoBuilder builder;
  builder.AddMember("distributedInfo", fmt::format(R"({{"rank": {}, "world_size": 4}})", rank));
  for (int64_t step = 0; step < 3; ++step) {
    const int64_t start = step * 1'000'000;
    builder.AddHost("user_annotation", fmt::format("ProfilerStep#{}", step), start, 900'000);
    builder.AddOperator({.name = "aten::mm", .start_ns = start + 1000, .duration_ns = 9000});
    builder.Launch({.name = "gemm", .duration_ns = 1000 * scale}, start + 2000);
    builder.Launch({.name = "ncclDevKernel_AllReduce_Sum_f32", .duration_ns = 500, .stream = 9},
                   start + 50'000);
  }
  builder.Write(path);
}

/// Five inputs: two of one rank, one of another, two that tell no rank.
class RankSummariesTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(run_);
    fs::create_directories(sums_);
    WriteRank(run_ / "a.json", 1, 3);
    WriteRank(run_ / "b.json", 1, 5);
    WriteRank(run_ / "c.json", 0, 4);
    const NetworkRun network = ExampleNetwork();
    WriteKinetoRun(network, run_ / "d.json");
    WriteNsysRun(network, run_ / "e.sqlite");
  }

  RunResult Summarize(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--summary", "--summary-dir", sums_.string(),
                                          "--summary-views", "all"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back(run_.string());
    return Prof(arguments);
  }

  fs::path dir_ = TestDir();
  fs::path run_ = dir_ / "run";
  fs::path sums_ = dir_ / "sums";
};

TEST_F(RankSummariesTest, AnyNumberOfJobsGivesTheSame) {
  for (const std::string& view : SavedViews()) {
    SCOPED_TRACE(view);
    const auto run = [&](const char* jobs) {
      return Prof({"--view", view, "--json", "-v", "--jobs", jobs, run_.string()});
    };
    const RunResult one = run("1");
    EXPECT_EQ(one.exit_code, 0) << one.err;
    for (const char* jobs : {"2", "5"}) {
      const RunResult several = run(jobs);
      EXPECT_EQ(several.out, one.out);
      EXPECT_EQ(several.err, one.err);
    }
  }
}

TEST_F(RankSummariesTest, SummariesShowWhatTheTracesShow) {
  const RunResult made = Summarize();
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("wrote 5 summaries"));
  EXPECT_EQ(FilesIn(sums_).size(), 5U);
  for (const std::string& view : SavedViews()) {
    SCOPED_TRACE(view);
    std::vector<std::string> arguments = {"--view", view, "--json", run_.string()};
    if (view == "groups") arguments.insert(arguments.end(), {"--by", "op,layer"});
    const RunResult traces = Prof(arguments);
    arguments[3] = sums_.string();
    const RunResult summaries = Prof(arguments);
    EXPECT_EQ(summaries.exit_code, 0) << summaries.err;
    EXPECT_EQ(summaries.out, traces.out);
  }
}

// Of one input alone, whose rank has no name then, in a file of another name.
TEST_F(RankSummariesTest, OneSummaryShowsWhatItsTraceShows) {
  for (const char* name : {"b.json", "d.json", "e.sqlite"}) {
    const std::string trace = (run_ / name).string();
    const std::string summary = (dir_ / "x.oplens").string();
    const RunResult made = Prof({"--summary", "-o", summary, "--view", "gpu", trace});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    for (const char* view : {"overview", "operators", "collectives", "gpu"}) {
      EXPECT_EQ(Prof({"--view", view, "--csv", summary}).out,
                Prof({"--view", view, "--csv", trace}).out)
          << name << " " << view;
    }
    const RunResult other = Prof({"--view", "idle", summary});
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.err, HasSubstr("it needs the trace"));
  }
}

// By the rows of the views, not by the kernels: 50 steps of 1,000 kernels by 600 different calls,
// and 500 collectives.
TEST_F(RankSummariesTest, ARankTakesAtMostAMegabyte) {
  KinetoBuilder builder;
  builder.AddMember("distributedInfo", R"({"rank": 0, "world_size": 4})");
  for (int64_t step = 0; step < 50; ++step) {
    const int64_t start = step * 100'000'000;
    builder.AddHost("user_annotation", fmt::format("ProfilerStep#{}", step), start, 99'000'000);
    for (int64_t i = 0; i < 1000; ++i) {
      const int64_t at = start + 1000 + i * 90'000;
      const int64_t kind = i % 600;
      const bool collective = i % 100 == 99;
      builder.AddOperator({.name = fmt::format("aten::op_{}", kind % 60),
                           .start_ns = at,
                           .duration_ns = 80'000,
                           .dims = fmt::format("[[{}, 1024]]", 16 + kind)});
      builder.Launch({.name = collective ? "ncclDevKernel_AllReduce_Sum_f32"
                                         : fmt::format("void some::kernel<{}>(float*)", kind),
                      .duration_ns = 30'000 + (i * 7919 + step * 104'729) % 50'000},
                     at + 100);
    }
  }
  fs::create_directories(dir_ / "large");
  builder.Write(dir_ / "large" / "rank0.json");
  const RunResult made = Prof({"--summary", (dir_ / "large").string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto size = fs::file_size(dir_ / "large" / "rank0.json.oplens");
  EXPECT_GT(size, 10'000U);
  EXPECT_LT(size, 1'000'000U);
  RecordProperty("bytes", static_cast<int>(size));
}

TEST_F(RankSummariesTest, NoPathStandsInThem) {
  ASSERT_EQ(Summarize().exit_code, 0);
  for (const std::string& name : FilesIn(sums_)) {
    const prof::SummaryFile summary = prof::ReadSummary((sums_ / name).string());
    std::string all = summary.writer + summary.calls;
    for (const auto& [fact, value] : summary.facts) all += fact + value;
    for (const auto& section : summary.sections) all += section.bytes;
    EXPECT_THAT(all, Not(HasSubstr(dir_.string()))) << name;
    EXPECT_THAT(all, Not(HasSubstr(name.substr(0, name.find(".oplens"))))) << name;
  }
}

// The names of machines: who shares one is known, and no summary holds it.
TEST_F(RankSummariesTest, HostsAreHashedWithTheSaltOfTheRun) {
  const fs::path run = dir_ / "hosts";
  fs::create_directories(run);
  const char* const hosts[] = {"node-b.example", "node-a.example", "node-b.example"};
  for (int rank = 0; rank < 3; ++rank) {
    KinetoBuilder builder;
    builder.AddMember("distributedInfo", fmt::format(R"({{"rank": {}, "world_size": 3}})", rank));
    builder.AddMember("host_name", fmt::format("\"{}\"", hosts[rank]));
    builder.Launch({.name = "k", .duration_ns = 30'000}, 100);
    builder.Write(run / fmt::format("{}.json", rank));
  }
  const auto nodes = [](const fs::path& inputs) {
    return Prof({"--quiet", "--view", "ranks", "-c", "rank,node", "--csv", inputs.string()}).out;
  };
  const std::string shown = nodes(run);
  EXPECT_THAT(shown, HasSubstr("\"0\",\"h0\"\n\"1\",\"h1\"\n\"2\",\"h0\"\n"));
  std::vector<std::string> sections;
  for (const std::string salt : {"", "", "other"}) {
    const fs::path sums = dir_ / fmt::format("hosts{}", sections.size());
    fs::create_directories(sums);
    std::vector<std::string> arguments = {"--summary", "--summary-dir", sums.string(),
                                          run.string()};
    if (!salt.empty()) arguments.insert(arguments.end(), {"--salt", salt});
    ASSERT_EQ(Prof(arguments).exit_code, 0);
    EXPECT_EQ(nodes(sums), shown);
    const auto summary = prof::ReadSummary((sums / "0.json.oplens").string());
    for (const auto& section : summary.sections) {
      EXPECT_THAT(section.bytes, Not(HasSubstr("example"))) << section.view;
      if (section.view == "ranks") sections.push_back(section.bytes);
    }
  }
  ASSERT_EQ(sections.size(), 3U);
  EXPECT_EQ(sections[0], sections[1]);
  EXPECT_NE(sections[0], sections[2]);
}

TEST_F(RankSummariesTest, SaysWhatIsWrongWithWhatIsGiven) {
  const std::string rank = (run_ / "a.json").string();
  WriteFile(dir_ / "empty.oplens", "");
  WriteFile(dir_ / "text.oplens", "abcd");
  const auto error_of = [](const std::vector<std::string>& arguments, int exit_code) {
    const RunResult result = Prof(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_THAT(error_of({"--summary", "--summary-views", "nosuch", rank}, 2),
              HasSubstr("prof: --summary-views: there is no view 'nosuch'"));
  EXPECT_EQ(error_of({"--view", "gpu", "--salt", "x", rank}, 2),
            "prof: --salt needs --summary or --save-baseline\n");
  for (const char* const name : {"empty.oplens", "text.oplens"}) {
    EXPECT_THAT(error_of({"--view", "gpu", (dir_ / name).string()}, 1),
                HasSubstr(std::string(name) + ": is no summary of oplens; give a file that"));
  }
}

TEST_F(RankSummariesTest, WhatIsUpToDateIsLeftAlone) {
  ASSERT_EQ(Summarize().exit_code, 0);
  const std::string first = ReadFile(sums_ / "a.json.oplens");
  const RunResult again = Summarize();
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("wrote 0 summaries; 5 summaries are"));
  // Another input, another option, another view, a damaged file.
  WriteRank(run_ / "a.json", 1, 7);
  EXPECT_THAT(Summarize().err, HasSubstr("wrote 1 summary; 4"));
  EXPECT_NE(ReadFile(sums_ / "a.json.oplens"), first);
  EXPECT_THAT(Summarize({"--step-range", "0-1"}).err, HasSubstr("wrote 5 summaries"));
  EXPECT_THAT(Summarize({"--step-range", "0-1", "--view", "groups", "--by", "shape"}).err,
              HasSubstr("wrote 5 summaries"));
  WriteFile(sums_ / "b.json.oplens", ReadFile(sums_ / "b.json.oplens").substr(0, 200));
  EXPECT_THAT(Summarize({"--step-range", "0-1"}).err, HasSubstr("wrote 1 summary; 4"));
}

TEST_F(RankSummariesTest, ABrokenInputCostsItsRank) {
  WriteFile(run_ / "broken.json", "{\"traceEvents\": [");
  WriteFile(run_ / "no.sqlite", "nothing");
  for (const char* jobs : {"1", "3"}) {
    const RunResult some = Prof({"--view", "overview", "--csv", "--jobs", jobs, run_.string()});
    EXPECT_EQ(some.exit_code, 3) << some.err;
    EXPECT_THAT(some.err, HasSubstr("no.sqlite: "));
    EXPECT_THAT(some.err, HasSubstr("; left out"));
    EXPECT_THAT(some.out, HasSubstr("d.json"));
    EXPECT_EQ(Prof({"--view", "overview", "--strict", run_.string()}).exit_code, 3);
  }
  const RunResult made = Summarize();
  EXPECT_EQ(made.exit_code, 3);
  EXPECT_THAT(made.err, HasSubstr("no.sqlite: "));
}

// What could be read was read before.
TEST_F(RankSummariesTest, ASecondRunOfABrokenInputSaysSoAgain) {
  WriteFile(run_ / "no.sqlite", "nothing");
  ASSERT_EQ(Summarize().exit_code, 3);
  const RunResult again = Summarize();
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_THAT(again.err, HasSubstr("no.sqlite: "));
  EXPECT_THAT(again.err, HasSubstr("wrote 0 summaries; 5 summaries are"));
}

TEST_F(RankSummariesTest, ALinkThatLeadsNowhereIsALostRank) {
  fs::create_symlink(run_ / "nowhere.json", run_ / "link.json");
  EXPECT_THAT(Prof({"--view", "overview", run_.string()}).err, HasSubstr("link.json"));
  EXPECT_EQ(Prof({"--view", "overview", "--strict", run_.string()}).exit_code, 3);
}

TEST_F(RankSummariesTest, SummariesOfOtherOptionsDoNotMix) {
  ASSERT_EQ(Summarize().exit_code, 0);
  const std::string changed = (sums_ / "a.json.oplens").string();
  ASSERT_EQ(Prof({"--summary", "--step-range", "0-0", "-o", changed, (run_ / "a.json").string()})
                .exit_code,
            0);
  const RunResult mixed = Prof({"--view", "overview", sums_.string()});
  EXPECT_EQ(mixed.exit_code, 1);
  EXPECT_THAT(mixed.err, HasSubstr("was made with other options than"));
}

TEST_F(RankSummariesTest, ASummaryThatIsNamedTwiceCountsOnce) {
  ASSERT_EQ(Summarize().exit_code, 0);
  const std::string again = (sums_ / "b.json.oplens").string();
  EXPECT_EQ(Prof({"--view", "operators", "--csv", sums_.string(), again}).out,
            Prof({"--view", "operators", "--csv", sums_.string()}).out);
}

TEST_F(RankSummariesTest, AllowMissingSaysHowManyMayBe) {
  WriteFile(run_ / "no1.sqlite", "nothing");
  WriteFile(run_ / "no2.sqlite", "nothing");
  const std::string out = (dir_ / "out.csv").string();
  const auto run = [&](const char* most, std::vector<std::string> inputs) {
    inputs.insert(inputs.begin(),
                  {"--view", "overview", "--csv", "-o", out, "--allow-missing", most});
    return Prof(inputs);
  };
  for (const char* most : {"0", "1"}) {
    EXPECT_EQ(run(most, {run_.string()}).exit_code, 3) << most;
    EXPECT_TRUE(fs::remove(out));
  }
  EXPECT_EQ(run("2", {run_.string()}).exit_code, 0);
  EXPECT_TRUE(fs::exists(out));
  // Those that are named too, and are not there at all.
  const std::string a = (run_ / "a.json").string();
  const std::string c = (run_ / "c.json").string();
  const std::string none = (run_ / "none.json").string();
  const std::string bad = (run_ / "no1.sqlite").string();
  EXPECT_EQ(Prof({"--view", "overview", a, c, bad}).exit_code, 3);
  EXPECT_EQ(run("0", {a, c, none}).exit_code, 3);
  EXPECT_EQ(run("1", {a, c, none, bad}).exit_code, 3);
  EXPECT_EQ(Prof({"--view", "overview", none, bad}).exit_code, 1);
  const RunResult both = run("2", {a, c, none, bad});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.err, HasSubstr("none.json: "));
}

// The calls are in the summaries, whatever their rows are by.
TEST_F(RankSummariesTest, CollectivesByOtherWordsNeedNoTrace) {
  ASSERT_EQ(Summarize().exit_code, 0);
  for (const char* by : {"kind,group", "rank,step", "dtype,size"}) {
    const auto run = [&](const fs::path& input) {
      return Prof({"--view", "collectives", "--by", by, "--json", input.string()});
    };
    const RunResult traces = run(run_);
    EXPECT_NE(traces.out, "") << by;
    EXPECT_EQ(run(sums_).out, traces.out) << by;
  }
}

TEST_F(RankSummariesTest, TheScreenIsThatOfTheRanks) {
  for (const char* name : {"a.json", "d.json", "e.sqlite"}) fs::remove(run_ / name);
  WriteRank(run_ / "d.json", 3, 4);
  ASSERT_EQ(Summarize().exit_code, 0);
  const RunResult screen = RunProgram({Program("oplens"), sums_.string()});
  EXPECT_EQ(screen.exit_code, 0) << screen.err;
  EXPECT_THAT(screen.out, HasSubstr("3 processes; by their summaries"));
  EXPECT_THAT(screen.out, HasSubstr("1 of 4 ranks have no profile here"));
  EXPECT_EQ(RunProgram({Program("oplens"), "--gpu", "H100", sums_.string()}).exit_code, 2);
  WriteFile(sums_ / "b.json.oplens", "");
  EXPECT_EQ(RunProgram({Program("oplens"), sums_.string()}).exit_code, 3);
}

// An empty file is what a killed recorder leaves.
TEST_F(RankSummariesTest, AnEmptyFileCostsItsRank) {
  WriteFile(run_ / "b.json", "");
  std::vector<std::string> named = {"--summary", "--summary-dir", sums_.string()};
  for (const char* name : {"a.json", "b.json", "c.json"}) {
    named.push_back((run_ / name).string());
  }
  const RunResult made = Prof(named);
  EXPECT_EQ(made.exit_code, 3);
  EXPECT_THAT(made.err, HasSubstr("b.json: is empty"));
  EXPECT_THAT(made.err, HasSubstr("wrote 2 summaries"));
  named.insert(named.end(), {"--allow-missing", "1"});
  EXPECT_EQ(Prof(named).exit_code, 0);
}

// One file beside many summaries is not the run, nor is a summary beside many files.
TEST_F(RankSummariesTest, AFolderWithBothIsReadAsTheRunThatItIs) {
  ASSERT_EQ(Summarize().exit_code, 0);
  const std::string of_traces = Prof({"--view", "ranks", "--csv", run_.string()}).out;
  fs::copy_file(run_ / "a.json", sums_ / "stray.json");
  const RunResult stray = Prof({"--view", "ranks", "--csv", sums_.string()});
  EXPECT_EQ(stray.exit_code, 0) << stray.err;
  EXPECT_EQ(stray.out, of_traces);
  EXPECT_THAT(stray.err, HasSubstr("its 5 summaries are read; no summary is of stray.json"));
  fs::copy_file(run_ / "a.json", sums_ / "a.json");
  const RunResult left = Prof({"--view", "ranks", "--csv", sums_.string()});
  EXPECT_EQ(left.out, of_traces);
  EXPECT_THAT(left.err, HasSubstr("not the traces of 1 of them"));
  fs::copy_file(sums_ / "a.json.oplens", run_ / "other.json.oplens");
  const RunResult traces = Prof({"--view", "ranks", "--csv", run_.string()});
  EXPECT_EQ(traces.out, of_traces);
  EXPECT_THAT(traces.err, HasSubstr("the traces are read; not the summaries of others"));
}

TEST_F(RankSummariesTest, ADamagedSummaryCostsItsRank) {
  ASSERT_EQ(Summarize().exit_code, 0);
  WriteFile(sums_ / "c.json.oplens", ReadFile(sums_ / "c.json.oplens").substr(0, 100));
  const RunResult some = Prof({"--view", "overview", "--csv", sums_.string()});
  EXPECT_EQ(some.exit_code, 3) << some.err;
  EXPECT_THAT(some.err, HasSubstr("c.json.oplens: "));
  EXPECT_EQ(Prof({"--view", "overview", "--allow-missing", "1", sums_.string()}).exit_code, 0);
}

TEST_F(RankSummariesTest, WrongCommandLinesSaySo) {
  const std::string a = (run_ / "a.json").string();
  const std::string b = (run_ / "b.json").string();
  const std::vector<std::vector<std::string>> wrong = {
      {"--summary", "-o", (dir_ / "x").string(), a, b},
      {"--summary", "--csv", a},
      {"--summary", "--summary-views", "kernels", a},
      {"--summary", "--summary-dir", (dir_ / "none").string(), a},
      {"--summary-dir", dir_.string(), a},
      {"--summary", "-o", a, a},
      {"--view", "overview", "--jobs", "0", a},
      {"--view", "overview", "--allow-missing", "-1", a},
  };
  for (const auto& arguments : wrong) {
    const RunResult result = Prof(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.out, IsEmpty());
  }
}

}  // namespace
}  // namespace oplens::test::rank_summaries_test
