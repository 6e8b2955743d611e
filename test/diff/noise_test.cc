#include "prof/verdicts/noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "prof/verdicts/steady_steps.h"

namespace oplens::prof::noise_test {
namespace {

std::vector<double> Repeat(std::vector<double> values, int times) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), values.begin(), values.end());
  return all;
}

TEST(NoiseTest, EqualMeansAreTheSameWhateverTheirNumber) {
  EXPECT_EQ(NoiseOf({{5}}, {{5}}, 1).verdict, Verdict::kSame);
  EXPECT_EQ(NoiseOf(Repeat({5, 7}, 10), Repeat({7, 5}, 3), 1).verdict, Verdict::kSame);
}

TEST(NoiseTest, NothingIsSaidWithoutValues) {
  EXPECT_EQ(NoiseOf({}, {{5}}, 1).verdict, Verdict::kUnknown);
  EXPECT_FALSE(NoiseOf({}, {{5}}, 1).band);
}

TEST(NoiseTest, OneStepHasNoSpread) {
  EXPECT_EQ(NoiseOf({{5}}, {{500}}, 1).verdict, Verdict::kUnknown);
  EXPECT_EQ(NoiseOf({{5, 5}}, {{500}}, 1).verdict, Verdict::kUnknown);
}

TEST(NoiseTest, FewStepsAreChangedOnlyOutsideOfAnySpread) {
  const std::vector<double> base = {100, 102, 101};
  EXPECT_EQ(NoiseOf(base, {{110, 111, 112}}, 1).verdict, Verdict::kChanged);
  EXPECT_EQ(NoiseOf(base, {{101.5, 104, 104}}, 1).verdict, Verdict::kUnknown) << "they overlap";
  EXPECT_EQ(NoiseOf(base, {{103, 108, 103}}, 1).verdict, Verdict::kUnknown)
      << "apart, but by less than the spread";
}

TEST(NoiseTest, TheBandIsThatOfTheMeans) {
  // Medians 100 and 106, deviations of 1 (MAD 1): standard error 1.4826 * sqrt(2 / 30).
  const std::vector<double> base = Repeat({99, 100, 101}, 10);
  const std::vector<double> now = Repeat({105, 106, 107}, 10);
  const Noise noise = NoiseOf(base, now, 1, 0.01);
  EXPECT_EQ(noise.verdict, Verdict::kChanged);
  ASSERT_TRUE(noise.band);
  // Student's t of 58 degrees of freedom at 0.005 is 2.663.
  EXPECT_NEAR(*noise.band, 2.663 * 1.4826 * std::sqrt(2.0 / 30), 0.001);
  EXPECT_GT(*NoiseOf(base, now, 1000, 0.01).band, *noise.band) << "more comparisons, a wider band";
}

TEST(NoiseTest, OutliersWidenTheBand) {
  std::vector<double> base = Repeat({99, 100, 101}, 10);
  std::vector<double> now = base;
  now[7] = 200;  // Moves the mean by 3.3: beyond the robust error, not beyond that of the outlier.
  EXPECT_EQ(NoiseOf(base, now, 1, 0.01).verdict, Verdict::kSame);
}

TEST(NoiseTest, TheSameInputGivesTheSameBand) {
  std::vector<double> base = Repeat({99, 100, 101, 150}, 10);
  const std::vector<double> now = Repeat({199, 230, 201, 250}, 10);
  const Noise noise = NoiseOf(base, now, 3);
  EXPECT_EQ(*NoiseOf(base, now, 3).band, *noise.band);
}

TEST(NoiseTest, EqualDistributionsAreSeldomChanged) {
  std::mt19937 random(3);
  std::exponential_distribution<double> times(1);
  int changed = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> base(20);
    std::vector<double> now(20);
    for (double& value : base) value = 100 + times(random);
    for (double& value : now) value = 100 + times(random);
    changed += NoiseOf(base, now, 1, 0.01).verdict == Verdict::kChanged ? 1 : 0;
  }
  EXPECT_LE(changed, 40);  // Asked for: 1 %.
  EXPECT_GE(changed, 1) << "a band that nothing leaves says nothing";
}

TEST(NoiseOfStepsTest, SmallChangesAndStepsThatAreAllEqualTellNothing) {
  const std::vector<double> base = Repeat({99.9, 100, 100.1}, 10);
  std::vector<double> now = base;
  for (double& value : now) value *= 1.004;
  EXPECT_EQ(NoiseOf(base, now, 1, kTotalFalseAlarm).verdict, Verdict::kChanged);
  EXPECT_EQ(NoiseOfSteps(base, now).verdict, Verdict::kSame);
  EXPECT_EQ(NoiseOfSteps({{100, 100, 100}}, {{300, 301, 302}}).verdict, Verdict::kUnknown);
  EXPECT_EQ(NoiseOfSteps({{100, 101, 100}}, {{300, 301, 302}}).verdict, Verdict::kChanged);
}

std::vector<double> SteadyOf(const std::vector<double>& lengths_ns) {
  std::vector<StepLength> steps;
  for (const double length : lengths_ns) steps.push_back({std::llround(length), 0, false});
  const std::vector<StepState> states = StatesOf(steps);
  std::vector<double> steady;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (states[i] == StepState::kSteady) steady.push_back(lengths_ns[i]);
  }
  return steady;
}

// Six steps of which the first warms up and the last holds the end of the recording; 3 % are found
// if steps differ by 0.4 %, and nothing is found where there is nothing.
TEST(NoiseOfStepsTest, FindsWhatIsPlantedInAFewSteps) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(1, 0.004);
  std::uniform_real_distribution<double> start(1.5, 4);
  const auto made = [&](double factor) {
    const double length = 1e8 * factor;
    std::vector<double> steps = {length * start(random)};
    for (int i = 0; i < 4; ++i) steps.push_back(length * noise(random));
    steps.push_back(length * (random() % 2 == 0 ? 0.6 : 1.8));
    return SteadyOf(steps);
  };
  int found = 0;
  int wrong = 0;
  for (int i = 0; i < 200; ++i) {
    found += NoiseOfSteps(made(1), made(1.03)).verdict == Verdict::kChanged ? 1 : 0;
    wrong += NoiseOfSteps(made(1), made(1)).verdict == Verdict::kChanged ? 1 : 0;
  }
  EXPECT_GE(found, 198);
  EXPECT_LE(wrong, 2);
}

}  // namespace
}  // namespace oplens::prof::noise_test
