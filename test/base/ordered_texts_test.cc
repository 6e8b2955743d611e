#include "base/ordered_texts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "base/threads.h"

namespace oplens::ordered_texts_test {
namespace {

constexpr size_t kPieces = 1000;

class OrderedTextsTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetThreadLimit(GetParam()); }
  void TearDown() override { SetThreadLimit(before_); }

 private:
  int before_ = ThreadLimit();
};

std::string AllOf(size_t count) {
  std::string all;
  MakeInOrder(
      count, [](size_t piece, std::string* text) { *text += std::to_string(piece) + ";"; },
      [&](const std::string& text) { all += text; });
  return all;
}

TEST_P(OrderedTextsTest, PiecesComeInOrder) {
  std::string expected;
  for (size_t i = 0; i < kPieces; ++i) expected += std::to_string(i) + ";";
  EXPECT_EQ(AllOf(kPieces), expected);
  EXPECT_EQ(AllOf(1), "0;");
  EXPECT_EQ(AllOf(0), "");
}

TEST_P(OrderedTextsTest, TheFirstFailureIsThrownBehindWhatCameBefore) {
  std::string all;
  const auto make = [](size_t piece, std::string* text) {
    if (piece >= 500) throw std::runtime_error(std::to_string(piece));
    *text = "x";
  };
  try {
    MakeInOrder(kPieces, make, [&](const std::string& text) { all += text; });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "500");
  }
  EXPECT_EQ(all.size(), 500U);
}

TEST_P(OrderedTextsTest, WhatTakeThrowsEndsAllThreads) {
  std::atomic<size_t> made = 0;
  const auto take = [](const std::string&) { throw std::runtime_error("full"); };
  EXPECT_THROW(MakeInOrder(
                   kPieces, [&](size_t, std::string*) { ++made; }, take),
               std::runtime_error);
  EXPECT_LT(made, kPieces);
}

INSTANTIATE_TEST_SUITE_P(Threads, OrderedTextsTest, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace oplens::ordered_texts_test
