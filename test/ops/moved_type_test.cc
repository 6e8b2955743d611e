// The type of what a kernel moves, by its name.
#include "ops/kernels/moved_type.h"

#include <gtest/gtest.h>

namespace oplens::ops::test::moved_type_test {
namespace {

TEST(MovedTypeTest, FirstTemplateArgument) {
  EXPECT_EQ(MovedElementBytes("void at::native::CatArrayBatchedCopy<float, unsigned int, 3>(x)"),
            4);
  EXPECT_EQ(MovedElementBytes("CatArrayBatchedCopy_aligned16_contig<double, unsigned, 3>"), 8);
  EXPECT_EQ(MovedElementBytes("CatArrayBatchedCopy<c10::complex<float>, unsigned int, 3>"), 8);
  EXPECT_EQ(MovedElementBytes("CatArrayBatchedCopy<c10::BFloat16>"), 2);
  EXPECT_EQ(MovedElementBytes("CatArrayBatchedCopy<(anonymous namespace)::OpaqueType<16u>, int>"),
            16);
}

TEST(MovedTypeTest, OtherNames) {
  for (const char* name :
       {"", "CatArrayBatchedCopy", "CatArrayBatchedCopy<", "CatArrayBatchedCopy<float",
        "CatArrayBatchedCopy<Odd, int>", "CatArrayBatchedCopy<OpaqueType<u>, int>",
        "CatArrayBatchedCopy<OpaqueType<0u>, int>", "CatArrayBatchedCopy<OpaqueType<99",
        "CatArrayBatchedCopy<OpaqueType<99999999999999999999u>, int>",
        "vectorized_gather_kernel<float, 2>"}) {
    EXPECT_FALSE(MovedElementBytes(name)) << name;
  }
}

}  // namespace
}  // namespace oplens::ops::test::moved_type_test
