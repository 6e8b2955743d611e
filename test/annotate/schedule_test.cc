// The capture schedule: its plan, its transitions, and what is emitted meanwhile.

#include "nvtx_annotate/schedule.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <random>

#include "nvtx_annotate/annotate.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "test/annotate/annotate_fixture.h"
#include "test/support/test_files.h"

extern "C" int64_t oplens_test_schedule_from_c(void);

namespace oplens::test::schedule_test {
namespace {

using annotate::Action;
using annotate::Schedule;
using annotate::ScheduledCapture;
using annotate::ScopedRange;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kNone = OPLENS_ACTION_NONE;
constexpr int kWarmup = OPLENS_ACTION_WARMUP;
constexpr int kRecord = OPLENS_ACTION_RECORD;
constexpr int kSave = OPLENS_ACTION_RECORD_AND_SAVE;
constexpr int kExit = OPLENS_ACTION_EXIT;

/// The actions of the first steps, a letter each: "." nothing, w warmup, r record, s save.
std::string Letters(const oplens_schedule_plan& plan, int64_t steps) {
  std::string letters;
  for (int64_t step = 0; step < steps; ++step) {
    const int action = oplens_schedule_action(&plan, step);
    letters += action < 0 ? '!' : ".wrs"[action];
  }
  return letters;
}

/// The same, phase by phase instead of by numbers.
std::string Written(const oplens_schedule_plan& plan, size_t steps) {
  std::string letters(static_cast<size_t>(plan.skip_first), '.');
  for (int64_t cycle = 0; letters.size() < steps && (plan.repeat == 0 || cycle < plan.repeat);
       ++cycle) {
    const bool waits = cycle > 0 || plan.skip_first_wait == 0;
    letters += std::string(static_cast<size_t>(waits ? plan.wait : 0), '.');
    letters += std::string(static_cast<size_t>(plan.warmup), 'w');
    letters += std::string(static_cast<size_t>(plan.active - 1), 'r') + "s";
  }
  letters.resize(steps, '.');
  return letters;
}

TEST(SchedulePlanTest, ExamplesByHand) {
  EXPECT_EQ(Letters({1, 1, 2, 0, 0, 0}, 10), ".wrs.wrs.w");
  EXPECT_EQ(Letters({1, 1, 2, 1, 0, 0}, 10), ".wrs......");
  EXPECT_EQ(Letters({0, 0, 1, 0, 0, 0}, 4), "ssss");
  EXPECT_EQ(Letters({2, 0, 1, 2, 1, 0}, 10), "...s..s...");
  EXPECT_EQ(Letters({2, 1, 1, 0, 1, 1}, 10), ".ws..ws..w");
  EXPECT_EQ(Letters({5, 0, 2, 1, 0, 7}, 10), "rs........");
}

TEST(SchedulePlanTest, EveryPlanOfSmallNumbers) {
  for (int64_t number = 0; number < 4 * 4 * 3 * 4 * 4 * 2; ++number) {
    int64_t rest = number;
    const auto take = [&rest](int64_t count) {
      const int64_t digit = rest % count;
      rest /= count;
      return digit;
    };
    const oplens_schedule_plan plan = {take(4), take(4), take(3) + 1, take(4), take(4), take(2)};
    ASSERT_EQ(Letters(plan, 60), Written(plan, 60)) << number;
  }
}

TEST(SchedulePlanTest, WhatIsNoPlan) {
  for (const oplens_schedule_plan& plan : std::vector<oplens_schedule_plan>{{-1, 0, 1, 0, 0, 0},
                                                                            {0, -1, 1, 0, 0, 0},
                                                                            {0, 0, 0, 0, 0, 0},
                                                                            {0, 0, -1, 0, 0, 0},
                                                                            {0, 0, 1, -1, 0, 0},
                                                                            {0, 0, 1, 0, -1, 0}}) {
    EXPECT_EQ(oplens_schedule_action(&plan, 0), -1);
    EXPECT_EQ(oplens_schedule_new(&plan, nullptr, nullptr), nullptr);
  }
  const oplens_schedule_plan plan = {0, 0, 1, 0, 0, 0};
  EXPECT_EQ(oplens_schedule_action(&plan, -1), -1);
  EXPECT_EQ(oplens_schedule_action(nullptr, 0), -1);
  EXPECT_STREQ(oplens_schedule_start(nullptr), "");
  EXPECT_STREQ(oplens_schedule_step(nullptr), "");
  EXPECT_STREQ(oplens_schedule_stop(nullptr), "");
  EXPECT_EQ(oplens_schedule_cycle(nullptr), 0);
  oplens_schedule_delete(nullptr);
  Schedule none;
  EXPECT_TRUE(none.IsValid());
  none.active = 0;
  EXPECT_FALSE(none.IsValid());
  EXPECT_EQ(none.At(0), Action::kNone);
}

TEST(SchedulePlanTest, GreatNumbers) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Letters({0, 0, kMax, kMax, 0, 0}, 3), "rrr");
  EXPECT_EQ(Letters({kMax, kMax, kMax, 0, 0, 0}, 3), "...");
  EXPECT_EQ(Letters({kMax, kMax, kMax, 1, 0, 1}, 3), "www");
  EXPECT_EQ(Letters({0, 0, 1, 0, kMax, 0}, 3), "...");
  const oplens_schedule_plan plan = {1, 0, 1, 0, 0, 0};
  EXPECT_GE(oplens_schedule_action(&plan, kMax), 0);
}

TEST(ScheduleTransitionTest, TheTable) {
  const auto row = [](int from) {
    std::vector<std::string> letters;
    for (const int to : {kNone, kWarmup, kRecord, kSave, kExit}) {
      letters.push_back(oplens_schedule_transition(from, to));
    }
    return letters;
  };
  EXPECT_THAT(row(kNone), ElementsAre("", "P", "PS", "PS", ""));
  EXPECT_THAT(row(kWarmup), ElementsAre("WSX", "", "S", "S", "SX"));
  EXPECT_THAT(row(kRecord), ElementsAre("WX", "WX", "", "", "XT"));
  EXPECT_THAT(row(kSave), ElementsAre("XT", "XTP", "XTPS", "XTPS", "XT"));
  for (const int odd : {-1, 5, 1000}) {
    EXPECT_STREQ(oplens_schedule_transition(odd, kNone), "");
    EXPECT_STREQ(oplens_schedule_transition(kNone, odd), "");
  }
  EXPECT_STREQ(oplens_schedule_transition(kExit, kNone), "");
}

/// What a schedule does in the process.
class ScheduleTest : public AnnotateTest {
 protected:
  void TearDown() override { annotate::Start(); }

  /// Marks of ours, and callbacks as "ready N"; cycles count from those of the process before.
  std::vector<std::string> Marks() const {
    std::vector<std::string> marks;
    for (const NvtxEvent& event : Capture().events) {
      if (event.kind == NvtxEvent::Kind::kMark && event.domain == "oplens") {
        marks.push_back(Renumbered(event.text));
      }
    }
    return marks;
  }
  std::string Renumbered(const std::string& text) const {
    const size_t at = text.rfind(' ') + 1;
    const bool numbered = text.find("cycle ") != text.npos;
    return numbered ? text.substr(0, at) + std::to_string(std::stoll(text.substr(at)) - before_)
                    : text;
  }

  const int64_t before_ = [] {
    oplens_schedule* const schedule = oplens_schedule_new(nullptr, nullptr, nullptr);
    oplens_schedule_start(schedule);
    const int64_t cycle = oplens_schedule_cycle(schedule);
    oplens_schedule_delete(schedule);
    return cycle;
  }();
};

TEST_F(ScheduleTest, EachCompleteCycleIsTold) {
  Schedule plan;
  plan.wait = 1;
  plan.warmup = 1;
  plan.active = 2;
  plan.repeat = 2;
  std::vector<int64_t> told;
  ScheduledCapture capture(plan, [&](int64_t cycle) { told.push_back(cycle - before_); });
  for (int i = 0; i < 3; ++i) capture.Step();
  EXPECT_THAT(told, IsEmpty());
  capture.Step();
  EXPECT_THAT(told, ElementsAre(1));
  for (int i = 0; i < 10; ++i) capture.Step();
  EXPECT_THAT(told, ElementsAre(1, 2));
}

TEST_F(ScheduleTest, RangesOfStepsAndWhatLiesInThem) {
  const auto run = [] {
    Schedule plan;
    plan.wait = 1;
    plan.warmup = 1;
    plan.active = 2;
    plan.skip_first = 1;
    ScheduledCapture capture(plan);
    for (int i = 0; i < 9; ++i) {
      { const ScopedRange range(fmt::format("work {}", i)); }
      capture.Step();
    }
  };
  const std::vector<std::string> seen =
      TakesPayloads()
          ? std::vector<std::string>{"ProfilerStep#2", "  work 2", "ProfilerStep#3", "  work 3",
                                     "ProfilerStep#4", "  work 4", "ProfilerStep#6", "  work 6",
                                     "ProfilerStep#7", "  work 7", "ProfilerStep#8", "  work 8"}
          : std::vector<std::string>{"ProfilerStep#3", "  work 3", "ProfilerStep#4", "  work 4",
                                     "ProfilerStep#7", "  work 7", "ProfilerStep#8", "  work 8"};
  // Step 2 and 6 warm up: emitted only where the recorder drops what is outside of its window.
  EXPECT_EQ(EmitOutline(run), seen);
  EXPECT_THAT(Marks(), ElementsAre("capture stop: schedule", "capture start: cycle 1",
                                   "capture stop: cycle 1", "capture start: cycle 2",
                                   "capture stop: cycle 2"));
}

TEST_F(ScheduleTest, WithoutAPlan) {
  EXPECT_THAT(EmitOutline([] {
                oplens_schedule* const schedule = oplens_schedule_new(nullptr, nullptr, nullptr);
                EXPECT_STREQ(oplens_schedule_step(schedule), "") << "not begun";
                EXPECT_STREQ(oplens_schedule_start(schedule), "PS");
                EXPECT_STREQ(oplens_schedule_start(schedule), "");
                EXPECT_STREQ(oplens_schedule_step(schedule), "");
                { const ScopedRange range("work"); }
                EXPECT_STREQ(oplens_schedule_stop(schedule), "XT");
                EXPECT_STREQ(oplens_schedule_stop(schedule), "");
                oplens_schedule_delete(schedule);
                const ScopedRange range("unseen");
              }),
              ElementsAre("work"));
  EXPECT_THAT(Marks(), ElementsAre("capture start: cycle 1", "capture stop: cycle 1"));
}

TEST_F(ScheduleTest, DroppedCyclesAreNumberedAgain) {
  EXPECT_THAT(EmitOutline([] {
                oplens_schedule* const schedule = oplens_schedule_new(nullptr, nullptr, nullptr);
                oplens_schedule_start_with(schedule, kRecord);
                const int64_t dropped = oplens_schedule_cycle(schedule);
                EXPECT_STREQ(oplens_schedule_step_with(schedule, kNone), "WX");
                EXPECT_EQ(oplens_schedule_cycle(schedule), dropped - 1);
                EXPECT_STREQ(oplens_schedule_step_with(schedule, 77), "");
                EXPECT_STREQ(oplens_schedule_step_with(schedule, kSave), "PS");
                EXPECT_EQ(oplens_schedule_cycle(schedule), dropped);
                EXPECT_STREQ(oplens_schedule_step_with(schedule, kSave), "XTPS");
                oplens_schedule_delete(schedule);
              }),
              ElementsAre("ProfilerStep#0", "ProfilerStep#2", "ProfilerStep#3"));
  EXPECT_THAT(Marks(), ElementsAre("capture start: cycle 1", "capture stop: dropped",
                                   "capture start: cycle 1", "capture stop: cycle 1",
                                   "capture start: cycle 2", "capture stop: cycle 2"));
}

TEST_F(ScheduleTest, EarlyExit) {
  const auto run = [](int steps) {
    Schedule plan;
    plan.wait = 1;
    plan.warmup = 1;
    plan.active = 2;
    ScheduledCapture capture(plan);
    for (int i = 0; i < steps; ++i) capture.Step();
  };
  run(0);
  EXPECT_THAT(Marks(), ElementsAre("capture stop: schedule"));
  SetUp();
  run(1);  // In the warm-up: begun and dropped.
  EXPECT_THAT(Marks(), ElementsAre("capture stop: schedule", "capture start: cycle 1",
                                   "capture stop: dropped"));
  SetUp();
  run(2);
  EXPECT_THAT(Marks(), ElementsAre("capture stop: schedule", "capture start: cycle 1",
                                   "capture stop: cycle 1"));
  EXPECT_FALSE(annotate::Enabled());
}

/// Any actions in any order: ranges stay balanced, and the letters are those of the table.
TEST_F(ScheduleTest, AnyActions) {
  std::mt19937 random(5);
  EmitOutline([&] {
    oplens_schedule* const schedule = oplens_schedule_new(nullptr, nullptr, nullptr);
    for (int round = 0; round < 50; ++round) {
      int last = static_cast<int>(random() % 4);
      EXPECT_STREQ(oplens_schedule_start_with(schedule, last),
                   oplens_schedule_transition(kNone, last));
      for (int i = 0; i < 20; ++i) {
        const ScopedRange range("work");
        const int next = static_cast<int>(random() % 4);
        EXPECT_STREQ(oplens_schedule_step_with(schedule, next),
                     oplens_schedule_transition(last, next));
        last = next;
      }
      EXPECT_STREQ(oplens_schedule_stop(schedule), oplens_schedule_transition(last, kExit));
    }
    oplens_schedule_delete(schedule);
  });
}

TEST_F(ScheduleTest, FromC) { EXPECT_EQ(oplens_test_schedule_from_c(), 0); }

TEST_F(ScheduleTest, Memory) {
  oplens_memory(0xFFFF000012345678, -4096, 8192, -1, 1, 3);
  oplens_stop();
  oplens_memory(1, 1, 1, 1, 0, -1);
  oplens_start();
  std::vector<markers::MemoryPayload> seen;
  for (const NvtxEvent& event : Capture().events) {
    for (const NvtxPayload& payload : event.payloads) {
      EXPECT_EQ(event.domain, "oplens");
      EXPECT_EQ(payload.schema_name, "oplens.memory.v1");
      ASSERT_EQ(payload.bytes.size(), sizeof(markers::MemoryPayload));
      std::memcpy(&seen.emplace_back(), payload.bytes.data(), sizeof(markers::MemoryPayload));
    }
  }
  // Texts would cost more than an allocation.
  ASSERT_EQ(seen.size(), TakesPayloads() ? 1U : 0U);
  if (seen.empty()) return;
  EXPECT_EQ(seen[0].address, 0xFFFF000012345678U);
  EXPECT_EQ(seen[0].bytes, -4096);
  EXPECT_EQ(seen[0].total_allocated, 8192);
  EXPECT_EQ(seen[0].total_reserved, -1);
  EXPECT_EQ(seen[0].device_type, 1);
  EXPECT_EQ(seen[0].device, 3);
}

// In a process of their own.

TEST(ScheduleProgramTest, CudaProfilerIsSwitched) {
  RunAnnotatedProgram("schedule", "");
  RunAnnotatedProgram("schedule", RecorderMode(), TestDir() / "schedule.nvtx");
}

}  // namespace
}  // namespace oplens::test::schedule_test
