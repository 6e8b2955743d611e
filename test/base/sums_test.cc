#include "base/sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/checked.h"
#include "base/error.h"

namespace oplens::sums_test {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

struct Part {
  Sum ns;
  Min first;
};

/// One of each type.
struct Sums {
  Count calls;
  Sum ns;
  Max<int64_t> longest;
  Max<std::string> name;
  Max<std::optional<int64_t>> peak;
  Any any;
  Checked flops;
  std::array<Part, 2> parts;
  std::map<std::string, Sum> by_name;
  std::set<std::string> words;

  std::string_view Problem() const { return calls > 1000 ? "there are too many calls" : ""; }
};

std::string BytesOf(const Sums& sums) {
  ByteWriter bytes;
  bytes.Values(&sums);
  return bytes.Take();
}

Sums FromBytes(const std::string& saved) {
  ByteReader bytes(saved, "sums");
  Sums sums;
  bytes.Values(&sums);
  bytes.End();
  return sums;
}

Sums SumsOf(int64_t value) {
  Sums sums;
  sums.calls = 1;
  sums.ns = value;
  sums.longest.Add(value);
  sums.name.Add(std::to_string(value));
  if (value % 2 == 0) sums.peak.Add(value);
  sums.any.value = value % 3 == 0;
  sums.flops = Checked(kMost) * Checked(value);
  sums.parts[static_cast<size_t>(value % 2)].ns = kMost / 2;
  sums.parts[static_cast<size_t>(value % 2)].first.Add(value);
  sums.by_name[std::to_string(value % 4)] += value;
  sums.words.insert(std::to_string(value % 5));
  return sums;
}

TEST(SumsTest, StopAtTheLargestValue) {
  Sum sum = kMost - 1;
  ++sum;
  EXPECT_EQ(sum, kMost);
  sum += 7;
  EXPECT_EQ(sum, kMost);
}

TEST(SumsTest, MergeByTheirTypes) {
  Sums sums = SumsOf(2);
  MergeInto(&sums, SumsOf(10));
  MergeInto(&sums, SumsOf(3));
  EXPECT_EQ(sums.calls, 3);
  EXPECT_EQ(sums.ns, 15);
  EXPECT_EQ(sums.longest.value, 10);
  EXPECT_EQ(sums.name.value, "3");
  EXPECT_EQ(sums.peak.value, 10);
  EXPECT_TRUE(sums.any);
  EXPECT_EQ(sums.flops, Checked(kMost) * Checked(15));
  EXPECT_EQ(sums.parts[0].ns, kMost - 1);
  EXPECT_EQ(sums.parts[0].first.value, 2);
  EXPECT_EQ(sums.parts[1].first.value, 3);
  EXPECT_EQ(sums.by_name.at("2"), 12);
  EXPECT_EQ(sums.by_name.at("3"), 3);
  EXPECT_THAT(sums.words, testing::ElementsAre("0", "2", "3"));
}

TEST(SumsTest, OfNothing) {
  const Sums loaded = FromBytes(BytesOf({}));
  EXPECT_EQ(loaded.calls, 0);
  EXPECT_EQ(loaded.peak.value, std::nullopt);
  EXPECT_EQ(loaded.parts[1].first.value, kMost);
}

RC_GTEST_PROP(SumsTest, NoOrderOfMergingHasAnEffect, ()) {
  const auto values = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 100));
  Sums one;
  Sums others[3];
  for (size_t i = 0; i < values.size(); ++i) {
    MergeInto(&one, SumsOf(values[i]));
    MergeInto(&others[i % 3], SumsOf(values[i]));
  }
  MergeInto(&others[1], others[2]);
  MergeInto(&others[1], others[0]);
  RC_ASSERT(BytesOf(others[1]) == BytesOf(one));
  RC_ASSERT(BytesOf(FromBytes(BytesOf(one))) == BytesOf(one));
}

TEST(SumsTest, AreSavedByTheirMembersInOrder) {
  ByteWriter bytes;
  const Part part = {5, {7}};
  bytes.Values(&part);
  ByteWriter expected;
  const int64_t ns = 5;
  const int64_t first = 7;
  expected.Sums(&ns);
  expected.Values(&first);
  EXPECT_EQ(bytes.bytes(), expected.bytes());
}

std::string ErrorOf(const std::string& saved) {
  try {
    FromBytes(saved);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(SumsTest, DamagedBytesAreRefused) {
  const std::string whole = BytesOf(SumsOf(42));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(ErrorOf(whole.substr(0, size)), "") << size;
  }
  EXPECT_NE(ErrorOf(whole + "1"), "");

  ByteWriter negative;
  negative.Number(1);
  negative.Number(static_cast<uint64_t>(-1));
  EXPECT_NE(ErrorOf(negative.Take()), "");

  ByteWriter many;
  many.Number(uint64_t{1} << 50);
  EXPECT_NE(ErrorOf(many.Take()), "");
}

TEST(SumsTest, WhatCannotBeIsRefused) {
  Sums sums;
  sums.calls = 1001;
  EXPECT_THAT(ErrorOf(BytesOf(sums)), HasSubstr("there are too many calls"));
}

}  // namespace
}  // namespace oplens::sums_test
