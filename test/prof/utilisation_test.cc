#include "prof/views/streams/utilisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "test/prof/rows.h"

namespace oplens::prof::utilisation_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr double kPeak = 1e12;  // 1000 FLOP a ns.

class UtilisationTest : public testing::Test {
 protected:
  void Add(std::optional<int64_t> start, int64_t duration, std::optional<int64_t> flops,
           double peak = kPeak, int64_t device = 0) {
    record_ = test::PlainRecord();
    record_.start_ns = start;
    if (start) record_.end_ns = *start + duration;
    record_.duration_ns = duration;
    record_.device_id = device;
    row_.record = &record_;
    row_.share.flops_mma = flops;
    utilisation_.Add(row_, peak);
  }
  double Percent() { return utilisation_.Percent().value_or(-1); }

  KernelRecord record_;
  PricedKernel row_;
  Utilisation utilisation_;
};

TEST_F(UtilisationTest, IsFlopsOverWallTimeAndPeak) {
  Add(1000, 100, 50'000);
  Add(1500, 100, 30'000);
  Add(1900, 100, 0);
  EXPECT_DOUBLE_EQ(Percent(), 100 * 80'000 / (1000.0 * 1000));  // 1000 ns from first to last.
  EXPECT_THAT(utilisation_.Sentences(), ElementsAre(HasSubstr("utilisation 8.0 %")));
}

TEST_F(UtilisationTest, EachTypeHasItsOwnPeak) {
  Add(0, 100, 50'000);
  Add(100, 100, 50'000, 2 * kPeak);
  EXPECT_DOUBLE_EQ(Percent(), 100 * (50 + 25) / 200.0);
}

TEST_F(UtilisationTest, GpusAndInputsHaveTimesOfTheirOwn) {
  Add(0, 100, 50'000, kPeak, 0);
  Add(0, 100, 50'000, kPeak, 1);
  EXPECT_DOUBLE_EQ(Percent(), 50);
  utilisation_.EndInput();
  Add(1'000'000, 100, 100'000);  // On another clock.
  EXPECT_DOUBLE_EQ(Percent(), 100 * 200 / 300.0);
}

TEST_F(UtilisationTest, RecomputingIsNoWorkOfTheModel) {
  Add(0, 100, 50'000);
  row_.phase = Phase::kRecompute;
  Add(100, 100, 50'000);
  EXPECT_DOUBLE_EQ(Percent(), 25);
  EXPECT_THAT(utilisation_.Sentences(), ElementsAre(HasSubstr("of recomputation")));
}

TEST_F(UtilisationTest, SaysWhatItDoesNotKnow) {
  Add(0, 100, 50'000);
  EXPECT_THAT(utilisation_.Sentences(), ElementsAre(Not(HasSubstr("lower bound"))));
  Add(100, 300, std::nullopt);
  Add(400, 100, 7'000, 0);
  EXPECT_DOUBLE_EQ(Percent(), 10);
  EXPECT_THAT(utilisation_.Sentences(),
              ElementsAre(testing::AllOf(HasSubstr("unknown for 60.0 % of kernel time"),
                                         HasSubstr("whose peak rate is not known"))));
}

TEST_F(UtilisationTest, NothingWithoutPeakProductOrStart) {
  EXPECT_THAT(utilisation_.Sentences(), IsEmpty());
  Add(0, 100, 50'000, 0);
  EXPECT_THAT(utilisation_.Sentences(), IsEmpty());
  Add(100, 100, 50'000);
  EXPECT_GT(Percent(), 0);
  Add(std::nullopt, 100, 50'000);
  EXPECT_EQ(Percent(), -1);
}

TEST_F(UtilisationTest, HostileTimes) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  Add(kMin, kMax, kMax);
  Add(0, kMax, kMax);
  EXPECT_GT(Percent(), 0);
}

}  // namespace
}  // namespace oplens::prof::utilisation_test
