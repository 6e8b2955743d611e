// Runs that are kept: every answer is what `prof` prints for the same words, byte for byte.

#include "engine/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "prof/table/formats.h"
#include "prof/table/kept_rows.h"
#include "test/support/program.h"
#include "test/support/test_files.h"
#include "test/support/whole_corpus.h"

namespace oplens::test::engine_run_test {
namespace {

namespace fs = std::filesystem;
using engine::Query;
using KeptRun = engine::Run;  // Tests have a Run() of their own.
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";
const std::string kH200 = SourceDir() + "/examples/data/h200/";

std::unique_ptr<prof::Destination> JsonFile(const std::string& path, bool names_tables) {
  for (const prof::Format& format : prof::Formats()) {
    if (format.option != "json") continue;
    prof::FormatPlan plan;
    plan.output = path;
    plan.names_tables = names_tables;
    return format.open(plan);
  }
  return nullptr;
}

struct Answer {
  std::string rows;
  std::string said;
};

Answer Ask(KeptRun* run, const Query& query) {
  const std::string path = TestDir() / "answer.jsonl";
  Messages messages("prof");
  const auto file = JsonFile(path, !query.view.empty());
  run->Ask(query, file.get(), &messages);
  return {ReadFile(path), messages.Whole()};
}

/// What the program prints for the same words.
Answer Printed(const std::vector<std::string>& paths, const Query& query, int exit_code = 0) {
  std::vector<std::string> words = {Program("prof"), "-v", "--json"};
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--view", query.view);
  add("--by", query.by);
  add("--where", query.where);
  add("-c", query.columns);
  if (query.top > 0) add("--top", std::to_string(query.top));
  for (const auto& [name, value] : query.more) {
    words.push_back("--" + name + (value.empty() ? "" : "=" + value));
  }
  words.insert(words.end(), paths.begin(), paths.end());
  const RunResult result = RunProgram(words);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  return {result.out, result.err};
}

/// `prof` reads ranks apart, so that each gives examples of its own.
std::string WithoutExamples(const std::string& text) {
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    kept += text.substr(at, std::min(text.find(", e.g. ", at), end) - at) + "\n";
    at = end + 1;
  }
  return kept;
}

void ExpectSame(KeptRun* run, const Query& query) {
  SCOPED_TRACE(run->paths().front() + " " + query.view + query.by + query.where + query.columns);
  const Answer answer = Ask(run, query);
  const Answer printed = Printed(run->paths(), query);
  // Not EXPECT_EQ, which would print megabytes.
  EXPECT_TRUE(answer.rows == printed.rows) << answer.rows.substr(0, 300) << "\n"
                                           << printed.rows.substr(0, 300);
  EXPECT_EQ(WithoutExamples(answer.said), WithoutExamples(printed.said));
}

/// Kernels with every column, all views, then some words.
void ExpectSameAnswers(const std::vector<std::string>& paths) {
  KeptRun run(paths);
  ExpectSame(&run, {.columns = "all"});
  ExpectSame(&run, {.view = "all"});
  ExpectSame(&run, {.by = "op,dir", .top = 5});
  ExpectSame(&run, {.where = "dir=bprop and sil>1us", .columns = "idx,op,sil,flops", .top = 7});
  ExpectSame(&run, {.view = "operators", .by = "layer", .columns = "all", .top = 3});
}

TEST(EngineRunTest, DemoAnswersAsProf) { ExpectSameAnswers({kDemo}); }

TEST(EngineRunTest, RanksAnswerAsProf) {
  const fs::path folder = TestDir() / "ranks";
  fs::create_directories(folder);
  fs::copy_file(kDemo, folder / "rank0.sql");
  fs::copy_file(kDemo, folder / "rank1.sql");
  ExpectSameAnswers({folder});
}

// Views that summaries keep are found in each rank by a thread.
TEST(EngineRunTest, RanksInThreadsAnswerAsProf) {
  const fs::path folder = TestDir() / "ranks";
  fs::create_directories(folder);
  fs::copy_file(kH200 + "graph.sql.gz", folder / "rank0.sql.gz");
  fs::copy_file(kH200 + "mlp_step.sql.gz", folder / "rank1.sql.gz");
  fs::copy_file(kDemo, folder / "rank2.sql");
  fs::copy_file(kH200 + "emit_nvtx.sql.gz", folder / "rank3.sql.gz");
  for (const char* jobs : {"1", "3"}) {
    KeptRun run({folder}, {{"jobs", jobs}});
    for (const char* view : {"overview", "operators,groups,idle,advice", "ranks,collectives"}) {
      ExpectSame(&run, {.view = view});
    }
    ExpectSame(&run, {.view = "operators", .by = "rank", .columns = "all"});
    ExpectSame(&run, {.view = "overview", .more = {{"device", "0"}, {"all-steps", ""}}});
    // What needs the whole run is found on one.
    ExpectSame(&run, {.view = "groups", .more = {{"range", "."}}});
    WorkMeter meter;
    meter.Stop();
    prof::KeptTables tables;
    Messages messages("prof");
    EXPECT_THROW(run.Ask({.view = "overview"}, &tables, &messages, &meter), Interrupted);
    meter.Resume();
    run.Ask({.view = "overview"}, &tables, &messages, &meter);
    EXPECT_EQ(meter.done(), meter.total());
    EXPECT_GT(meter.total(), 0);
  }
}

TEST(EngineRunTest, RecordsAnswerAsProf) {
  const std::string records = TestDir() / "demo.dict";
  ASSERT_EQ(RunProgram({Program("parse"), kDemo}, {.stdout_path = records}).exit_code, 0);
  ExpectSameAnswers({records});
}

TEST(EngineRunTest, SummariesAnswerAsProf) {
  const std::string summary = TestDir() / "demo.oplens";
  ASSERT_EQ(RunProgram({Program("prof"), "--save-baseline", summary, kDemo}).exit_code, 0);
  KeptRun run({summary});
  ExpectSame(&run, {.view = "overview"});
  ExpectSame(&run, {.view = "operators", .top = 2});
  prof::KeptTables tables;
  Messages messages("prof");
  EXPECT_THROW(run.Ask({}, &tables, &messages), Error);
}

TEST(EngineRunTest, OptionsAnswerAsProf) {
  KeptRun run({kDemo});
  ExpectSame(&run, {.more = {{"copies", ""}}});
  ExpectSame(&run, {.view = "operators", .more = {{"compat", "torch"}}});
  ExpectSame(&run, {.view = "overview", .more = {{"gpu", "H200"}, {"all-steps", ""}}});
  ExpectSame(&run, {.more = {{"sort", "-sil"}, {"op", "outer"}}});
}

TEST(EngineRunTest, WordsOfTheRunHoldForEachQuestion) {
  KeptRun run({kDemo}, {{"gpu", "H200"}});
  const Query asked{.view = "gpu"};
  EXPECT_EQ(Ask(&run, asked).rows,
            Printed({kDemo}, {.view = "gpu", .more = {{"gpu", "H200"}}}).rows);
  const Query other{.view = "gpu", .more = {{"gpu", "B200"}}};
  EXPECT_EQ(Ask(&run, other).rows, Printed({kDemo}, other).rows);
  EXPECT_NE(Ask(&run, other).rows, Ask(&run, asked).rows);
}

TEST(EngineRunTest, WrongWordsAreRefusedAndTheRunGoesOn) {
  KeptRun run({kDemo});
  prof::KeptTables tables;
  Messages messages("prof");
  const std::vector<Query> wrong = {{.view = "overvieww"},
                                    {.view = "list"},
                                    {.where = "dir=="},
                                    {.columns = "nothing"},
                                    {.columns = std::string("si\0l", 4)},
                                    {.more = {{"output", "x"}}},
                                    {.more = {{"csv", ""}}},
                                    {.more = {{"device", "-1"}}}};
  for (const Query& query : wrong) {
    EXPECT_THROW(run.Ask(query, &tables, &messages), UsageError) << query.view << query.where;
  }
  EXPECT_THROW(KeptRun({kDemo}, {{"where", "sil>1"}}), UsageError);
  EXPECT_THROW(KeptRun({}), UsageError);
  EXPECT_THROW(KeptRun({""}), UsageError);
  ExpectSame(&run, {.view = "overview"});
}

TEST(EngineRunTest, UnreadableFilesAreErrorsAtOnce) {
  const std::string text = TestDir() / "a.txt";
  const std::string empty = TestDir() / "empty.json";
  WriteFile(text, "no profile\n");
  WriteFile(empty, "");
  for (const std::string& path : {std::string(TestDir() / "none.json"), empty, std::string("-")}) {
    EXPECT_THROW(KeptRun({path}), Error) << path;
  }
  // What is no profile is taken for records, whose lines are read when they are asked for.
  KeptRun run({text});
  prof::KeptTables tables;
  Messages messages("prof");
  EXPECT_THROW(run.Ask({}, &tables, &messages), Error);
}

TEST(EngineRunTest, WhatIsLeftOutIsToldNotPrinted) {
  const fs::path folder = TestDir() / "ranks";
  fs::create_directories(folder);
  fs::copy_file(kDemo, folder / "rank0.sql");
  WriteFile(folder / "rank1.json", "{\"schemaVersion\": 1");
  testing::internal::CaptureStderr();
  KeptRun run({folder});
  const Answer answer = Ask(&run, {.view = "overview"});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty());
  ASSERT_EQ(run.left_out().size(), 1U);
  EXPECT_THAT(run.left_out().front(), HasSubstr("rank1.json"));
  EXPECT_EQ(answer.rows, Printed({folder}, {.view = "overview"}, 3).rows);
}

TEST(EngineRunTest, StopEndsTheQuestionOnly) {
  KeptRun run({kDemo});
  prof::KeptTables tables;
  Messages messages("prof");
  WorkMeter meter;
  meter.Stop();
  EXPECT_THROW(run.Ask({}, &tables, &messages, &meter), Interrupted);
  meter.Resume();
  EXPECT_GT(run.Ask({}, &tables, &messages, &meter), 0);
  meter.Stop();
  EXPECT_THROW(run.Ask({.view = "overview"}, &tables, &messages, &meter), Interrupted);
  EXPECT_THROW(run.Ask({.more = {{"copies", ""}}}, &tables, &messages, &meter), Interrupted);
  ExpectSame(&run, {.view = "overview"});
}

TEST(EngineRunTest, ThreadsAskOneRunAndSeveral) {
  KeptRun shared({kDemo});
  const auto ask = [&](KeptRun* run, std::string* rows) {
    for (int i = 0; i < 3; ++i) {
      prof::KeptTables tables;
      Messages messages("prof");
      run->Ask({.view = "operators"}, &tables, &messages);
      const prof::KeptRows& kept = tables.At(0);
      rows->clear();
      for (size_t row = 0; row < kept.size(); ++row) {
        for (size_t place = 0; place < kept.fields().size(); ++place) {
          *rows += kept.Printed(row, place) + ";";
        }
      }
    }
  };
  std::vector<std::string> rows(4);
  std::vector<std::thread> threads;
  KeptRun own({kDemo});
  for (size_t i = 0; i < rows.size(); ++i) {
    threads.emplace_back(ask, i == 0 ? &own : &shared, &rows[i]);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(rows[0].empty());
  for (const std::string& one : rows) EXPECT_EQ(one, rows[0]);
}

TEST(EngineRunCorpusTest, AnswersAsProf) {
  OPLENS_NEED_CORPUS();
  SKIP_WITH_SANITIZERS();
  const fs::path corpus = CorpusDir().path;
  for (const char* name :
       {"nvprof/lm.sql.gz", "nvprof/pointcloud_metrics.nvvp.gz", "nsys/poolformer_trt.sqlite.gz",
        "nsys/saxpy_mpi.sqlite.gz", "kineto/h100/bert_small.json.gz",
        "kineto/amd/mi250_minitoy_rocm62.json.gz", "kineto/cpu_only/rank_non_gpu.json.gz",
        "kineto/linear_tp2", "kineto/sglang_qwen3_8b/decode_graph.json.gz"}) {
    ExpectSameAnswers({corpus / name});
  }
}

}  // namespace
}  // namespace oplens::test::engine_run_test
