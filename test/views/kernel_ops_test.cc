// idle and launches by the ops of the work around gaps and of the work launched.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "parse/model/kernel_record.h"
#include "prof/views/views.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"
#include "test/support/whole_corpus.h"
#include "test/views/made_run.h"

namespace oplens::prof::kernel_ops_test {
namespace {

using test::MadeRun;
using test::ViewRow;
using testing::ElementsAre;

ViewOptions By(std::vector<std::string> words) {
  ViewOptions options;
  options.by = std::move(words);
  return options;
}

/// A kernel's op is its name up to the first '_'; "none": unknown.
void SeeOp(PricedKernel* kernel) {
  const std::string_view name = kernel->record->short_name;
  kernel->op = name.substr(0, name.find('_'));
  if (kernel->op == "none") kernel->op = {};
}

/// Of each row but (all): the values of its keys and its figure.
std::vector<std::string> Texts(const std::vector<ViewRow>& rows,
                               const std::vector<std::string>& fields) {
  std::vector<std::string> texts;
  for (const ViewRow& row : rows) {
    if (row.contains("cause") && row.at("cause") == "(all)") continue;
    std::string text;
    for (const std::string& field : fields) {
      text += (field == fields.front() ? "" : " ") + row.at(field);
    }
    texts.push_back(text);
  }
  return texts;
}

// GPU |mm 100-200|  |copy 230-240|  |none 300-310|  |mm 400-500| to the end of the step at 1000
MadeRun& AddWork(MadeRun* made) {
  made->AddStep(1, 0, 1000);
  made->AddKernel(100, 200, made->AddCall(90, 95), "mm_1");
  made->AddCopy(230, 240, made->AddCall(210, 220, "cudaMemcpyAsync"));
  made->AddKernel(300, 310, made->AddCall(250, 260), "none_1");
  made->AddKernel(400, 500, made->AddCall(320, 330), "mm_2");
  return *made;
}

TEST(IdleByOpTest, WholeGapsByTheWorkThatEndsThem) {
  MadeRun made;
  const auto rows = AddWork(&made).RowsOf(kIdleView.make, SeeOp, By({"op_after"}));
  EXPECT_THAT(
      Texts(rows, {"op_after", "idle_ns", "gaps", "max_ns", "cause"}),
      ElementsAre("(end) 500 1 500 ", "mm 190 2 100 ", " 60 1 60 ", "Memcpy Unknown 30 1 30 "));
  EXPECT_EQ(rows.front().at("idle_ns"), "780");
}

TEST(IdleByOpTest, WholeGapsByTheWorkBefore) {
  MadeRun made;
  AddWork(&made);
  EXPECT_THAT(
      Texts(made.RowsOf(kIdleView.make, SeeOp, By({"op_before"})), {"op_before", "idle_ns"}),
      ElementsAre("mm 530", "(start) 100", " 90", "Memcpy Unknown 60"));
  EXPECT_THAT(Texts(made.RowsOf(kIdleView.make, SeeOp, By({"op_before", "op_after"})),
                    {"op_before", "op_after", "idle_ns"}),
              ElementsAre("mm (end) 500", "(start) mm 100", " mm 90", "Memcpy Unknown  60",
                          "mm Memcpy Unknown 30"));
}

// Of work that runs at once, that which ends last is before the gap.
TEST(IdleByOpTest, WorkThatEndsLast) {
  MadeRun made;
  made.AddStep(1, 0, 100);
  made.AddKernel(0, 50, kNoLaunch, "long_1", 0, 7);
  made.AddKernel(10, 20, kNoLaunch, "short_1", 0, 8);
  made.AddKernel(60, 100, kNoLaunch, "mm_1", 0, 8);
  EXPECT_THAT(
      Texts(made.RowsOf(kIdleView.make, SeeOp, By({"op_before"})), {"op_before", "idle_ns"}),
      ElementsAre("long 10"));
  EXPECT_THAT(Texts(made.RowsOf(kIdleView.make, SeeOp, By({"stream", "op_before"})),
                    {"stream", "op_before", "idle_ns"}),
              ElementsAre("8 short 40"));
}

TEST(IdleByOpTest, CausesOfTheGaps) {
  MadeRun made;
  AddWork(&made);
  EXPECT_THAT(Texts(made.RowsOf(kIdleView.make, SeeOp, By({"op_after", "cause"})),
                    {"op_after", "cause", "idle_ns"}),
              testing::IsSupersetOf({"(end) tail 500", "mm queued 75", "mm launch 15"}));
  // Beside words that are about causes these are there anyway.
  for (const ViewRow& row : made.RowsOf(kIdleView.make, SeeOp, By({"op_after", "call"}))) {
    EXPECT_NE(row.at("cause"), "");
  }
}

TEST(LaunchesByOpTest, OpsOfWhatIsLaunched) {
  MadeRun made;
  AddWork(&made);
  const LaunchIndex graph = made.AddCall(700, 710, "cudaGraphLaunch");
  made.AddKernel(720, 730, graph, "mm_g").graph = true;
  ViewOptions options = By({"op"});
  options.copies = true;
  EXPECT_THAT(
      Texts(made.RowsOf(kLaunchesView.make, SeeOp, options), {"op", "launches", "graph_launches"}),
      ElementsAre(" 1 0", "(graph replay) 0 1", "Memcpy Unknown 1 0", "mm 2 0"));
}

/// Sums of the figures of a view's rows, without those that stand for others.
std::map<std::string, int64_t> SumsOf(const std::vector<ViewRow>& rows, bool totals,
                                      const std::vector<std::string>& figures) {
  std::map<std::string, int64_t> sums;
  for (const std::string& figure : figures) sums[figure] = 0;  // There may be no row.
  for (const ViewRow& row : rows) {
    if (row.contains("cause") && (row.at("cause") == "(all)") != totals) continue;
    for (const std::string& figure : figures) sums[figure] += std::stoll(row.at(figure));
  }
  return sums;
}

const std::vector<std::string> kLaunchFigures = {"launches", "cpu_ns", "gpu_ns", "delay_ns",
                                                 "graph_launches"};

RC_GTEST_PROP(KernelOpsProperty, RowsSumToTheTotal, ()) {
  MadeRun made;
  const auto times = *rc::gen::container<std::vector<std::tuple<int, int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 1000), rc::gen::inRange(0, 60), rc::gen::inRange(0, 5),
                     rc::gen::inRange(0, 3)));
  RC_PRE(!times.empty());
  for (const auto& [start, length, op, stream] : times) {
    const bool launched = op != 4;
    const LaunchIndex call = launched ? made.AddCall(start / 2, start / 2 + 5) : kNoLaunch;
    const std::string name = std::string(op == 3 ? "none" : "op" + std::to_string(op)) + "_k";
    made.AddKernel(start, start + length, call, name, 0, stream);
  }
  const auto total = SumsOf(made.RowsOf(kIdleView.make, SeeOp), true, {"idle_ns"});
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"op_after"}, {"op_before"}, {"op_after", "op_before", "cause"}, {"op_after", "op"}}) {
    const auto rows = made.RowsOf(kIdleView.make, SeeOp, By(words));
    RC_ASSERT(SumsOf(rows, false, {"idle_ns"})["idle_ns"] == total.at("idle_ns"));
    RC_ASSERT(SumsOf(rows, true, {"idle_ns"}) == total);
  }
  RC_ASSERT(SumsOf(made.RowsOf(kLaunchesView.make, SeeOp, By({"op"})), false, kLaunchFigures) ==
            SumsOf(made.RowsOf(kLaunchesView.make, SeeOp), false, kLaunchFigures));
}

TEST(KernelOpsCorpusTest, RowsSumToTheTotal) {
  SKIP_WITH_SANITIZERS();
  OPLENS_NEED_CORPUS();
  for (const char* name : {"kineto/h100/vit_nsfw.json.gz", "kineto/mi300/bert_small.json.gz",
                           "kineto/sglang_qwen3_8b/decode_graph.json.gz", "nvprof/lm.sql"}) {
    SCOPED_TRACE(name);
    const std::string path = std::string_view(name).ends_with(".gz")
                                 ? (test::CorpusDir().path / name).string()
                                 : test::CorpusFile(name).string();
    const auto rows = [&](const View& view, const std::vector<std::string>& words) {
      return test::RowsOf(*test::PartialOf(view, {path}, By(words)));
    };
    const auto total = SumsOf(rows(kIdleView, {}), true, {"idle_ns", "gaps"});
    for (const char* word : {"op_after", "op_before"}) {
      EXPECT_EQ(SumsOf(rows(kIdleView, {word}), false, {"idle_ns", "gaps"}), total) << word;
    }
    EXPECT_EQ(SumsOf(rows(kLaunchesView, {"op"}), false, kLaunchFigures),
              SumsOf(rows(kLaunchesView, {}), false, kLaunchFigures));
  }
}

}  // namespace
}  // namespace oplens::prof::kernel_ops_test
