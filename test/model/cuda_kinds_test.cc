#include "parse/model/cuda_kinds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace oplens {
namespace {

TEST(CudaKindsTest, WordsAreThoseOfTheNumbers) {
  EXPECT_EQ(CopyKindWord(1), "HtoD");
  EXPECT_EQ(CopyKindWord(10), "PtoP");
  EXPECT_EQ(CopyKindWord(13), "UVM DtoD");
  EXPECT_EQ(MemoryKindTitle(6), "Device Static");
  EXPECT_EQ(MemoryKindWord(6), "device static");
  EXPECT_EQ(WaitKindWord(3), "Stream Sync");
}

TEST(CudaKindsTest, WordsReadBack) {
  for (int32_t kind = 1; kind <= 13; ++kind) EXPECT_EQ(CopyKindOf(CopyKindWord(kind)), kind);
  for (int32_t kind = 1; kind <= 7; ++kind) EXPECT_EQ(MemoryKindOf(MemoryKindTitle(kind)), kind);
  for (int32_t kind = 1; kind <= 4; ++kind) EXPECT_EQ(WaitKindOf(WaitKindWord(kind)), kind);
}

TEST(CudaKindsTest, UnknownNumbersHaveNoWord) {
  for (const int32_t kind :
       {0, -1, 14, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    EXPECT_EQ(CopyKindWord(kind), "");
    EXPECT_EQ(MemoryKindTitle(kind), "");
    EXPECT_EQ(MemoryKindWord(kind), "");
    EXPECT_EQ(WaitKindWord(kind), "");
  }
  EXPECT_EQ(CopyKindOf("sideways"), 0);
  EXPECT_EQ(CopyKindOf(""), 0);
  EXPECT_EQ(MemoryKindOf("pageable"), 0);
}

}  // namespace
}  // namespace oplens
