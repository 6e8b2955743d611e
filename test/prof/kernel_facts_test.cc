#include "prof/price/kernel_facts.h"

#include <gtest/gtest.h>

#include <string>

#include "prof/price/priced_kernel.h"
#include "test/prof/rows.h"

namespace oplens::prof::kernel_facts_test {
namespace {

using test::PlainRecord;

TEST(KernelNamesTest, JudgesEachNameOnce) {
  Epochs epochs;
  KernelFactsCache names(&epochs, nullptr);
  const KernelFacts* yes = names.Of("volta_h884gemm_64x64_ldg8_nn");
  const KernelFacts* no = names.Of("volta_sgemm_128x64_nt");
  EXPECT_EQ(yes->verdict.use, ops::TensorCoreUse::kYes);
  EXPECT_EQ(no->verdict.use, ops::TensorCoreUse::kNo);
  EXPECT_NE(yes->id, no->id);
  EXPECT_EQ(names.Of("volta_sgemm_128x64_nt"), no);
  EXPECT_FALSE(no->ruled_kind.has_value()) << "no rules";
}

TEST(KernelNamesTest, TellsFamilies) {
  Epochs epochs;
  KernelFactsCache names(&epochs, nullptr);
  KernelRecord record = PlainRecord();
  PricedKernel row;
  row.record = &record;
  EXPECT_FALSE(FamilyOf(row).has_value()) << "nobody told";
  row.facts = names.Of("triton__0d1d2de3de");
  record.grid = {8, 1, 1};
  EXPECT_EQ(FamilyOf(row), ops::KernelFamily::kReduction);
  record.grid = {8, 64, 1};
  EXPECT_EQ(FamilyOf(row), ops::KernelFamily::kElementwise);
  row.facts = names.Of("");
  EXPECT_FALSE(FamilyOf(row).has_value());
}

TEST(GpusTest, TheOneThatTheRecordTells) {
  Epochs epochs;
  Gpus gpus(&epochs, nullptr);
  KernelRecord record = PlainRecord();
  EXPECT_EQ(gpus.Of(record), nullptr);
  record.device_name = "NVIDIA A100-SXM4-40GB";
  const ops::Gpu* first = gpus.Of(record);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(gpus.Of(record), first);
  KernelRecord other = record;
  other.device_name = "Tesla V100-SXM2-16GB";
  EXPECT_NE(gpus.Of(other), first);
  EXPECT_EQ(gpus.Of(record), first);
}

TEST(GpusTest, TheGivenOneForAll) {
  const ops::Gpu given;
  Epochs epochs;
  Gpus gpus(&epochs, &given);
  EXPECT_EQ(gpus.Of(PlainRecord()), &given);
}

// The last GPU must not be one that was forgotten.
TEST(GpusTest, MoreGpusThanAreRemembered) {
  Epochs epochs;
  Gpus gpus(&epochs, nullptr);
  KernelRecord record = PlainRecord();
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::string(100000, 'x') + std::to_string(i);
    record.device_name = name;
    const ops::Gpu* gpu = gpus.Of(record);
    ASSERT_NE(gpu, nullptr);
    EXPECT_EQ(gpus.Of(record), gpu);
    EXPECT_EQ(gpu->name, name);
  }
}

}  // namespace
}  // namespace oplens::prof::kernel_facts_test
