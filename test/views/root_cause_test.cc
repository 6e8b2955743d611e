#include "prof/verdicts/root_cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace oplens::prof::root_cause_test {
namespace {

using testing::HasSubstr;

RankTimes Times(const std::map<IdleCause, int64_t>& idle_ns, int64_t communication_ns = 0) {
  RankTimes times;
  times.steps = 4;
  times.total_ns = 1000;
  times.communication_ns = communication_ns;
  for (const auto& [cause, ns] : idle_ns) times.idle_ns[static_cast<size_t>(cause)] = ns;
  times.kernel_ns = 100;
  times.op = "mm";
  times.op_ns = 60;
  return times;
}

std::string Sentence(const RankTimes& times, const RootSubject& subject = {}) {
  return RootCauseSentence(times, RootCauseOf(times), subject);
}

TEST(RootCauseTest, TheLargestGroupOfCauses) {
  const RankTimes host = Times({{IdleCause::kLaunch, 100},
                                {IdleCause::kHostOp, 80},
                                {IdleCause::kPython, 30},
                                {IdleCause::kDataLoader, 200}});
  EXPECT_EQ(RootCauseOf(host).group, IdleGroup::kHost);
  EXPECT_EQ(RootCauseOf(host).time_ns, 210);
  EXPECT_EQ(Sentence(host),
            "the GPU waits for the host to launch its next work (launch 10.0 %, host-op 8.0 %, "
            "python or other code 3.0 %): 21.0 % of a step");
  EXPECT_EQ(Sentence(Times({{IdleCause::kDataLoader, 200}})),
            "the GPU waits for the data loader: 20.0 % of a step");
  EXPECT_EQ(RootCauseOf(Times({{IdleCause::kDataLoader, 200}}, 201)).kind,
            RootKind::kCommunication);
}

TEST(RootCauseTest, CopiesAlone) {
  RankTimes times = Times({{IdleCause::kLaunch, 120}}, 130);
  times.copies_ns = 140;
  EXPECT_EQ(Sentence(times), "the GPU does nothing but copy: 14.0 % of a step");
  EXPECT_EQ(RootCauseCommand(RootCauseOf(times)), "view bandwidth");
}

TEST(RootCauseTest, BelowATenthTheGpuWorks) {
  const RankTimes times = Times({{IdleCause::kDataLoader, 99}, {IdleCause::kTail, 50}});
  EXPECT_EQ(RootCauseOf(times).kind, RootKind::kBusy);
  EXPECT_EQ(Sentence(times),
            "the GPU works: 85.1 % of a step; most of its kernel time is mm, 60.0 %");
  RankTimes some = times;
  some.op_ns = 49;
  EXPECT_THAT(Sentence(some), HasSubstr("the largest known part of its kernel time is mm, 49.0 %"));
  some.op_ns = 9;
  EXPECT_EQ(Sentence(some), "the GPU works: 85.1 % of a step");
}

TEST(RootCauseTest, ColdStartIsNoCause) {
  EXPECT_EQ(RootCauseOf(Times({{IdleCause::kColdStart, 900}})).kind, RootKind::kBusy);
  EXPECT_EQ(RootCauseOf(Times({})).kind, RootKind::kBusy);
  EXPECT_EQ(RootCauseOf(RankTimes()).time_ns, 0);
}

TEST(RootCauseTest, NamesTheCallItsOpAndHowOften) {
  const RankTimes times = Times({{IdleCause::kApiCall, 530}});
  RootSubject subject{"hipFree", "aten::empty_cache", true, "train.py(3): step", 530, 48, 20};
  EXPECT_EQ(Sentence(times, subject),
            "the GPU waits in hipFree called by aten::empty_cache at train.py(3): step, 12 times a "
            "step: 53.0 % of a step");
  subject.all_of_op = false;
  subject.frame = "";
  subject.count = 4;
  EXPECT_THAT(Sentence(times, subject),
              HasSubstr("in hipFree mostly called by aten::empty_cache, once a step: 53.0 %"));
  subject.count = 2;
  EXPECT_THAT(Sentence(times, subject), HasSubstr(", 2 times in 4 steps: "));
  // What others have is not said of this one.
  subject.time_ns = 300;
  EXPECT_THAT(Sentence(times, subject),
              HasSubstr("waits in API calls, most of it 30.0 % in hipFree mostly called"));
}

TEST(RootCauseTest, OfARunThatIsNotAllCounted) {
  RankTimes times = Times({{IdleCause::kSync, 400}});
  times.steps = 0;
  RootSubject subject{"cudaStreamSynchronize", "aten::item", true, "", 400, 3, 200};
  EXPECT_EQ(
      Sentence(times, subject),
      "the GPU has no work while the host returns from cudaStreamSynchronize in aten::item, 3 "
      "times: 40.0 % of the run");
  times.cold_ns = 10;
  EXPECT_THAT(Sentence(times, subject), HasSubstr("% of the run after its cold start"));
  times.steps = 2;
  times.repeats = true;
  EXPECT_THAT(Sentence(times, subject),
              HasSubstr("1.5 times a repetition: 40.0 % of a repetition"));
}

TEST(RootCauseTest, EachGroupHasItsSentence) {
  const auto of = [](IdleCause cause, const std::string& call = "call") {
    return Sentence(Times({{cause, 500}}), {call, "", false, "", 500, 4, 2'500'000});
  };
  EXPECT_THAT(
      of(IdleCause::kModuleLoad),
      HasSubstr("load code at their first use (call, once a step, the longest 2.5 ms): 50.0"));
  EXPECT_THAT(of(IdleCause::kPageableCopy),
              HasSubstr("waits for copies of pageable memory by call"));
  EXPECT_THAT(of(IdleCause::kCommunication), HasSubstr("while the host starts a collective: 50.0"));
  EXPECT_THAT(of(IdleCause::kQueued, "stream"),
              HasSubstr("held back behind earlier work of its stream: 50.0 %"));
  EXPECT_THAT(of(IdleCause::kQueued, "event"),
              HasSubstr("until an event that its stream waits for"));
  EXPECT_THAT(of(IdleCause::kQueued, "copy"), HasSubstr("before a copy starts"));
  EXPECT_THAT(of(IdleCause::kQueued, "device"), HasSubstr("by the device"));
  EXPECT_THAT(of(IdleCause::kTail),
              HasSubstr("goes on after the last work, and the GPU is idle: 50.0 %"));
  EXPECT_THAT(of(IdleCause::kUnknown), HasSubstr("does not hold the launch"));
}

TEST(RootCauseTest, ACommandForEach) {
  EXPECT_EQ(RootCauseCommand(RootCauseOf(Times({{IdleCause::kDataLoader, 500}}))),
            "view idle --by step");
  EXPECT_EQ(RootCauseCommand(RootCauseOf(Times({{IdleCause::kApiCall, 500}}))),
            "view idle --by call,op");
  EXPECT_EQ(RootCauseCommand(RootCauseOf(Times({}, 500))), "view collectives");
  EXPECT_EQ(RootCauseCommand(RootCauseOf(Times({}))), "groups op,dir");
}

}  // namespace
}  // namespace oplens::prof::root_cause_test
