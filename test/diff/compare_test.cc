#include "prof/diff/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/error.h"
#include "prof/run/run.h"
#include "test/diff/made_sides.h"

namespace oplens::prof::compare_test {
namespace {

using test::ChangedRows;
using test::CompareMade;
using test::MadeNetwork;
using test::MadeSide;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class CompareTest : public testing::Test {
 protected:
  Diff Run(const MadeSide& base, const MadeSide& now) { return CompareMade(base, now, &keep_); }

  /// Rows that changed.
  std::vector<std::string> Changed(const Diff& diff) { return ChangedRows(diff.tables.front()); }

  /// What a cause adds; 0 where there is none of that name.
  static double Of(const Diff& diff, std::string_view cause) {
    double sum = 0;
    for (const Cause& one : diff.causes) sum += one.cause == cause ? one.delta_ns : 0;
    return sum;
  }

  static double SumOfCauses(const Diff& diff) {
    double sum = 0;
    for (const Cause& one : diff.causes) sum += one.delta_ns;
    return sum;
  }

  static double SumOfRows(const Diff& diff) {
    double sum = 0;
    for (const DiffRow& row : diff.tables.front().rows) {
      sum += row.figures[0].delta().value_or(0);
    }
    return sum;
  }

  MadeSide noisy_ = [] {
    MadeSide side = MadeNetwork(12);
    side.noise = 0.02;
    side.steps = 200;
    return side;
  }();
  std::vector<std::unique_ptr<KeptTables>> keep_;
};

TEST_F(CompareTest, ARunAgainstItselfHasNoRow) {
  const Diff diff = Run(noisy_, noisy_);
  EXPECT_THAT(Changed(diff), IsEmpty());
  EXPECT_THAT(diff.causes, IsEmpty());
  EXPECT_THAT(diff.differences, IsEmpty());
  EXPECT_THAT(diff.verdict, HasSubstr("no change"));
  EXPECT_EQ(diff.total.delta(), 0.0);
}

TEST_F(CompareTest, ASlowerKernelIsTheOneRow) {
  MadeSide now = noisy_;
  now.seed = 77;
  now.places[5].time_ns *= 3;  // gelu of block1, 2 us.
  const Diff diff = Run(noisy_, now);
  EXPECT_THAT(Changed(diff), ElementsAre("slower net:block1/gelu"));
  EXPECT_NEAR(Of(diff, "kernels slower"), 4000, 200);
  EXPECT_THAT(diff.verdict, testing::StartsWith("slower by 4"));
  EXPECT_THAT(diff.verdict, HasSubstr("mostly kernels slower"));
  EXPECT_NEAR(SumOfCauses(diff), *diff.total.delta(), 0.5);
}

TEST_F(CompareTest, OtherShapesAreOneRowAndNotComparable) {
  MadeSide now = noisy_;
  now.seed = 77;
  now.places[6].shape = "(64,66)";
  now.places[6].time_ns *= 2;
  const Diff diff = Run(noisy_, now);
  EXPECT_THAT(Changed(diff), ElementsAre("shape net:block2/linear"));
  const DiffRow& row = diff.tables.front().rows.front();
  EXPECT_EQ(row.keys[SidePlace::kShape], "(64,66)");
  EXPECT_EQ(row.base_keys.at(SidePlace::kShape), "(32,66)");
  ASSERT_EQ(diff.differences.size(), 1u);
  EXPECT_EQ(diff.differences[0].fact, "shapes");
  EXPECT_TRUE(diff.differences[0].decides);
  EXPECT_THAT(diff.differences[0].now, HasSubstr("32 -> 64 in 1"));
}

TEST_F(CompareTest, ARemovedLayerIsItsRows) {
  MadeSide now = noisy_;
  now.seed = 77;
  now.places.erase(now.places.begin() + 9, now.places.begin() + 12);
  const Diff diff = Run(noisy_, now);
  EXPECT_THAT(Changed(diff),
              UnorderedElementsAre("removed net:block3/linear", "removed net:block3/layer_norm",
                                   "removed net:block3/gelu"));
  EXPECT_NEAR(Of(diff, "work gone"), -(20'300 + 6'000 + 2'000) * 1.02, 300);
}

TEST_F(CompareTest, ANewLayerIsItsRows) {
  const MadeSide now = noisy_;
  MadeSide base = noisy_;
  base.seed = 77;
  base.places.erase(base.places.begin() + 9, base.places.begin() + 12);
  EXPECT_THAT(Changed(Run(base, now)),
              UnorderedElementsAre("added net:block3/linear", "added net:block3/layer_norm",
                                   "added net:block3/gelu"));
}

TEST_F(CompareTest, ARenamedKernelIsOneRow) {
  MadeSide now = noisy_;
  now.seed = 77;
  now.places[3].kernel = "gemm_fp16_128x64";
  const Diff diff = Run(noisy_, now);
  EXPECT_THAT(Changed(diff), ElementsAre("kernel net:block1/linear"));
  EXPECT_NE(Of(diff, "other kernels"), 0);
}

TEST_F(CompareTest, LostTensorCoresAreACauseOfTheirOwn) {
  MadeSide now = noisy_;
  now.places[3].kernel = "gemm_fp32";
  now.places[3].tensor_cores = false;
  now.places[3].time_ns *= 8;
  const Diff diff = Run(noisy_, now);
  EXPECT_THAT(Changed(diff), ElementsAre("kernel net:block1/linear"));
  EXPECT_GT(Of(diff, "Tensor Cores lost"), 7 * 20'000);
  EXPECT_LT(Of(Run(now, noisy_), "Tensor Cores gained"), -7 * 20'000);
}

TEST_F(CompareTest, MoreCallsAreACount) {
  MadeSide now = noisy_;
  now.seed = 77;
  now.places[7].count = 3;
  EXPECT_THAT(Changed(Run(noisy_, now)), ElementsAre("count net:block2/layer_norm"));
}

TEST_F(CompareTest, EveryTenthStepLateIsSaid) {
  MadeSide now = noisy_;
  now.seed = 77;
  now.late_every = 10;
  now.late_ns = 300'000;
  const Diff diff = Run(noisy_, now);
  EXPECT_THAT(Changed(diff), IsEmpty()) << "no kernel changed";
  EXPECT_NEAR(Of(diff, "idle: host ops"), 30'000, 3000);
  EXPECT_EQ(diff.total.verdict, Verdict::kChanged);
  EXPECT_THAT(diff.verdict, HasSubstr("mostly idle: host ops"));
  EXPECT_THAT(diff.verdict,
              HasSubstr("20 of 200 steps take longer than any of the base: one in 10"));
}

TEST_F(CompareTest, AllSlowerByOneFactorIsTheClock) {
  MadeSide now = noisy_;
  now.seed = 77;
  for (test::MadePlace& place : now.places) place.time_ns = place.time_ns * 12 / 10;
  const Diff diff = Run(noisy_, now);
  for (const Cause& cause : diff.causes) {
    if (cause.cause != "kernels slower") continue;
    EXPECT_THAT(cause.sentence, HasSubstr("same factor of 1.2"));
    return;
  }
  ADD_FAILURE() << "no such cause";
}

// A run of 200 noisy steps, resampled: at most 2 of 200 comparisons may report any row.
TEST_F(CompareTest, ResamplesOfARunHaveNoRows) {
  std::mt19937 random(11);
  int reported = 0;
  MadeSide base = MadeNetwork(2);
  base.noise = 0.1;
  base.steps = 200;
  const DiffPlan plan = PlanDiff("operators", "");
  const std::unique_ptr<KeptTables> base_tables = base.Tables();
  for (int i = 0; i < 200; ++i) {
    MadeSide now = base;
    for (int step = 0; step < 200; ++step) {
      now.picked.push_back(static_cast<int64_t>(random() % 200));
    }
    const std::unique_ptr<KeptTables> now_tables = now.Tables();
    const Diff diff = Compare(plan, {"base", base_tables.get()}, {"new", now_tables.get()});
    reported += Changed(diff).empty() ? 0 : 1;
  }
  EXPECT_LE(reported, 2);
}

TEST_F(CompareTest, TheOrderOfPlacesInTheTableDoesNotMatter) {
  MadeSide now = noisy_;
  std::reverse(now.places.begin(), now.places.end());
  EXPECT_THAT(Changed(Run(noisy_, now)), IsEmpty());
}

TEST_F(CompareTest, RowsAndCausesSumUp) {
  MadeSide now = MadeNetwork(9);
  now.seed = 5;
  now.noise = 0.1;
  now.steps = 31;
  now.idle_ns = 9000;
  now.places[3].kernel = "other";
  now.places[4].shape = "(1,1)";
  now.places.erase(now.places.begin() + 10);
  const Diff diff = Run(noisy_, now);
  EXPECT_NEAR(SumOfCauses(diff), *diff.total.delta(), 0.5);
  const auto device_ns = [&](const MadeSide& side) {
    const auto tables = side.Tables();
    const KeptRows& places = tables->At(DiffPlan::kPlaces);
    double sum = 0;
    for (size_t i = 0; i < places.size(); ++i) sum += *places.Number(i, "time_ns");
    return sum / static_cast<double>(side.steps);
  };
  EXPECT_NEAR(SumOfRows(diff), device_ns(now) - device_ns(noisy_), 1e-3);
}

TEST_F(CompareTest, WithFewStepsNothingIsSure) {
  MadeSide base = MadeNetwork(3);
  base.steps = 1;
  MadeSide now = base;
  now.places[5].time_ns *= 3;
  const Diff diff = Run(base, now);
  EXPECT_THAT(Changed(diff), ElementsAre("slower net:block1/gelu"));
  EXPECT_EQ(diff.tables.front().rows.front().figures[0].verdict, Verdict::kUnknown);
  EXPECT_EQ(diff.total.verdict, Verdict::kUnknown);
  EXPECT_THAT(diff.verdict, HasSubstr("too few"));
}

TEST_F(CompareTest, AnotherGpuDecides) {
  MadeSide now = noisy_;
  now.facts = {{"gpu", "GPU B"}, {"nccl_version", "2.20"}, {"steps", "3"}};
  const Diff diff = Run(noisy_, now);
  ASSERT_EQ(diff.differences.size(), 2u) << "steps are counted, not told";
  EXPECT_EQ(diff.differences[0].fact, "gpu");
  EXPECT_TRUE(diff.differences[0].decides);
  EXPECT_EQ(diff.differences[1].fact, "nccl_version");
  EXPECT_FALSE(diff.differences[1].decides);
}

TEST_F(CompareTest, SumsOfRowsHaveTheirBand) {
  MadeSide now = noisy_;
  now.seed = 77;
  now.places[5].time_ns *= 3;
  const Diff diff = Run(noisy_, now);
  const DiffTable& table = diff.tables.front();
  std::vector<const DiffRow*> rows;
  for (const DiffRow& row : table.rows) {
    if (row.keys[SidePlace::kLayer] == "net:block1") rows.push_back(&row);
  }
  ASSERT_EQ(rows.size(), 3u);
  const RowSum time = SumOf(table, *table.FigureOf("device_self_ns"), rows);
  EXPECT_EQ(time.figure.verdict, Verdict::kChanged);
  EXPECT_NEAR(*time.figure.delta(), 4000, 400);
  const RowSum tc = SumOf(table, *table.FigureOf("tc_self_pct"), rows);
  EXPECT_NEAR(*tc.figure.base, 100 * 20.1 / 28.1, 1) << "a ratio is that of its sums";
  EXPECT_FALSE(SumOf(table, 0, {}).figure.base);
}

TEST_F(CompareTest, OnlyViewsWithKeysCanBeCompared) {
  EXPECT_THROW(PlanDiff("kernels", ""), UsageError);
  EXPECT_THROW(PlanDiff("operators,no-such-view", ""), UsageError);
  EXPECT_EQ(PlanDiff("operators,overview,gpu,operators", "").views.size(), 3u);
  EXPECT_GT(PlanDiff("all", "").views.size(), 15u);
  EXPECT_EQ(PlanDiff("groups", "").views.size(), 1u) << "its keys are those of --by";
}

}  // namespace
}  // namespace oplens::prof::compare_test
