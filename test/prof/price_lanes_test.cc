// Stages of pricing that run beside each other: PriceAll() into sinks with lanes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "prof/input/line_records.h"
#include "prof/price_all.h"
#include "test/prof/rows.h"
#include "test/support/test_files.h"

namespace oplens::prof::price_lanes_test {
namespace {

using test::Line;
using test::MmText;
using test::PlainRecord;

constexpr size_t kLanes = 3;
constexpr int64_t kRecords = 5000;

/// What is seen of a row.
struct Seen {
  int64_t index = 0;
  std::optional<int64_t> flops;
  std::string op;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen SeenOf(const PricedKernel& row) { return {row.index, row.share.flops, std::string(row.op)}; }

/// Keeps what each lane saw; without lanes, what was added.
class LanesSink : public KernelSink {
 public:
  explicit LanesSink(size_t lanes) : lanes_(lanes), seen(std::max(lanes, size_t{1})) {}

  void Add(const PricedKernel& kernel) override {
    ++added;
    if (lanes_ == 0) {
      seen[0].push_back(SeenOf(kernel));
    } else {
      held_.push_back({&kernel, true});
    }
  }
  size_t Lanes() override { return lanes_; }
  void TakeHeld(HeldRows* rows) override {
    rows->clear();
    std::swap(*rows, held_);
  }
  void Look(size_t lane, const HeldRows& rows) override {
    for (const HeldRow& held : rows) {
      if (held.row->index == fails_at) throw Error("lane", "fails", "do nothing");
      seen[lane].push_back(SeenOf(*held.row));
    }
  }

 private:
  size_t lanes_;
  HeldRows held_;

 public:
  std::vector<std::vector<Seen>> seen;
  int64_t added = 0;
  int64_t fails_at = -1;
};

/// Records of a file, up to one that has no memory.
class ShortOfMemory : public RecordSource {
 public:
  ShortOfMemory(std::string path, int64_t after) : lines_(path), left_(after), path_(path) {}

  Step Next(WaitingRow* row, Diagnostics* diagnostics) override {
    if (left_-- == 0) throw std::bad_alloc();
    return lines_.Next(row, diagnostics);
  }
  bool counts_reasons() const override { return false; }
  std::string_view name() const override { return path_; }

 private:
  LineRecords lines_;
  int64_t left_;
  std::string path_;
};

/// Two kernels a call, backward kernels of earlier calls, sometimes another rank or no record.
std::string Records() {
  std::string text;
  for (int64_t i = 1; i <= kRecords; ++i) {
    KernelRecord record = PlainRecord();
    const std::string mm = MmText(2, 3, static_cast<int>(1 + i / 2 % 1000));
    const std::string number = fmt::format("mm, seq = {}", i / 2);
    const std::string rank = fmt::format("{}", i / 1300);
    record.rank = rank;
    record.op = {"mm"};
    record.mod = {"torch"};
    record.start_ns = i * 1000;
    record.end_ns = i * 1000 + 100;
    record.seq_ids = {i / 2};
    if (i % 5 == 0) {
      record.direction = Direction::kBackward;
      record.seq_ids = {i / 2 - 1};
    } else {
      record.markers = {mm};
      record.seq_markers = {number};
      record.long_name = i % 2 == 0 ? "volta_sgemm_32x128_tn" : "splitKreduce_kernel";
    }
    text += i % 997 == 0 ? "{'kShortName'\n" : Line(record);
  }
  return text;
}

class PriceLanesTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    SetThreadLimit(GetParam());
    test::WriteFile(path_, Records());
  }
  void TearDown() override { SetThreadLimit(before_); }

  std::string PriceInto(RecordSource* records, LanesSink* sink) {
    try {
      PriceAll(records, {}, sink, &diagnostics_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const int before_ = ThreadLimit();
  const std::string path_ = (test::TestDir() / "net.dict").string();
  Diagnostics diagnostics_;
};

TEST_P(PriceLanesTest, EachLaneSeesWhatIsAddedWithoutLanes) {
  LineRecords plain_lines(path_);
  LanesSink plain(0);
  ASSERT_EQ(PriceInto(&plain_lines, &plain), "");
  ASSERT_EQ(plain.added, kRecords - kRecords / 997);
  const Diagnostics counted = std::exchange(diagnostics_, {});

  LineRecords lines(path_);
  LanesSink sink(kLanes);
  ASSERT_EQ(PriceInto(&lines, &sink), "");
  EXPECT_EQ(diagnostics_.Render("prof"), counted.Render("prof"));
  for (const std::vector<Seen>& seen : sink.seen) EXPECT_TRUE(seen == plain.seen[0]);
  const auto known = [](int64_t sum, const Seen& row) { return sum + (row.flops ? 1 : 0); };
  EXPECT_GT(std::accumulate(plain.seen[0].begin(), plain.seen[0].end(), int64_t{0}, known), 1000);
}

TEST_P(PriceLanesTest, WithoutMemoryForARecordItsInputIsNamed) {
  for (const int64_t after : {0, 1, 700, 3000}) {
    ShortOfMemory records(path_, after);
    LanesSink sink(kLanes);
    const std::string error = PriceInto(&records, &sink);
    EXPECT_NE(error.find("net.dict: "), std::string::npos) << error;
    EXPECT_NE(error.find("memory"), std::string::npos) << error;
    EXPECT_LE(sink.added, after);
  }
}

TEST_P(PriceLanesTest, WhatALaneThrowsEndsTheRun) {
  for (const int64_t index : {1, 600, 4999}) {
    LineRecords lines(path_);
    LanesSink sink(kLanes);
    sink.fails_at = index;
    EXPECT_NE(PriceInto(&lines, &sink).find("lane: fails"), std::string::npos) << index;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, PriceLanesTest, testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace oplens::prof::price_lanes_test
