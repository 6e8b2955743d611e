#include "prof/views/streams/overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "ops/gpu/gpu.h"
#include "prof/compat/tb/views.h"
#include "prof/run/steps.h"
#include "prof/views/views.h"
#include "test/support/kineto_builder.h"
#include "test/support/test_files.h"
#include "test/views/made_run.h"

namespace oplens::test::overview_test {
namespace {

using prof::kOverviewView;

/// The figures of a row as "key=value ..." of those keys.
std::string Figures(const ViewRow& row, const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) {
    if (&key != keys.data()) text += ' ';
    text += row.at(key);
  }
  return text;
}

const std::vector<std::string> kParts = {"kernel_ns",  "memcpy_ns",     "memset_ns", "comm_ns",
                                         "runtime_ns", "dataloader_ns", "cpu_ns",    "other_ns"};

TEST(OverviewTest, TheFirstClassThatRunsHasTheMoment) {
  // The example of the plugin's manual: an operator [1,3], a kernel [2,7], a copy [5,6] in it.
  MadeRun made;
  made.AddStep(0, 1, 7);
  made.AddRange("aten::mm", 1, 3, RangeKind::kOperator);
  made.AddKernel(2, 7);
  made.AddCopy(5, 6);
  const auto rows = made.RowsOf(kOverviewView.make);
  ASSERT_EQ(rows.size(), 2u);
  // It says nothing of API calls: whether there were any is not known.
  EXPECT_EQ(Figures(rows[0], kParts), "5 0 0 0  0 1 0");
  EXPECT_EQ(rows[0].at("total_ns"), "6");
  EXPECT_EQ(rows[0].at("kernel_exposed_ns"), "4");
  EXPECT_EQ(rows[0].at("kernel_hidden_ns"), "1");
  EXPECT_EQ(rows[0].at("memcpy_exposed_ns"), "0");
  EXPECT_EQ(rows[0].at("memcpy_hidden_ns"), "1");
  EXPECT_EQ(rows[0].at("cpu_exposed_ns"), "1");
  EXPECT_EQ(rows[0].at("cpu_hidden_ns"), "1");
  EXPECT_EQ(std::stod(rows[0].at("busy_pct")), 100.0 * 5 / 6);
}

TEST(OverviewTest, EachClass) {
  MadeRun made;
  made.AddStep(5, 0, 100);
  made.AddRange("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 10);
  made.AddRange("aten::empty", 2, 5, RangeKind::kOperator);
  made.AddRange("label", 20, 60);
  made.AddRange("train.py:3", 0, 100, RangeKind::kFrame);
  made.AddRange("Linear_0", 0, 100, RangeKind::kModule);
  const LaunchIndex call = made.AddCall(30, 35);
  made.AddKernel(40, 50, call);
  made.AddKernel(45, 70, call, "ncclKernel_AllReduce", 0, 9);
  made.AddFill(68, 75);
  made.AddCopy(74, 80);
  const auto rows = made.RowsOf(kOverviewView.make);
  //                           kernel 40-50, memcpy 74-80, memset 68-74, comm 50-68, runtime 30-35,
  //                           dataloader 0-10, cpu 35-40 no: queued; other 10-30, 35-40, 80-100.
  EXPECT_EQ(Figures(rows[0], kParts), "10 6 6 18 5 10 0 45");
  EXPECT_EQ(Figures(rows[0], {"queued_ns", "cold_ns", "end_ns"}), "5 0 0");
  EXPECT_EQ(rows[0].at("comm_exposed_ns"), "18");
  EXPECT_EQ(rows[0].at("comm_hidden_ns"), "7");
  EXPECT_EQ(rows[0].at("state"), "steady");
  EXPECT_EQ(rows[0].at("host_ns"), "100");
  EXPECT_EQ(rows[0].at("mfu_pct"), "");
}

TEST(OverviewTest, MeanIsThatOfWholeSteps) {
  MadeRun made;
  for (int64_t step = 0; step < 3; ++step) made.AddStep(step, 100 * step, 100 * step + 100);
  made.AddKernel(10, 20, made.AddCall(1, 2));
  made.AddKernel(110, 141, made.AddCall(101, 102));
  const auto rows = made.RowsOf(kOverviewView.make);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2].at("state"), "cut");
  EXPECT_EQ(rows[3].at("step"), "mean");
  EXPECT_EQ(rows[3].at("kernel_ns"), "20.5");
  EXPECT_EQ(rows[3].at("total_ns"), "100");
  EXPECT_EQ(rows[3].at("busy_pct"), "20.5");
  EXPECT_EQ(rows[3].at("start_ns"), "");
}

TEST(OverviewTest, WithoutStepsOneRowForTheRun) {
  MadeRun made;
  made.AddKernel(-20, -10);
  const auto rows = made.RowsOf(kOverviewView.make);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(Figures(rows[0], {"step", "start_ns", "total_ns", "kernel_ns", "other_ns"}),
            "0 0 10 10 0");
  MadeRun none;
  EXPECT_TRUE(none.RowsOf(kOverviewView.make).empty());
}

TEST(OverviewTest, DamagedTimes) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  made.AddRange("reversed", 50, 40);
  made.AddRange("open", 10, kNeverClosed);
  made.AddKernel(60, 50);
  made.AddKernel(0, 0);
  made.AddCall(30, 20);
  made.AddKernel(INT64_MIN, INT64_MAX - 1);
  made.AddCopy(INT64_MIN + 5, 20);
  const auto rows = made.RowsOf(kOverviewView.make);
  // The one that spans everything has no length that fits, and is left out.
  EXPECT_EQ(Figures(rows[0], kParts), "0 0 0 0 0 0 0 100");
}

TEST(OverviewTest, DeepNestingCountsOnce) {
  MadeRun made;
  made.AddStep(0, 0, 20000);
  for (int64_t i = 0; i < 5000; ++i) made.AddRange("op", i, 20000 - i, RangeKind::kOperator);
  EXPECT_EQ(Figures(made.RowsOf(kOverviewView.make)[0], kParts), "     0 20000 0");
}

TEST(OverviewTest, UtilisationOfProducts) {
  MadeRun made;
  made.AddStep(0, 0, 1000);
  made.AddStep(1, 1000, 2000);
  made.AddKernel(100, 300, made.AddCall(10, 20));
  made.AddKernel(1100, 1300, made.AddCall(1010, 1020));
  ops::Gpu gpu;
  gpu.peaks_per_s.fill(1e12);
  // 500 ns at the peak; of the second step a quarter is computed again.
  const auto see = [&](prof::PricedKernel* kernel) {
    kernel->gpu = &gpu;
    kernel->dtype = "fp32";
    kernel->share.flops_mma = 500'000;
    if (kernel->work == 1) kernel->phase = Phase::kRecompute;
  };
  const auto rows = made.RowsOf(kOverviewView.make, see);
  EXPECT_EQ(rows[0].at("mfu_pct"), "50");
  EXPECT_EQ(rows[1].at("mfu_pct"), "0");
  EXPECT_EQ(rows[2].at("mfu_pct"), "25");
}

TEST(OverviewTest, UtilisationIsOfAllGpus) {
  MadeRun made;
  made.AddStep(0, 0, 1000);
  made.AddKernel(100, 300, made.AddCall(10, 20));
  made.AddKernel(100, 300, made.AddCall(20, 30), "kernel", 1);
  ops::Gpu gpu;
  gpu.peaks_per_s.fill(1e12);
  const auto see = [&](prof::PricedKernel* kernel) {
    kernel->gpu = &gpu;
    kernel->dtype = "fp32";
    kernel->share.flops_mma = 500'000;
  };
  EXPECT_EQ(made.RowsOf(kOverviewView.make, see)[0].at("mfu_pct"), "50");
}

TEST(OverviewTest, RanksInAnyOrderOfMerging) {
  const auto partial_of = [](std::string_view rank, int64_t length_ns) {
    MadeRun made;
    made.trace.rank_name = made.trace.strings.Intern(rank);
    made.AddStep(0, 0, length_ns);
    return made.PartialOf(kOverviewView.make, [](prof::PricedKernel*) {});
  };
  const auto two = partial_of("2", 20);
  const auto ten = partial_of("10", 100);
  const auto more = partial_of("10", 60);
  const auto forward = kOverviewView.make({});
  for (const auto* partial : {&two, &ten, &more}) forward->Merge(**partial);
  const auto backward = kOverviewView.make({});
  for (const auto* partial : {&more, &ten, &two}) backward->Merge(**partial);
  const auto rows = RowsOf(*forward);
  EXPECT_EQ(rows, RowsOf(*backward));
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(Figures(rows[1], {"rank", "step", "total_ns"}), "2 mean 20");
  EXPECT_EQ(Figures(rows[4], {"rank", "step", "total_ns"}), "10 mean 80");
}

TEST(OverviewTest, RecordsTellNoSteps) {
  const auto partial = kOverviewView.make({});
  partial->Begin(nullptr);
  partial->End(nullptr);
  EXPECT_TRUE(RowsOf(*partial).empty());
  ASSERT_EQ(partial->Notes().size(), 1u);
  EXPECT_NE(partial->Notes()[0].find("needs the profile itself"), std::string::npos);
}

// Six steps, of which the first takes three times as long, and the last holds the end of the
// recording.
void AddUnevenSteps(MadeRun* made) {
  const int64_t lengths[] = {3000, 1000, 1010, 990, 1005, 1800};
  int64_t at = 0;
  for (int64_t i = 0; i < 6; ++i) {
    made->AddStep(i, at, at + lengths[i]);
    made->AddKernel(at + 20, at + 900, made->AddCall(at + 10, at + 15));
    at += lengths[i];
  }
}

TEST(OverviewTest, TheMeanIsOverSteadySteps) {
  MadeRun made;
  AddUnevenSteps(&made);
  const auto rows = made.RowsOf(kOverviewView.make);
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows[0].at("state"), "warm-up");
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(rows[i].at("state"), "steady");
  EXPECT_EQ(rows[5].at("state"), "ending");
  EXPECT_DOUBLE_EQ(std::stod(rows[6].at("total_ns")), (1000 + 1010 + 990 + 1005) / 4.0);
}

TEST(OverviewTest, AllStepsOnRequest) {
  MadeRun made;
  AddUnevenSteps(&made);
  made.run_options.all_steps = true;
  const auto rows = made.RowsOf(kOverviewView.make);
  EXPECT_EQ(rows[0].at("state"), "steady");
  EXPECT_DOUBLE_EQ(std::stod(rows[6].at("total_ns")),
                   (3000 + 1000 + 1010 + 990 + 1005 + 1800) / 6.0);
}

TEST(OverviewTest, NumberedRangesAreProposedAsSteps) {
  MadeRun made;
  made.AddRange("generate 7", 0, 40'000);  // The number of one range is no count.
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t at = i * 10'000;
    made.AddRange("token_" + std::to_string(i + 5) + " (x)", at, at + 9'000);
    for (int64_t layer = 0; layer < 2; ++layer) {
      made.AddRange("layer_" + std::to_string(layer), at + layer * 4'000,
                    at + layer * 4'000 + 3'000);
      made.AddKernel(at + layer * 4'000 + 200, at + layer * 4'000 + 1'000 + i,
                     made.AddCall(at + layer * 4'000 + 10, at + layer * 4'000 + 20),
                     i == 2 ? "other" : "kernel");
    }
  }
  const auto partial = made.PartialOf(kOverviewView.make, [](prof::PricedKernel*) {});
  EXPECT_THAT(
      partial->Notes(),
      testing::Contains("overview: ranges token_* (x) repeat 4 times, with 100 % of the GPU's "
                        "work: --step '^token_(\\d+) \\(x\\)$' takes them as steps"));
  MadeRun marked;
  marked.AddStep(0, 0, 100'000);
  for (int64_t i = 0; i < 4; ++i) {
    marked.AddRange("token_" + std::to_string(i), i * 100, i * 100 + 90);
    marked.AddKernel(i * 100 + 20, i * 100 + 40, marked.AddCall(i * 100 + 10, i * 100 + 12));
  }
  for (const std::string& note :
       marked.PartialOf(kOverviewView.make, [](prof::PricedKernel*) {})->Notes()) {
    EXPECT_THAT(note, testing::Not(testing::HasSubstr("token")));
  }
}

/// The note that proposes steps.
std::string ProposalOf(MadeRun* made) {
  const auto partial = made->PartialOf(kOverviewView.make, [](prof::PricedKernel*) {});
  for (const std::string& note : partial->Notes()) {
    if (note.starts_with("overview: ranges ")) return note;
  }
  return "";
}

/// Work of other kernels each time: nothing repeats.
void AddWork(MadeRun* made, int64_t at, int64_t length_ns) {
  made->AddKernel(at + 5, at + 5 + length_ns, made->AddCall(at, at + 2),
                  "kernel " + std::to_string(at));
}

TEST(OverviewTest, LabelsThatRepeatAreProposedToo) {
  MadeRun made;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t at = i * 10'000;
    made.AddRange("nccl:all_reduce", at, at + 9'900);
    made.AddRange("user's pass", at, at + 9'000, RangeKind::kMarker);
    made.AddRange("user's pass", at + 10, at + 8'000, RangeKind::kMarker);
    made.AddRange("inner", at + 20, at + 7'900);
    made.AddRange("aten::mm, seq = 1", at, at + 9'500, RangeKind::kMarker);
    for (int64_t part = 0; part < 2; ++part) {
      made.AddRange("attention", at + 100 + part * 1'000, at + 900 + part * 1'000);
      AddWork(&made, at + 200 + part * 1'000 + i, 400);
    }
    AddWork(&made, at + 7'000 + i, 200);
  }
  EXPECT_EQ(ProposalOf(&made),
            "overview: ranges user's pass repeat 3 times, with 100 % of the GPU's work: --step "
            "'^user.s pass$' takes them as steps; or attention (6 times, 80 %): --step "
            "'^attention$'");
}

TEST(OverviewTest, WhatOverlapsOrHoldsLittleIsNotProposed) {
  MadeRun made;
  const ThreadIndex other = made.AddThread(1, 2);
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t at = i * 10'000;
    made.AddRange("request", at, at + 9'000);
    made.AddRange("request", at + 5'000, at + 14'000, RangeKind::kAnnotation, other);
    made.AddRange("little", at, at + 150);
    AddWork(&made, at + 100 + i, 400);
    AddWork(&made, at + 300 + i, 500);
  }
  EXPECT_EQ(ProposalOf(&made), "");
}

TEST(OverviewTest, ALongLabelIsProposedByItsStart) {
  const std::string label = "MoE[experts=64, tokens=16, topk=2, hidden=512]";
  const auto made_with = [&](std::string_view other) {
    MadeRun made;
    for (int64_t i = 0; i < 3; ++i) {
      made.AddRange(label, i * 1'000, i * 1'000 + 900);
      AddWork(&made, i * 1'000 + 100, 400 + i);
    }
    made.AddRange(other, 5'000, 5'100);
    return ProposalOf(&made);
  };
  EXPECT_EQ(
      made_with("warm-up"),
      "overview: ranges MoE[experts=64, tokens=16, topk=... repeat 3 times, with 100 % of the "
      "GPU's work: --step '^MoE\\[experts=64, tokens=16, topk=' takes them as steps");
  EXPECT_THAT(made_with("MoE[experts=64, tokens=16, topk=3]"),
              testing::HasSubstr("--step '^MoE\\[experts=64, tokens=16, topk=2, hidden=512\\]$'"));
}

/// A server: a prefill of 9000 ns and six steps of decoding of 1000 ns.
void Serve(MadeRun* made) {
  const auto step = [&](std::string_view text, int64_t at, int64_t length_ns) {
    made->AddRange(text, at, at + length_ns);
    made->AddRange("step[DECODE bs=9]", at + 1, at + length_ns - 1);  // The outermost tells.
    AddWork(made, at + 10, length_ns - 100);
  };
  step("execute_context_2(900)_generation_0(0)", 0, 9'000);
  for (int64_t i = 0; i < 6; ++i) {
    step(i % 2 == 0 ? "execute_context_0(0)_generation_2(2)"
                    : "execute_context_0(0)_generation_3(3)",
         9'000 + i * 1'000, 1'000);
  }
}

TEST(OverviewTest, PhasesOfAServerAreNotMixed) {
  MadeRun made;
  made.run_options.step_in = [](std::string_view text) {
    return prof::StepText{text.starts_with("execute_"), std::nullopt, false};
  };
  Serve(&made);
  const auto rows = made.RowsOf(kOverviewView.make);
  ASSERT_EQ(rows.size(), 8u);
  const std::vector<std::string> keys = {"step", "state", "phase", "requests", "tokens"};
  EXPECT_EQ(Figures(rows[0], keys), "0 other-phase prefill 2 900");
  EXPECT_EQ(Figures(rows[1], keys), "1 steady decode 2 2");
  EXPECT_EQ(Figures(rows[2], keys), "2 steady decode 3 3");
  EXPECT_EQ(Figures(rows[7], keys), "mean  decode 2.5 2.5");
  EXPECT_EQ(rows[7].at("total_ns"), "1000");
  EXPECT_THAT(
      made.PartialOf(kOverviewView.make, [](prof::PricedKernel*) {})->Notes(),
      testing::Contains("overview: 1 step of prefill (median 0.009 ms), 6 of decode (median "
                        "0.001 ms)"));
}

TEST(OverviewTest, LabelsOfAServerAreProposedTogether) {
  MadeRun made;
  Serve(&made);
  EXPECT_EQ(ProposalOf(&made),
            "overview: ranges execute_* repeat 7 times, with 100 % of the GPU's work: --step "
            "'^execute_(?:\\d+_)?(?:context|new)_\\d' takes them as steps");
  // The run itself is both.
  const auto rows = made.RowsOf(kOverviewView.make);
  EXPECT_EQ(Figures(rows[0], {"step", "phase", "requests", "tokens"}), "0 mixed  915");
}

TEST(OverviewTest, ALabelIsOfTheStepsThatItSharesMostOf) {
  MadeRun made;
  for (int64_t i = 0; i < 4; ++i) made.AddStep(i, i * 1'000, i * 1'000 + 900);
  made.AddRange("prefill", 0, 2'950);                        // Around three steps,
  made.AddRange("decode_3", 2'960, 3'850);                   // of the last,
  made.AddRange("decode", 3'000, 3'100);                     // and within another one.
  made.AddKernel(3'200, 3'210, made.AddCall(3'100, 3'110));  // No other step is cut by it.
  const auto phases = [&] {
    std::string text;
    for (const prof::Step& step : made.run().steps().all()) {
      text += step.served ? prof::ServedPhaseWord(step.served->phase) : "-";
      text += ' ';
    }
    return text;
  };
  EXPECT_EQ(phases(), "prefill prefill prefill decode ");
  MadeRun with_requests;
  with_requests.AddStep(0, 0, 1'000);
  with_requests.AddRange("prefill", 0, 900);
  with_requests.AddRange("step[DECODE bs=3]", 100, 300);
  with_requests.AddRange("step[EXTEND bs=3 toks=50]", 400, 500);
  const auto served = with_requests.run().steps().all()[0].served;
  EXPECT_EQ(served, (prof::ServedStep{prof::ServedPhase::kMixed, std::nullopt, 53}));
}

TEST(OverviewTest, StepsOfTrainingHaveNoPhase) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  made.AddRange("decode_jpeg", 10, 20);
  made.AddKernel(20, 30, made.AddCall(12, 13));
  EXPECT_EQ(Figures(made.RowsOf(kOverviewView.make)[0], {"phase", "requests", "tokens"}), "  ");
}

TEST(OverviewTest, WorkOfTheProfilerIsAReason) {
  const auto state = [](int64_t end_ns, OverheadKind kind) {
    MadeRun made;
    for (int64_t i = 0; i < 6; ++i) {
      const int64_t at = i * 10'000;
      made.AddStep(i, at, at + (i == 3 ? 3000 : 1000));
      made.AddKernel(at + 20, at + 900, made.AddCall(at + 10, at + 15));
    }
    made.trace.overheads.push_back({31'000, end_ns, 0, kind});
    return made.RowsOf(kOverviewView.make)[3].at("state");
  };
  EXPECT_EQ(state(32'500, OverheadKind::kBufferFlush), "profiler");
  EXPECT_EQ(state(31'500, OverheadKind::kBufferFlush), "steady") << "most of it has no reason";
  EXPECT_EQ(state(32'500, OverheadKind::kDriverCompiler), "steady") << "the program's own work";
}

TEST(TensorBoardOverviewTest, CommunicationIsWhatTheHostSaysOfIt) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  made.AddRange("nccl:all_reduce", 10, 40);
  made.AddRange("nccl:all_to_all", 50, 60);
  const LaunchIndex call = made.AddCall(12, 14);
  made.AddKernel(30, 50, call, "ncclKernel_AllReduce");
  made.AddCall(90, 95, "cuLaunchKernel");
  const auto rows = made.RowsOf(prof::MakeTbOverview);
  EXPECT_EQ(Figures(rows[0], kParts), "20 0 0 20 0 0 10 50");
  EXPECT_EQ(Figures(rows[0], {"kernel_exposed_ns", "kernel_hidden_ns", "comm_exposed_ns"}),
            "10 10 20");
  EXPECT_EQ(Figures(rows[0], {"state", "start_ns", "host_ns", "busy_pct", "mfu_pct"}), "    ");
  const auto ours = made.RowsOf(kOverviewView.make);
  EXPECT_EQ(Figures(ours[0], kParts), "0 0 0 20 7 0 12 61");
}

// Its kernels are known by the number that they have from the range.
TEST(TensorBoardOverviewTest, KernelsWithTheExternalIdOfACollective) {
  KinetoBuilder builder;
  builder.AddHost("user_annotation", "ProfilerStep#0", 0, 100'000);
  builder.AddHost("user_annotation", "nccl:all_reduce", 1000, 2000, 1234, {{"External id", "77"}});
  builder.AddHost("cuda_runtime", "cudaLaunchKernel", 2000, 500, 1234,
                  {{"External id", "77"}, {"correlation", "5"}});
  KinetoKernel kernel;
  kernel.name = "anything";
  kernel.start_ns = 10'000;
  kernel.duration_ns = 7000;
  kernel.correlation = 5;
  kernel.more = {{"External id", "77"}};
  builder.AddKernel(kernel);
  kernel.start_ns = 20'000;
  kernel.more = {{"External id", "78"}};
  builder.AddKernel(kernel);
  const std::string path = (TestDir() / "trace.json").string();
  builder.Write(path);
  const auto rows = RowsOf(*PartialOf(ViewBy("tb", "overview"), {path}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("kernel_ns"), "7000");
  EXPECT_EQ(rows[0].at("comm_ns"), "9000");
}

// Once a class leaves nothing of the steps, the next begins anew.
TEST(TensorBoardOverviewTest, AClassThatFillsTheStepsTakesNothing) {
  MadeRun made;
  made.AddStep(0, 0, 100);
  made.AddKernel(0, 100, made.AddCall(1, 5));
  made.AddCopy(10, 30);
  made.AddRange("op", 20, 60, RangeKind::kOperator);
  EXPECT_EQ(Figures(made.RowsOf(prof::MakeTbOverview)[0], kParts), "100 20 0 0 4 0 30 46");
  EXPECT_EQ(Figures(made.RowsOf(kOverviewView.make)[0], kParts), "100 0 0 0 0 0 0 0");
}

// The plugin counts as communication what host ranges of the names that it knows say: 147 us a step
// of this run, and its kernels of NCCL as compute. By their names they are communication, as
// HolisticTraceAnalysis has it too.
TEST(TensorBoardOverviewTest, KernelsOfCollectivesAreCommunicationToUs) {
  if (std::getenv("OPLENS_CORPUS_DIR") == nullptr) GTEST_SKIP() << "OPLENS_CORPUS_DIR is not set";
  const std::string path = CorpusFile("kineto/ddp_sampled_w128/rank0.json").string();
  const ViewRow ours = RowsOf(*PartialOf(ViewNamed("overview"), {path})).back();
  const ViewRow plugins = RowsOf(*PartialOf(ViewBy("tb", "overview"), {path})).back();
  EXPECT_EQ(plugins.at("comm_ns"), "147000");
  EXPECT_EQ(plugins.at("kernel_ns"), "273651500");
  EXPECT_EQ(ours.at("comm_ns"), "168016500");
  EXPECT_EQ(ours.at("kernel_ns"), "105160000");
  EXPECT_EQ(ours.at("total_ns"), plugins.at("total_ns"));
}

}  // namespace
}  // namespace oplens::test::overview_test
