#include "parse/model/recording_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace oplens::recording_advice_test {
namespace {

using testing::HasSubstr;

TEST(RecordingAdviceTest, EveryLackHasAWordOfSomeProfiler) {
  for (size_t i = 0; i <= static_cast<size_t>(MissingFact::kWholeSteps); ++i) {
    size_t words = 0;
    for (size_t f = 0; f < kFamilyCount; ++f) {
      const auto family = static_cast<Family>(f);
      words += RecordingFlag(static_cast<MissingFact>(i), family).size();
      words += RecordingRemedy(static_cast<MissingFact>(i), family).size();
    }
    EXPECT_GT(words, 0u) << "lack " << i;
  }
}

TEST(RecordingAdviceTest, IsThatOfTheProfiler) {
  EXPECT_THAT(RecordingFlag(MissingFact::kStacks, Family::kKineto), HasSubstr("with_stack=True"));
  EXPECT_THAT(RecordingFlag(MissingFact::kMemoryEvents, Family::kNsys),
              HasSubstr("--cuda-memory-usage"));
  EXPECT_THAT(RecordingFlag(MissingFact::kMemoryEvents, Family::kNvprof), HasSubstr("--trace"));
  EXPECT_THAT(RecordingRemedy(MissingFact::kLaunches, Family::kNsys),
              HasSubstr("--trace=cuda,nvtx"));
}

// A profile of a profiler that nobody has written advice for gets none of another's.
TEST(RecordingAdviceTest, UnknownProfilersGetNoFlagOfAnother) {
  EXPECT_EQ(RecordingFlag(MissingFact::kArguments, Family::kUnknown), "");
  EXPECT_EQ(RecordingFlag(MissingFact::kKernels, Family::kUnknown), "");
  EXPECT_THAT(RecordingRemedy(MissingFact::kLaunches, Family::kUnknown),
              HasSubstr("CUDA API calls"));
}

}  // namespace
}  // namespace oplens::recording_advice_test
