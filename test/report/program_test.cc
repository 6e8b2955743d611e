// The program: pages of all kinds of profiles, and command lines.

#include "test/support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "report/page_shell.h"
#include "test/report/checked_page.h"
#include "test/report/read_page.h"
#include "test/support/kineto_builder.h"
#include "test/support/network_run.h"
#include "test/support/test_files.h"

namespace oplens::test::program_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(ReportTest, TheSamePageTwice) {
  WriteKinetoRun(ExampleNetwork(), TestDir() / "net.json");
  const std::string profile = (TestDir() / "net.json").string();
  EXPECT_EQ(PageOf({profile}).html(), PageOf({profile}).html());
}

TEST(ReportTest, ForwardAndBackwardAreLinked) {
  WriteKinetoRun(ExampleNetwork(), TestDir() / "net.json");
  const ReadPage page = PageOf({(TestDir() / "net.json").string()});
  std::set<std::string> kinds;
  for (const json& links : page.summary().at("timeline").at("links"))
    kinds.insert(links.at("kind"));
  EXPECT_THAT(kinds, testing::ElementsAre("backward", "critical", "launch"));
}

TEST(ReportTest, OperatorsHaveShapesAndTypes) {
  KinetoBuilder builder;
  builder.AddOperator({.name = "aten::mm",
                       .start_ns = 0,
                       .duration_ns = 900,
                       .dims = "[[2, 3], [3, 4]]",
                       .types = R"(["c10::Half", "c10::Half"])"});
  builder.AddOperator({.name = "aten::mm",
                       .start_ns = 1000,
                       .duration_ns = 900,
                       .dims = "[[8, 3], [3, 4]]",
                       .types = R"(["float", "float"])"});
  builder.AddOperator({.name = "aten::mm", .start_ns = 2000, .duration_ns = 900});
  builder.Launch({}, 2100);
  builder.Write(TestDir() / "ops.json");
  const ReadPage page = PageOf({(TestDir() / "ops.json").string()}, {"--quiet"});
  const std::vector<json> signatures = page.Signatures();
  std::vector<std::string> found;
  for (const json& lane : page.summary().at("timeline").at("lanes")) {
    if (lane.at("kind") != "thread") continue;
    for (const ReadPage::Event& event : page.EventsOf(lane)) {
      const json& of = signatures.at(event.signature);
      if (of.at("class") != "operator") continue;
      found.push_back(of.at("name").get<std::string>() + of.at("shapes").dump() +
                      of.at("dtype").dump());
    }
  }
  EXPECT_THAT(found, testing::ElementsAre("aten::mm\"(2,3);(3,4)\"\"fp16\"",
                                          "aten::mm\"(8,3);(3,4)\"\"fp32\"", "aten::mmnullnull"));
}

TEST(ReportTest, RanksOfAFolder) {
  const fs::path folder = TestDir() / "run";
  fs::create_directories(folder);
  WriteKinetoRun(ExampleNetwork(), folder / "rank0.json");
  WriteKinetoRun(ExampleNetwork(), folder / "rank1.json");
  const ReadPage page = PageOf({folder.string()}, {"--keep-paths", "--quiet"});
  EXPECT_EQ(page.summary().at("ranks").size(), 2u);
  ExpectTablesOfProf(page, {folder.string()});
  ExpectTimeline(page);
  ExpectLinks(page, 20);
}

TEST(ReportTest, RecordsHaveLanesOfStreams) {
  WriteNvprofRun(ExampleNetwork(), TestDir() / "net.sql");
  const std::string dict = (TestDir() / "net.dict").string();
  ASSERT_EQ(RunProgram({Program("parse"), (TestDir() / "net.sql").string(), "-o", dict}).exit_code,
            0);
  const ReadPage page = PageOf({dict}, {"--keep-paths", "--quiet"});
  ExpectTablesOfProf(page, {dict});
  ExpectTimeline(page);
  const RunResult from_input =
      RunReport({"-", "-o", (TestDir() / "stdin.html").string()}, {.stdin_path = dict});
  EXPECT_EQ(from_input.exit_code, 0) << from_input.err;
  EXPECT_EQ(RunReport({"-"}, {.stdin_path = dict}).exit_code, 2);
}

TEST(ReportTest, TwoRunsHaveTimelines) {
  WriteKinetoRun(ExampleNetwork(), TestDir() / "net.json");
  const fs::path folder = TestDir() / "run";
  fs::create_directories(folder);
  for (const char* name : {"rank0.json", "rank1.json"}) {
    WriteKinetoRun(ExampleNetwork(), folder / name);
  }
  const std::string net = (TestDir() / "net.json").string();
  const ReadPage page = PageOf({folder.string()}, {"--diff", net, "--quiet"});
  std::vector<std::string> ranks;
  for (const json& rank : page.summary().at("ranks")) ranks.push_back(rank.at("rank"));
  EXPECT_THAT(ranks, testing::ElementsAre("base", "new, rank 0", "new, rank 1"));
  // Lanes name the ranks, and all three have the same events.
  std::map<std::string, size_t> events;
  std::set<std::string> kinds;
  for (const json& lane : page.summary().at("timeline").at("lanes")) {
    events[lane.at("rank")] += page.EventsOf(lane).size();
    kinds.insert(lane.at("kind"));
  }
  EXPECT_EQ(kinds.size(), 2u);
  ASSERT_EQ(events.size(), 3u);
  for (const std::string& rank : ranks) EXPECT_EQ(events.at(rank), events.at("base"));
  EXPECT_GT(events.at("base"), 10u);
}

TEST(ReportTest, ARunAndASummaryHaveNoTimelines) {
  WriteKinetoRun(ExampleNetwork(), TestDir() / "net.json");
  const std::string net = (TestDir() / "net.json").string();
  const std::string saved = (TestDir() / "net.oplens").string();
  ASSERT_EQ(RunProgram({Program("prof"), "--save-baseline", saved, net}).exit_code, 0);
  const std::string out = (TestDir() / "diff.html").string();
  const RunResult made = RunReport({"--diff", saved, net, "-o", out});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(ReadFile(out), Not(HasSubstr("id=\"summary\"")));
}

TEST(ReportTest, TwoRunsWithoutHost) {
  WriteKinetoRun(ExampleNetwork(), TestDir() / "net.json");
  const std::string net = (TestDir() / "net.json").string();
  const ReadPage page = PageOf({net}, {"--diff", net, "--no-host", "--quiet"});
  for (const json& lane : page.summary().at("timeline").at("lanes")) {
    EXPECT_EQ(lane.at("kind"), "stream");
  }
  EXPECT_THAT(page.summary().at("left_out").dump(), HasSubstr("--no-host"));
}

TEST(ReportTest, NoHost) {
  WriteKinetoRun(ExampleNetwork(), TestDir() / "net.json");
  const std::string profile = (TestDir() / "net.json").string();
  const ReadPage page = PageOf({profile}, {"--no-host", "--keep-paths", "--quiet"});
  for (const json& lane : page.summary().at("timeline").at("lanes")) {
    EXPECT_EQ(lane.at("kind"), "stream");
  }
  EXPECT_THAT(page.summary().at("left_out").dump(), HasSubstr("--no-host"));
  ExpectTablesOfProf(page, {profile});
  ExpectTimeline(page);
}

TEST(ReportTest, MemoryIsACounter) {
  KinetoBuilder builder;
  builder.AddOperator({});
  builder.Launch({}, 100);
  for (int64_t i = 0; i < 3; ++i) {
    builder.AddInstant("[memory]", 1000 * i,
                       {{"Device Type", "1"},
                        {"Device Id", "0"},
                        {"Addr", "1"},
                        {"Bytes", "512"},
                        {"Total Allocated", std::to_string(512 * (i + 1))},
                        {"Total Reserved", "4096"}});
  }
  builder.Write(TestDir() / "memory.json");
  const ReadPage page = PageOf({(TestDir() / "memory.json").string()});
  const json& counters = page.summary().at("timeline").at("counters");
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0].at("name"), "allocated memory");
  EXPECT_EQ(counters[1].at("name"), "reserved memory");
  const json points = json::parse(page.Bytes(counters[0].at("chunk")));
  EXPECT_EQ(points.at("v"), json::parse("[512, 1024, 1536]"));
  EXPECT_EQ(points.at("t").size(), 3u);
}

// What a name may be, in every place that shows one.
const std::vector<std::string>& HostileNames() {
  static const std::vector<std::string> names = {"</script><script>alert(1)</script>",
                                                 "<!--oplens:data-->",
                                                 "<!--<script>",
                                                 "\"quotes'`",
                                                 "${alert(1)} {{x}}",
                                                 std::string("nul\0nul", 7),
                                                 "\xE2\x80\xAE right \xE2\x80\x8F left",
                                                 "\xF0\x9F\x98\x80",
                                                 std::string(10000, 'x'),
                                                 "\xFF\xFE invalid \xC3",
                                                 "line\nend\r\t\x01",
                                                 "&lt;&amp;",
                                                 "]]>",
                                                 "\\u003c/script>"};
  return names;
}

TEST(ReportTest, HostileNamesAreText) {
  KinetoBuilder builder;
  int64_t at = 0;
  for (const std::string& name : HostileNames()) {
    // JSON holds UTF-8; other bytes come as they are.
    builder.AddHost("user_annotation", name, at, 900);
    builder.AddHost("python_function", name, at, 900);
    builder.AddOperator({.name = name, .start_ns = at, .duration_ns = 900});
    builder.Launch({.name = name}, at + 100);
    at += 5000;
  }
  builder.AddName("thread_name", KinetoBuilder::kProcess, 1234, HostileNames()[0]);
  const fs::path path = TestDir() / "x<y>&\"'.json";
  builder.Write(path);
  const ReadPage page = PageOf({path.string()}, {"--title", HostileNames()[0] + HostileNames()[5]});
  // The shell has the tags of the page, the data blocks theirs, and there are no others.
  const std::string& html = page.html();
  const auto count = [&](const std::string& text) {
    size_t found = 0;
    for (size_t i = html.find(text); i != std::string::npos; i = html.find(text, i + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<script type=\"application/"), page.blocks().size() + 1);
  EXPECT_EQ(count("alert(1)</script>"), 0u);
  EXPECT_EQ(html.find('\0'), std::string::npos);
  EXPECT_THAT(page.title(), HasSubstr("&lt;/script&gt;"));
  std::set<std::string> names;
  for (const json& signature : page.Signatures()) {
    if (signature.at("name").is_string()) names.insert(signature.at("name"));
  }
  for (const std::string& name : HostileNames()) {
    const json valid = json::parse(json(name).dump(-1, ' ', false, json::error_handler_t::replace));
    // The reader of traces may write control characters and broken bytes its own way.
    if (name.find('\xFF') != std::string::npos || name.find('\x01') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      continue;
    }
    EXPECT_TRUE(names.contains(valid.get<std::string>())) << name;
  }
}

TEST(ReportTest, PathsAreCutUnlessKept) {
  KinetoBuilder builder;
  const std::string folder = fs::canonical(TestDir()).string();
  builder.AddOperator({.start_ns = 1000,
                       .duration_ns = 9000,
                       .dims = "[[2, 3], [3, 4]]",
                       .types = R"(["float", "float"])",
                       .stack = folder + "/train.py(2): f"});
  builder.AddHost("python_function", folder + "/train.py(2): f", 1000, 20000);
  builder.AddHost("python_function", "/venv/lib/site-packages/timm/vit.py(5): g", 1000, 10000);
  builder.Launch({}, 2000);
  builder.Write(TestDir() / "net.json");
  const std::string output = (TestDir() / "page.html").string();
  const auto page = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"net.json", "-o", output, "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(RunReport(arguments, {.directory = folder}).exit_code, 0);
    return ReadPage(ReadFile(output));
  };
  const auto all_text = [](const ReadPage& of) {
    std::string text = of.summary().dump();
    for (const auto& [id, block] : of.blocks()) text += of.Bytes(id);
    return text;
  };
  const std::string cut = all_text(page({}));
  EXPECT_THAT(cut, Not(HasSubstr(folder)));
  EXPECT_THAT(cut, Not(HasSubstr("site-packages")));
  EXPECT_THAT(cut, HasSubstr("train.py"));
  EXPECT_THAT(cut, HasSubstr("timm/vit.py"));
  EXPECT_THAT(all_text(page({"--keep-paths"})), HasSubstr(folder + "/train.py"));
}

TEST(ReportTest, LimitsAreKept) {
  WriteKinetoRun(ExampleNetwork(), TestDir() / "net.json");
  const std::string profile = (TestDir() / "net.json").string();
  const std::string output = (TestDir() / "page.html").string();
  const size_t whole = PageOf({profile}).html().size();
  size_t refused = 0;
  size_t kept = 0;
  for (size_t limit = 1; limit < whole; limit += whole / 23) {
    fs::remove(output);
    const RunResult result =
        RunReport({profile, "-o", output, "--report-limit", std::to_string(limit)});
    if (result.exit_code == 2) {
      ++refused;
      EXPECT_FALSE(fs::exists(output));
      EXPECT_THAT(result.err, HasSubstr("--report-limit"));
      continue;
    }
    ++kept;
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const ReadPage page(ReadFile(output));
    EXPECT_LE(page.html().size(), limit);
    EXPECT_FALSE(page.summary().at("left_out").empty());
    EXPECT_THAT(result.err, HasSubstr("not on the page"));
    for (const json& view : page.summary().at("views")) {
      if (view.at("table").is_null()) {
        EXPECT_EQ(view.at("rows"), 0);
        continue;
      }
      EXPECT_EQ(page.Rows(view.at("fields"), view.at("table")).size(), view.at("rows"));
    }
    ExpectLinks(page, 0);
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(kept, 0u);
}

/// A profile of steps of 1 ms and a little more each, of which step 41 is the longest.
std::string WriteSteps(int steps, int launches) {
  KinetoBuilder builder;
  std::mt19937 random(5);
  const auto below = [&](uint32_t limit) { return static_cast<int64_t>(random() % limit); };
  int64_t at = 0;
  for (int step = 0; step < steps; ++step) {
    const int64_t length = step == 41 ? 2'000'000 : 1'000'000 + step;
    builder.AddHost("user_annotation", "ProfilerStep#" + std::to_string(step), at, length);
    for (int i = 0; i < launches; ++i) {
      const int64_t start = at + 10 + i * 700 + below(40);
      builder.AddOperator({.start_ns = start, .duration_ns = 600 + below(50)});
      builder.Launch({.duration_ns = 200 + below(300), .grid = {step + 1, 1, 1}}, start + 10);
    }
    at += length + 10;
  }
  builder.Write(TestDir() / "steps.json");
  return (TestDir() / "steps.json").string();
}

/// How many of a lane's events start within the host's time of each step; none does in what is
/// missing.
std::vector<size_t> EventsOfSteps(const ReadPage& page, const json& lane) {
  using Stretch = std::pair<int64_t, int64_t>;
  std::vector<Stretch> steps;
  for (const json& step : page.summary().at("ranks").at(0).at("steps")) {
    steps.emplace_back(NumberOf(step.at("host_start_ns")), NumberOf(step.at("host_end_ns")));
  }
  std::vector<Stretch> missing;
  for (const json& stretch : lane.at("missing")) {
    missing.emplace_back(NumberOf(stretch.at("start_ns")), NumberOf(stretch.at("end_ns")));
  }
  const auto is_in = [](const Stretch& stretch, const ReadPage::Event& event) {
    return event.start_ns >= stretch.first && event.start_ns < stretch.second;
  };
  std::vector<size_t> found(steps.size(), 0);
  size_t unexpected = 0;
  for (const ReadPage::Event& event : page.EventsOf(lane)) {
    for (size_t i = 0; i < steps.size(); ++i) found[i] += is_in(steps[i], event) ? 1u : 0u;
    for (const Stretch& stretch : missing) unexpected += is_in(stretch, event) ? 1u : 0u;
  }
  EXPECT_EQ(unexpected, 0u);
  return found;
}

TEST(ReportTest, HostEventsOfAFewStepsAreOnTheirPage) {
  constexpr int kLaunches = 100;
  const std::string profile = WriteSteps(60, kLaunches);
  // At the beginning, where an estimate by all events would look at none of these, and at the end.
  for (const std::string& steps : {std::string("0-1"), std::string("3"), std::string("58-59")}) {
    SCOPED_TRACE(steps);
    const ReadPage page = PageOf({profile}, {"--quiet", "--step-range", steps});
    const size_t count = steps == "3" ? 1 : 2;
    EXPECT_THAT(page.summary().at("left_out").dump(), Not(HasSubstr("of the host")));
    for (const json& lane : page.summary().at("timeline").at("lanes")) {
      if (lane.at("kind") != "thread") continue;
      EXPECT_EQ(page.EventsOf(lane).size(), count * (2 * kLaunches + 1));
    }
    ExpectLinks(page, count * kLaunches);
  }
}

TEST(ReportTest, HostEventsOfThreeStepsThenOfThoseThatFit) {
  constexpr int kSteps = 60;
  constexpr int kLaunches = 600;
  const std::string profile = WriteSteps(kSteps, kLaunches);
  // With room for all, and for some steps besides the three.
  size_t kept_before = SIZE_MAX;
  const auto limit_of = [](size_t more) {
    return std::to_string(report::EmbeddedPage().size() + more);
  };
  const auto is_cut = [&](size_t more) {
    const ReadPage page = PageOf({profile}, {"--quiet", "--report-limit", limit_of(more)});
    const json& lanes = page.summary().at("timeline").at("lanes");
    return std::any_of(lanes.begin(), lanes.end(), [](const json& lane) {
      return lane.at("kind") == "thread" && !lane.at("missing").empty();
    });
  };
  size_t more = 420'000;
  while (more > 350'000 && !is_cut(more)) more -= 5'000;
  const std::string some = limit_of(more);
  for (const std::string& limit : {std::string("10MB"), some}) {
    SCOPED_TRACE(limit);
    const ReadPage page = PageOf({profile}, {"--quiet", "--report-limit", limit});
    const std::string left_out = page.summary().at("left_out").dump();
    for (const json& lane : page.summary().at("timeline").at("lanes")) {
      if (lane.at("kind") != "thread") continue;
      EXPECT_EQ(lane.at("events"), kSteps * (2 * kLaunches + 1));
      const std::vector<size_t> found = EventsOfSteps(page, lane);
      size_t whole = 0;
      for (const size_t events : found) whole += events == 2 * kLaunches + 1u ? 1u : 0u;
      EXPECT_LT(whole, kept_before);
      kept_before = whole;
      if (limit == "10MB") {
        EXPECT_EQ(whole, size_t{kSteps});
        EXPECT_TRUE(lane.at("missing").empty());
        ExpectLinks(page, kSteps * kLaunches);
        EXPECT_THAT(left_out, Not(HasSubstr("of the host")));
        continue;
      }
      EXPECT_FALSE(lane.at("missing").empty());
      ExpectLinks(page, 3 * kLaunches);
      for (const size_t step : {0u, 29u, 41u}) EXPECT_EQ(found[step], 2 * kLaunches + 1u) << step;
      EXPECT_THAT(left_out, HasSubstr("(0, 29, 41)"));
      // Further steps are the first ones, and what is said to lack events does.
      EXPECT_GT(whole, 4u);
      EXPECT_EQ(found[1], 2 * kLaunches + 1u);
      EXPECT_LT(found[59], 2 * kLaunches + 1u);
      EXPECT_THAT(left_out, HasSubstr(" to 59: those of the first"));
    }
  }
}

TEST(ReportTest, HostEventsOfThreeStepsBeforeOtherEventsOfGpus) {
  // Five chunks of the GPU, of which the three steps are in three.
  const std::string profile = WriteSteps(120, 600);
  size_t seen = 0;
  for (const size_t more : {380'000u, 395'000u, 410'000u, 425'000u, 440'000u}) {
    const std::string limit = std::to_string(report::EmbeddedPage().size() + more);
    const ReadPage page = PageOf({profile}, {"--quiet", "--report-limit", limit});
    bool gpu_is_cut = false;
    bool steps_are_whole = true;
    for (const json& lane : page.summary().at("timeline").at("lanes")) {
      if (lane.at("kind") == "stream") {
        gpu_is_cut = !lane.at("missing").empty();
        continue;
      }
      const std::vector<size_t> found = EventsOfSteps(page, lane);
      for (const size_t step : {0u, 60u, 41u}) {
        steps_are_whole = steps_are_whole && found[step] == 2 * 600 + 1u;
      }
    }
    seen += gpu_is_cut && steps_are_whole ? 1u : 0u;
  }
  EXPECT_GT(seen, 0u);
}

TEST(ReportTest, OutputIsWholeOrNotThere) {
  WriteKinetoRun(ExampleNetwork(), TestDir() / "net.json");
  const std::string folder = TestDir().string();
  WriteFile(TestDir() / "page.html", "before");
  // A disk that fills up, an input that is not there, and one that is the output.
  EXPECT_EQ(
      RunReport({"net.json", "-o", "page.html"}, {.max_file_bytes = 5000, .directory = folder})
          .exit_code,
      1);
  EXPECT_EQ(ReadFile(TestDir() / "page.html"), "before");
  EXPECT_EQ(RunReport({"none.json", "-o", "page.html"}, {.directory = folder}).exit_code, 1);
  EXPECT_EQ(ReadFile(TestDir() / "page.html"), "before");
  EXPECT_EQ(RunReport({"net.json", "-o", "net.json"}, {.directory = folder}).exit_code, 2);
  EXPECT_EQ(RunReport({"net.json", "-o", "none/page.html"}, {.directory = folder}).exit_code, 1);
  EXPECT_THAT(FilesIn(TestDir()), testing::ElementsAre("net.json", "page.html"));
  // The name of one input.
  const RunResult named = RunReport({"net.json"}, {.directory = folder});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(named.err, HasSubstr("wrote net.json.html, "));
  EXPECT_EQ(ReadPage(ReadFile(TestDir() / "net.json.html")).title(), "net.json");
  EXPECT_EQ(RunReport({"net.json", "net.json"}, {.directory = folder}).exit_code, 2);
  const RunResult printed = RunReport({"net.json", "-o", "-", "--quiet"}, {.directory = folder});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(printed.out, ReadFile(TestDir() / "net.json.html"));
}

TEST(ReportTest, ExitCodes) {
  const std::string folder = TestDir().string();
  KinetoBuilder empty;
  empty.Write(TestDir() / "empty.json");
  EXPECT_EQ(RunReport({"empty.json"}, {.directory = folder}).exit_code, 0);
  EXPECT_EQ(RunReport({"empty.json", "--strict"}, {.directory = folder}).exit_code, 3);
  EXPECT_EQ(RunReport({"--nonsense"}, {.directory = folder}).exit_code, 2);
  EXPECT_EQ(RunReport({}, {.directory = folder}).exit_code, 2);
  WriteFile(TestDir() / "no.json", "{]");
  EXPECT_EQ(RunReport({"no.json"}, {.directory = folder}).exit_code, 1);
  const RunResult version = RunReport({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, testing::StartsWith("report (oplens) "));
  EXPECT_THAT(RunReport({"-h"}).out, HasSubstr("--report-limit"));
  // A file of a folder that cannot be read costs the others nothing.
  fs::create_directories(TestDir() / "run");
  WriteKinetoRun(ExampleNetwork(), TestDir() / "run" / "a.json");
  WriteFile(TestDir() / "run" / "b.json", "{]");
  const RunResult partly = RunReport({"run"}, {.directory = folder});
  EXPECT_EQ(partly.exit_code, 3);
  EXPECT_THAT(partly.err, HasSubstr("left out"));
  EXPECT_THAT(partly.err, Not(HasSubstr("prof:")));
  EXPECT_TRUE(fs::exists(TestDir() / "run.html"));
}

TEST(ReportTest, OpenShowsThePage) {
  WriteKinetoRun(ExampleNetwork(), TestDir() / "net.json");
  const fs::path programs = TestDir() / "programs";
  fs::create_directories(programs);
  const fs::path seen = TestDir() / "seen";
  WriteFile(programs / "xdg-open", "#!/bin/sh\nprintf %s \"$1\" > '" + seen.string() + "'\n");
  ASSERT_EQ(::chmod((programs / "xdg-open").c_str(), 0755), 0);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (programs.string() + ":" + path).c_str(), 1);
  const std::string folder = fs::canonical(TestDir()).string();
  const RunResult result = RunReport({"net.json", "--open"}, {.directory = folder});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ReadFile(seen), folder + "/net.json.html");
  WriteFile(programs / "xdg-open", "#!/bin/sh\nexit 3\n");
  const RunResult failed = RunReport({"net.json", "--open"}, {.directory = folder});
  EXPECT_EQ(failed.exit_code, 0);
  EXPECT_THAT(failed.err, HasSubstr("xdg-open could not show the page"));
  ::setenv("PATH", "/nonexistent", 1);
  const RunResult without = RunReport({"net.json", "--open"}, {.directory = folder});
  EXPECT_EQ(without.exit_code, 0);
  EXPECT_THAT(without.err, HasSubstr("xdg-open cannot be run"));
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace oplens::test::program_test
