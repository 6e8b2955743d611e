#include "prof/price/launch_estimate.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "base/epochs.h"
#include "parse/model/kernel_record.h"
#include "prof/price/kernel_facts.h"

namespace oplens::prof::launch_estimate_test {
namespace {

/// The kernels beside show so many elements.
class Beside : public LaunchEstimator {
 public:
  explicit Beside(std::optional<ops::Bounds> elements) : elements_(elements) {}
  int asked() const { return asked_; }

 private:
  std::optional<ops::Bounds> ElementsBeside(const PricedKernel&) override {
    ++asked_;
    return elements_;
  }

  std::optional<ops::Bounds> elements_;
  int asked_ = 0;
};

class LaunchEstimateTest : public testing::Test {
 protected:
  PricedKernel Estimated(const char* name, const Dim3& grid, const Dim3& block,
                         LaunchEstimator* estimator) {
    record_.grid = grid;
    record_.block = block;
    PricedKernel row;
    row.record = &record_;
    row.facts = cache_.Of(name);
    estimator->Estimate(&row);
    return row;
  }

 private:
  Epochs epochs_;
  KernelFactsCache cache_{&epochs_, nullptr};
  KernelRecord record_;
};

TEST_F(LaunchEstimateTest, ANormTakesItsSizeFromTheKernelBesideIt) {
  Beside beside(ops::Bounds{1000, 1000});
  const PricedKernel row = Estimated("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int>(X)",
                                     {64, 1, 1}, {512, 1, 1}, &beside);
  EXPECT_EQ(row.share.flops, 8000);
  EXPECT_EQ(row.params, "n=1000");
  EXPECT_TRUE(row.sizes_by_launch);
}

TEST_F(LaunchEstimateTest, ANormWithoutANeighbourHasNoSize) {
  Beside beside(std::nullopt);
  const PricedKernel row = Estimated("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int>(X)",
                                     {64, 1, 1}, {512, 1, 1}, &beside);
  EXPECT_EQ(beside.asked(), 1);
  EXPECT_EQ(row.share.flops, std::nullopt);
  EXPECT_FALSE(row.sizes_by_launch);
}

TEST_F(LaunchEstimateTest, ExtentsInTilesAreNotWork) {
  Beside beside(ops::Bounds{1000, 1000});
  const PricedKernel row =
      Estimated("volta_scudnn_128x64_relu_interior_nn_v1", {784, 4, 1}, {256, 1, 1}, &beside);
  EXPECT_EQ(beside.asked(), 0);
  EXPECT_EQ(row.params, "N*P*Q=100225..100352,K=193..256");
  EXPECT_EQ(row.share.flops, std::nullopt);
  EXPECT_TRUE(row.sizes_by_launch);
}

TEST_F(LaunchEstimateTest, WhatItGaveLivesAsLongAsAPin) {
  constexpr const char* kName = "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int>(X)";
  const std::optional<ops::Bounds> many = ops::Bounds{12345678901234, 12345678901234};
  auto beside = std::make_unique<Beside>(many);
  const PricedKernel row = Estimated(kName, {1, 1, 1}, {512, 1, 1}, beside.get());
  const Epochs::Pin pin = beside->pin();
  // More launches than it keeps.
  for (int64_t x = 2; x < 10000; ++x) Estimated(kName, {x, 1, 1}, {512, 1, 1}, beside.get());
  EXPECT_EQ(row.params, "n=12345678901234");
}

}  // namespace
}  // namespace oplens::prof::launch_estimate_test
