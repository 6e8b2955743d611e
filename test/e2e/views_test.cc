// prof --view on profiles of every family, records, and files that cannot feed a view.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "prof/advice/rule.h"
#include "prof/compat/tb/rules.h"
#include "prof/views/view_plan.h"
#include "test/e2e/e2e.h"
#include "test/support/kineto_builder.h"
#include "test/support/network_run.h"
#include "test/support/test_files.h"

namespace oplens::test::views_test {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Rows = std::vector<nlohmann::json>;

Rows RowsIn(const std::string& text) {
  Rows rows;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    rows.push_back(nlohmann::json::parse(text.substr(begin, end - begin)));
  }
  return rows;
}

Rows ViewOf(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--json", "--view"});
  const RunResult result = RunProf(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return RowsIn(result.out);
}

int64_t SumOf(const Rows& rows, const char* key) {
  int64_t sum = 0;
  for (const auto& row : rows) sum += row.at(key).is_null() ? 0 : row.at(key).get<int64_t>();
  return sum;
}

class ViewsEndToEnd : public testing::Test {
 protected:
  void SetUp() override {
    const NetworkRun run = ExampleNetwork();
    WriteNvprofRun(run, dir_ / "net.sql");
    WriteNsysRun(run, dir_ / "net.sqlite");
    WriteKinetoRun(run, dir_ / "net.json");
  }
  std::string Path(const char* name) const { return (dir_ / name).string(); }
  fs::path dir_ = TestDir();
};

constexpr const char* kFamilies[] = {"net.sql", "net.sqlite", "net.json"};

/// The words of a command line; what stands in '' is one.
std::vector<std::string> WordsOf(std::string_view command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back().push_back(c);
    }
  }
  return words;
}

// What an advice names to be typed can be.
TEST_F(ViewsEndToEnd, CommandsOfAdvice) {
  std::vector<std::string_view> commands;
  for (const prof::advice::Rule& rule : prof::advice::Rules()) commands.push_back(rule.command);
  for (const prof::advice::TbRule& rule : prof::advice::TbRules()) commands.push_back(rule.command);
  for (const std::string_view command : commands) {
    std::vector<std::string> words = WordsOf(command);
    words.push_back((dir_ / "net.sql").string());
    const RunResult result = RunProf(words);
    EXPECT_EQ(result.exit_code, 0) << command << ": " << result.err;
  }
}

TEST_F(ViewsEndToEnd, ListNamesAll) {
  const RunResult result = RunProf({"--view", "list"});
  EXPECT_EQ(result.exit_code, 0);
  for (const prof::View& view : prof::Views()) {
    EXPECT_THAT(result.out, HasSubstr(fmt::format("{} ", view.name)));
    EXPECT_THAT(result.out, HasSubstr(std::string(view.help)));
  }
}

TEST_F(ViewsEndToEnd, SeveralNeedAFormatThatHoldsThem) {
  for (const char* format : {"--csv", "--quiet", "-w200"}) {
    const RunResult result = RunProf({"--view", "gpu,overview", format, Path("net.sql")});
    EXPECT_EQ(result.exit_code, 2) << format;
    EXPECT_THAT(result.err, HasSubstr("several views need --json or --sqlite")) << format;
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(ViewsEndToEnd, WhatDoesNotGoTogether) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--view", "no-such"},
           {"--view", ""},
           {"--view", "gpu", "--check"},
           {"--compat", "tb"},
           {"--view", "gpu", "--compat", "plugin"},
           {"--view", "gpu", "--by", "op"},
           {"--view", "gpu", "--sort", "flops"},
           {"--view", "gpu", "-c", "flops"},
           {"--view", "gpu", "--step-range", "7-3"},
           {"--view", "gpu", "--step-range", "x"},
           {"--view", "gpu", "--time-range", "5"},
           {"--view", "gpu", "--time-range", "5-2"},
           {"--view", "overview", "--range", "x"},
           {"--view", "overview", "--compat", "tb", "--step-range", "1"},
           {"--step-range", "1-2"},
           {"--view", "gpu", "--device=-1"},
           {"--device", "0"}}) {
    std::vector<std::string> command = arguments;
    command.push_back(Path("net.sql"));
    const RunResult result = RunProf(command);
    EXPECT_EQ(result.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST_F(ViewsEndToEnd, ATableAView) {
  const std::string database = (dir_ / "views.db").string();
  const RunResult result = RunProf({"--view", "all", "--sqlite", database, Path("net.json")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  SQLite::Database db(database);
  for (const prof::View& view : prof::Views()) {
    std::string table(view.name);
    std::replace(table.begin(), table.end(), '-', '_');
    SQLite::Statement columns(db, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
    std::set<std::string> names;
    while (columns.executeStep()) names.insert(columns.getColumn(0).getString());
    for (const prof::Field& field : view.fields()) {
      EXPECT_EQ(names.count(std::string(field.key)), field.on_request ? 0u : 1u)
          << view.name << ' ' << field.key;
    }
  }
  EXPECT_GT(db.execAndGet("SELECT count(*) FROM kernels").getInt(), 0);
  EXPECT_EQ(db.execAndGet("SELECT sum(total) FROM groups").getInt64(),
            db.execAndGet("SELECT sum(sil) FROM kernels").getInt64());
}

TEST_F(ViewsEndToEnd, EachJsonRowNamesItsView) {
  const RunResult result = RunProf({"--json", "--view", "kernels,overview,gpu", Path("net.json")});
  std::set<std::string> views;
  for (const auto& row : RowsIn(result.out)) views.insert(row.at("view").get<std::string>());
  for (size_t at = 0; at < result.out.size(); at = result.out.find('\n', at) + 1) {
    EXPECT_EQ(result.out.substr(at, 19), "{\"schema\":1,\"view\":");
  }
  EXPECT_THAT(views, ElementsAre("gpu", "kernels", "overview"));
}

TEST_F(ViewsEndToEnd, OthersChangeNothing) {
  const Rows all = ViewOf({"all", Path("net.json")});
  for (const prof::View& view : prof::Views()) {
    Rows own;
    for (const auto& row : all) {
      if (row["view"] == std::string(view.name)) own.push_back(row);
    }
    if (!view.some.empty()) continue;  // It has more columns among others.
    EXPECT_EQ(ViewOf({std::string(view.name), Path("net.json")}), own);
  }
}

// Each file holds the same kernels and calls of the run, though not the same of the host.
TEST_F(ViewsEndToEnd, FamiliesAgreeOnWhatTheyAllHold) {
  std::map<std::string, std::vector<std::string>> told;
  for (const char* name : kFamilies) {
    const auto keep = [&](const Rows& rows, std::initializer_list<const char*> keys) {
      std::string text;
      for (const auto& row : rows) {
        for (const char* key : keys) text += row.at(key).dump() + ' ';
        text += '\n';
      }
      told[testing::PrintToString(std::vector<std::string>(keys.begin(), keys.end()))].push_back(
          text);
    };
    keep(ViewOf({"overview", Path(name)}), {"step", "kernel_ns", "memcpy_ns", "memset_ns",
                                            "comm_ns", "kernel_exposed_ns", "kernel_hidden_ns"});
    keep(ViewOf({"gpu", Path(name)}),
         {"device", "busy_ns", "kernels", "kernel_ns", "copy_ns", "comm_ns"});
    keep(ViewOf({"temporal", Path(name)}),
         {"idle_ns", "compute_ns", "non_compute_ns", "kernel_ns"});
    keep(ViewOf({"kernel-types", Path(name)}), {"type", "sum_ns"});
    keep(ViewOf({"groups", Path(name)}),
         {"kernel", "count", "total", "flops", "bytes", "p50_ns", "p95_ns", "gap_ns"});
  }
  for (const auto& [keys, texts] : told) {
    ASSERT_EQ(texts.size(), 3u);
    EXPECT_NE(texts[0], "") << keys;
    EXPECT_EQ(texts[0], texts[1]) << keys;
    EXPECT_EQ(texts[0], texts[2]) << keys;
  }
}

TEST_F(ViewsEndToEnd, OperatorsSumToTheDevice) {
  for (const char* name : kFamilies) {
    const Rows operators = ViewOf({"operators", Path(name)});
    const Rows kernels = ViewOf({"kernels", Path(name), "-c", "all"});
    EXPECT_EQ(SumOf(operators, "device_self_ns"), SumOf(kernels, "sil")) << name;
    EXPECT_EQ(SumOf(operators, "flops"), SumOf(kernels, "flops")) << name;
    for (const auto& row : operators) {
      EXPECT_LE(row["device_busy_ns"], row["device_self_ns"]) << row;
    }
  }
}

TEST_F(ViewsEndToEnd, RecordsFeedWhatTheyTell) {
  const RunResult parsed = RunParse({"--quiet", Path("net.json")});
  WriteFile(dir_ / "net.dict", parsed.out);
  EXPECT_EQ(SumOf(ViewOf({"groups", Path("net.dict")}), "total"),
            SumOf(ViewOf({"groups", Path("net.json")}), "total"));
  for (const char* view : {"overview", "gpu", "operators", "temporal", "kernel-types"}) {
    const RunResult result = RunProf({"--json", "--view", view, Path("net.dict")});
    EXPECT_EQ(result.exit_code, 0) << view;
    EXPECT_EQ(result.out, "") << view;
    EXPECT_THAT(result.err, HasSubstr(fmt::format("prof: {}", view))) << "says why";
    EXPECT_EQ(RunProf({"--strict", "--json", "--view", view, Path("net.dict")}).exit_code, 3);
  }
}

TEST_F(ViewsEndToEnd, TopFoldsTheRest) {
  const Rows all = ViewOf({"groups", Path("net.json")});
  const Rows some = ViewOf({"groups", "--top", "1", Path("net.json")});
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(SumOf(some, "total"), SumOf(all, "total"));
  EXPECT_EQ(SumOf(some, "calls"), SumOf(all, "calls"));
}

TEST_F(ViewsEndToEnd, TwoRanksAreBothFilesTogether) {
  fs::create_directory(dir_ / "job");
  fs::copy(dir_ / "net.json", dir_ / "job/rank0.json");
  fs::copy(dir_ / "net.json", dir_ / "job/rank1.json");
  const std::string job = (dir_ / "job").string();
  for (const char* view : {"groups", "operators", "kernel-types"}) {
    Rows one = ViewOf({view, Path("net.json")});
    const Rows two = ViewOf({view, job});
    ASSERT_EQ(one.size(), two.size()) << view;
    for (size_t i = 0; i < one.size(); ++i) {
      for (const char* key : {"total", "calls", "device_self_ns", "host_self_ns", "sum_ns"}) {
        if (!one[i].contains(key) || one[i][key].is_null()) continue;
        EXPECT_EQ(two[i][key].get<int64_t>(), 2 * one[i][key].get<int64_t>()) << view << ' ' << key;
      }
    }
  }
  for (const char* view : {"overview", "gpu", "temporal"}) {
    const Rows two = ViewOf({view, job});
    EXPECT_EQ(two.size(), 2 * ViewOf({view, Path("net.json")}).size()) << view;
    EXPECT_NE(two.front()["rank"], two.back()["rank"]) << view;
  }
}

// Six steps of 1 ms, each with two kernels on each of two GPUs.
fs::path WriteSteps(const fs::path& path) {
  KinetoBuilder builder;
  for (int64_t step = 1; step <= 6; ++step) {
    const int64_t start_ns = step * 1'000'000;
    builder.AddHost("user_annotation", fmt::format("ProfilerStep#{}", step), start_ns, 1'000'000);
    for (int64_t i = 0; i < 4; ++i) {
      KinetoOperator op;
      op.name = i % 2 == 0 ? "aten::mm" : "aten::add";
      op.start_ns = start_ns + 10'000 + i * 100'000;
      op.duration_ns = 50'000;
      builder.AddOperator(op);
      KinetoKernel kernel;
      kernel.correlation = builder.AddCall("cudaLaunchKernel", op.start_ns + 1'000, 2'000);
      kernel.start_ns = op.start_ns + 60'000;
      kernel.duration_ns = 1'000 * step + i;
      kernel.device = i / 2;
      builder.AddKernel(kernel);
    }
  }
  builder.Write(path);
  return path;
}

TEST_F(ViewsEndToEnd, PartsOfARunAddUp) {
  const std::string path = WriteSteps(dir_ / "steps.json").string();
  const auto sums = [&](std::vector<std::string> part) {
    std::map<std::string, int64_t> told;
    for (const auto& [view, key] :
         std::vector<std::pair<std::string, const char*>>{{"operators", "device_self_ns"},
                                                          {"operators", "host_self_ns"},
                                                          {"operators", "calls"},
                                                          {"groups", "total"},
                                                          {"gpu", "kernel_ns"},
                                                          {"temporal", "compute_ns"},
                                                          {"kernel-types", "sum_ns"},
                                                          {"kernels", "sil"}}) {
      std::vector<std::string> arguments = {view, path};
      arguments.insert(arguments.end(), part.begin(), part.end());
      told[view + key] += SumOf(ViewOf(arguments), key);
    }
    return told;
  };
  const auto add = [](std::map<std::string, int64_t> a, const std::map<std::string, int64_t>& b) {
    for (const auto& [key, value] : b) a[key] += value;
    return a;
  };
  const auto all = sums({});
  EXPECT_EQ(all.at("kernelssil"), 4 * 21'000 + 6 * 6);
  EXPECT_EQ(all.at("operatorsdevice_self_ns"), all.at("kernelssil"));
  EXPECT_EQ(all.at("operatorscalls"), 24);
  EXPECT_EQ(add(sums({"--step-range", "1-2"}), sums({"--step-range", "3-6"})), all);
  EXPECT_EQ(sums({"--step-range", "3"}), sums({"--time-range", "2-3"}));
  auto devices = add(sums({"--device", "0"}), sums({"--device", "1"}));
  // The host is of both.
  devices["operatorshost_self_ns"] /= 2;
  devices["operatorscalls"] /= 2;
  EXPECT_EQ(devices, all);
  EXPECT_EQ(sums({"--step-range", "3"}).at("kernelssil"), 4 * 3'000 + 6);
  EXPECT_EQ(ViewOf({"overview", path, "--step-range", "2-3"}).size(), 3u);
}

// What ran in a step is the same whether others are looked at or not.
TEST_F(ViewsEndToEnd, AStepIsTheSameAmongOthers) {
  const std::string path = WriteSteps(dir_ / "steps.json").string();
  const auto step = [](const Rows& rows, int number) {
    for (const auto& row : rows) {
      if (row["step"] == std::to_string(number)) return row;
    }
    return nlohmann::json();
  };
  const auto all = step(ViewOf({"overview", path}), 3);
  EXPECT_EQ(all["kernel_ns"], 4 * 3'000 + 6 - 0);
  EXPECT_EQ(step(ViewOf({"overview", path, "--step-range", "3"}), 3), all);
  const Rows by_step = ViewOf({"temporal", "--by", "step", path});
  const Rows one = ViewOf({"temporal", path, "--step-range", "3"});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0]["idle_ns"], by_step.at(2)["idle_ns"]);
  EXPECT_EQ(one[0]["kernel_ns"], by_step.at(2)["kernel_ns"]);
}

TEST_F(ViewsEndToEnd, NothingSelectedSaysWhichStepsThereAre) {
  const std::string path = WriteSteps(dir_ / "steps.json").string();
  const RunResult result = RunProf({"--view", "overview", "--step-range", "70", path});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("no step lies in what is selected: the steps are 1 to 6"));
}

TEST_F(ViewsEndToEnd, AFileThatEndsEarlySaysSo) {
  const std::string path = WriteSteps(dir_ / "steps.json").string();
  const std::string text = ReadFile(path);
  WriteFile(path, text.substr(0, text.size() * 2 / 3));
  const Rows losses = ViewOf({"losses", path});
  EXPECT_TRUE(std::any_of(losses.begin(), losses.end(),
                          [](const auto& row) { return row["loss"] == "file-cut"; }));
  for (const auto& row : ViewOf({"overview", path})) {
    if (row["step"] == "mean") continue;
    EXPECT_EQ(row["state"], "cut");
  }
}

TEST_F(ViewsEndToEnd, HiddenReplaysCanBeSelected) {
  if (std::getenv("OPLENS_CORPUS_DIR") == nullptr) GTEST_SKIP() << "OPLENS_CORPUS_DIR is not set";
  const std::string path = CorpusFile("nsys/lm27b_graph.sqlite").string();
  for (const char* device : {"0", "1"}) {
    EXPECT_EQ(RunProf({"--view", "all", "--json", "--device", device, path}).exit_code, 0);
  }
}

TEST_F(ViewsEndToEnd, StepsOfAPattern) {
  KinetoBuilder builder;
  for (int64_t batch = 7; batch < 9; ++batch) {
    const int64_t start_ns = batch * 1'000'000;
    builder.AddHost("user_annotation", fmt::format("batch {}", batch), start_ns, 500'000);
    KinetoKernel kernel;
    kernel.correlation = builder.AddCall("cudaLaunchKernel", start_ns + 1'000, 2'000);
    kernel.start_ns = start_ns + 5'000;
    kernel.duration_ns = 100 * batch;
    builder.AddKernel(kernel);
  }
  builder.Write(dir_ / "batches.json");
  const Rows rows = ViewOf({"overview", "--step", "batch ([0-9]+)", Path("batches.json")});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["step"], "7");
  EXPECT_EQ(rows[0]["kernel_ns"], 700);
  EXPECT_EQ(rows[0]["host_ns"], 500'000);
  EXPECT_EQ(rows[1]["kernel_ns"], 800);
}

TEST_F(ViewsEndToEnd, RowsSayByWhoseRules) {
  for (const auto& [view, compat, rules] :
       std::vector<std::array<std::string, 3>>{{"overview", "tb", "tb"},
                                               {"overview", "hta", "oplens"},
                                               {"temporal", "hta", "hta"},
                                               {"temporal", "tb", "oplens"},
                                               {"losses", "tb", "oplens"}}) {
    for (const auto& row : ViewOf({view, "--compat", compat, Path("net.json")})) {
      EXPECT_EQ(row.at("rules"), rules) << view << compat;
    }
  }
  for (const auto& row : ViewOf({"overview", Path("net.json")}))
    EXPECT_FALSE(row.contains("rules"));
}

TEST_F(ViewsEndToEnd, EveryFileOfTheCorpusFeedsAllViews) {
  if (std::string_view(OPLENS_SANITIZE) != "")
    GTEST_SKIP() << "others run this code with sanitizers";
  const char* corpus = std::getenv("OPLENS_CORPUS_DIR");
  if (corpus == nullptr) GTEST_SKIP() << "OPLENS_CORPUS_DIR is not set";
  const std::string database = (dir_ / "views.db").string();
  size_t read = 0;
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    if (!entry.is_regular_file()) continue;
    const fs::path name = fs::relative(entry.path(), corpus);
    std::string path = entry.path().string();
    if (path.find("/golden/") != std::string::npos) continue;
    // Databases are packed there.
    if (*name.begin() == "nsys" || *name.begin() == "nvprof") {
      path = CorpusFile((name.parent_path() / name.stem()).string()).string();
    }
    const RunResult result = RunProf({"--view", "all", "--sqlite", database, path});
    if (result.exit_code != 0) {
      // No profile: then it feeds no table of kernels either.
      EXPECT_NE(RunProf({"--quiet", "--sqlite", database, path}).exit_code, 0)
          << path << result.err;
      continue;
    }
    ++read;
    SQLite::Database db(database);
    const auto value = [&](const char* sql) { return db.execAndGet(sql).getInt64(); };
    EXPECT_EQ(
        value("SELECT count(*) FROM overview WHERE step != 'mean' AND total_ns != kernel_ns + "
              "memcpy_ns + memset_ns + comm_ns + runtime_ns + dataloader_ns + cpu_ns + "
              "other_ns"),
        0)
        << path;
    EXPECT_EQ(value("SELECT count(*) FROM operators WHERE device_self_ns > device_total_ns"), 0)
        << path;
    EXPECT_EQ(value("SELECT coalesce(sum(idle_ns + compute_ns + non_compute_ns - kernel_ns), 0) "
                    "FROM temporal"),
              0)
        << path;
    EXPECT_EQ(value("SELECT count(*) FROM gpu WHERE busy_pct > 100 OR sm_efficiency_pct > 100 OR "
                    "tc_time_pct > 100 OR busy_pct < 0"),
              0)
        << path;
  }
  EXPECT_GT(read, 80u);
}

}  // namespace
}  // namespace oplens::test::views_test
