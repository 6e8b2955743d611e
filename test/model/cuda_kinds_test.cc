#include "parse/model/cuda_kinds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace oplens::cuda_kinds_test {
namespace {

TEST(CudaKinds, NumbersAreThoseOfCupti) {
  EXPECT_EQ(CopyKindOfNumber(1), CopyKind::kHostToDevice);
  EXPECT_EQ(CopyKindOfNumber(10), CopyKind::kPeerToPeer);
  EXPECT_EQ(CopyKindOfNumber(13), CopyKind::kUnifiedDeviceToDevice);
  EXPECT_EQ(MemoryKindOfNumber(6), MemoryKind::kDeviceStatic);
  EXPECT_EQ(WaitKindOfNumber(1), WaitKind::kEvent);
  EXPECT_EQ(WaitKindOfNumber(4), WaitKind::kContext);
  EXPECT_EQ(OverheadKindOfNumber(1), OverheadKind::kDriverCompiler);
  EXPECT_EQ(OverheadKindOfNumber(1 << 16), OverheadKind::kBufferFlush);
  EXPECT_EQ(OverheadKindOfNumber(8 << 16), OverheadKind::kUnifiedMemoryInit);
}

TEST(CudaKinds, Words) {
  EXPECT_EQ(CopyKindWord(CopyKind::kHostToDevice), "HtoD");
  EXPECT_EQ(CopyKindWord(CopyKind::kPeerToPeer), "PtoP");
  EXPECT_EQ(CopyKindWord(CopyKind::kUnifiedDeviceToDevice), "UVM DtoD");
  EXPECT_EQ(MemoryKindTitle(MemoryKind::kDeviceStatic), "Device Static");
  EXPECT_EQ(MemoryKindWord(MemoryKind::kDeviceStatic), "device static");
  EXPECT_EQ(WaitKindWord(WaitKind::kStream), "Stream Sync");
  EXPECT_EQ(OverheadKindWord(OverheadKind::kBufferRequest), "Activity Buffer Request");
}

TEST(CudaKinds, EveryWordReadsBack) {
  for (int number = 0; number <= static_cast<int>(CopyKind::kUnifiedDeviceToDevice); ++number) {
    const auto kind = static_cast<CopyKind>(number);
    EXPECT_EQ(CopyKindOf(CopyKindWord(kind)), kind);
  }
  for (int number = 0; number <= static_cast<int>(MemoryKind::kManagedStatic); ++number) {
    const auto kind = static_cast<MemoryKind>(number);
    EXPECT_EQ(MemoryKindOf(MemoryKindTitle(kind)), kind);
    EXPECT_EQ(MemoryKindOf(MemoryKindWord(kind)), kind);
  }
  for (int number = 0; number <= static_cast<int>(WaitKind::kContext); ++number) {
    const auto kind = static_cast<WaitKind>(number);
    EXPECT_EQ(WaitKindOf(WaitKindWord(kind)), kind);
  }
  for (int number = 0; number <= static_cast<int>(OverheadKind::kUnifiedMemoryInit); ++number) {
    const auto kind = static_cast<OverheadKind>(number);
    EXPECT_EQ(OverheadKindOf(OverheadKindWord(kind)), kind);
  }
}

TEST(CudaKinds, WhatIsNoneIsUnknown) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t number : {int64_t{-1}, int64_t{0}, int64_t{14}, kMost, -kMost - 1}) {
    EXPECT_EQ(CopyKindOfNumber(number), CopyKind::kUnknown);
    EXPECT_EQ(MemoryKindOfNumber(number), MemoryKind::kUnknown);
    EXPECT_EQ(WaitKindOfNumber(number), WaitKind::kUnknown);
    EXPECT_EQ(OverheadKindOfNumber(number), OverheadKind::kUnknown);
  }
  EXPECT_EQ(OverheadKindOfNumber(9 << 16), OverheadKind::kUnknown);
  EXPECT_EQ(OverheadKindOfNumber((1 << 16) + 1), OverheadKind::kUnknown);
  for (const char* word : {"", "DtoX"}) {
    EXPECT_EQ(CopyKindOf(word), CopyKind::kUnknown);
    EXPECT_EQ(MemoryKindOf(word), MemoryKind::kUnknown);
    EXPECT_EQ(WaitKindOf(word), WaitKind::kUnknown);
    EXPECT_EQ(OverheadKindOf(word), OverheadKind::kUnknown);
  }
  EXPECT_EQ(MemoryKindOf("PAGEABLE"), MemoryKind::kUnknown);
  EXPECT_EQ(CopyKindWord(CopyKind::kUnknown), "");
}

}  // namespace
}  // namespace oplens::cuda_kinds_test
