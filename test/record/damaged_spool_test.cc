// Spools that were cut off or overwritten: what is whole is kept, the rest is told, nothing
// crashes.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "record/spool_reader.h"
#include "test/record/spool_test.h"
#include "test/support/program.h"
#include "test/support/random_cases.h"

namespace oplens::record::damaged_spool_test {
namespace {

namespace fs = std::filesystem;
using spool::RecordKind;
using test::EventRecord;
using test::SpoolStream;
using testing::HasSubstr;

class DamagedSpool : public SpoolTest {
 protected:
  void SetUp() override { image_ = MakeImage(); }

  template <typename T>
  static std::string BytesOf(const T& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  }

  fs::path image_;
};

TEST_F(DamagedSpool, AChunkCutOffAtAnyByteKeepsWhatIsWhole) {
  SpoolStream events(image_, 2, 1, 1);
  std::vector<uint64_t> ends;
  for (int64_t i = 0; i < 6; ++i) {
    events.Push(i + 1, std::string(static_cast<size_t>(i * 3), 'x'));
    ends.push_back(events.used());
  }
  const fs::path chunk = events.path();
  const std::string whole = test::ReadFile(chunk).substr(0, events.used());
  for (size_t size = 1; size < whole.size(); ++size) {
    test::WriteFile(chunk, whole.substr(0, size));
    StreamReader reader(image_, 2);
    reader.End();
    size_t count = 0;
    for (; reader.Peek() != nullptr; reader.Next()) ++count;
    reader.CheckLast(0);
    const auto expected =
        std::count_if(ends.begin(), ends.end(), [size](uint64_t end) { return end <= size; });
    EXPECT_EQ(count, static_cast<size_t>(expected)) << size;
    EXPECT_THAT(reader.damage(), HasSubstr("2.0: ")) << size;
  }
}

TEST_F(DamagedSpool, AnEmptyChunkAtTheEndIsNoDamage) {
  SpoolStream events(image_, 2, 1, 1);
  events.Push(1, "a");
  events.Pop(2);
  for (const size_t bytes : {size_t{0}, size_t{64 * 1024}}) {
    test::WriteFile(image_ / "2.1", std::string(bytes, '\0'));
    const ProcessSummary summary = ConvertOne();
    EXPECT_EQ(summary.ranges, 1);
    EXPECT_EQ(summary.damage, "");
  }
}

TEST_F(DamagedSpool, WhatIsLeftInARingIsRead) {
  SpoolStream events(image_, 2, 1, 1);
  events.Push(1, "a");
  events.StartChunk(64 * 1024);
  events.Push(2, "b");
  std::filesystem::rename(events.path(), image_ / "ring.2.1");
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.ranges, 2);
  EXPECT_EQ(summary.damage, "");
}

TEST_F(DamagedSpool, APlaceOfARingWithoutAHeadIsTold) {
  SpoolStream events(image_, 2, 1, 1);
  events.Push(1, "a");
  test::WriteFile(image_ / "ring.2.3", "0123456789");
  EXPECT_THAT(ConvertOne().damage, HasSubstr("ring.2.3: ends at byte 10, within its head"));
}

TEST_F(DamagedSpool, AnEmptyChunkBeforeAnotherIsTold) {
  SpoolStream events(image_, 2, 1, 1);
  events.Push(1, "a");
  events.Pop(2);
  events.StartChunk(64 * 1024);
  test::WriteFile(events.path(), std::string(64 * 1024, '\0'));
  events.StartChunk(64 * 1024);
  events.Push(3, "b");
  EXPECT_THAT(ConvertOne().damage, HasSubstr("2.1: is missing or empty"));
}

TEST_F(DamagedSpool, ACutChunkIsTold) {
  SpoolStream events(image_, 2, 1, 1);
  events.Push(1, "a");
  const uint64_t end = events.used();
  events.Push(2, "b");
  fs::resize_file(events.path(), end + 8);
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.ranges, 1);
  EXPECT_THAT(summary.damage, HasSubstr("2.0: ends within the record at byte"));
  EXPECT_EQ(Meta()["damage"], summary.damage);
}

TEST_F(DamagedSpool, BadSizesEndAStream) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  for (const uint32_t size : {0u, 8u, 15u, 17u, 33u, 1u << 20, kMost, kMost - 7}) {
    SpoolStream events(image_, 2, 1, 1);
    events.Push(1, "a");
    const uint64_t second = events.used();
    events.Push(2, "b");
    events.Patch(second + offsetof(spool::RecordHead, size), BytesOf(size));
    const ProcessSummary summary = ConvertOne();
    EXPECT_EQ(summary.ranges, 1) << size;
    EXPECT_THAT(summary.damage, HasSubstr(fmt::format("says that it has {} bytes", size)));
  }
}

TEST_F(DamagedSpool, OtherStreamsGoOn) {
  SpoolStream bad(image_, 2, 1, 1);
  bad.Push(1, "a");
  bad.Patch(0, "BADMAGIC");
  SpoolStream good(image_, 3, 2, 2);
  good.Push(2, "b");
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.ranges, 1);
  EXPECT_THAT(summary.damage, HasSubstr("2.0: is not a chunk of a spool"));
}

TEST_F(DamagedSpool, HeadsThatAreWrong) {
  struct Case {
    size_t offset;
    std::string bytes;
    const char* damage;
  };
  const Case cases[] = {
      {offsetof(spool::ChunkHead, version), BytesOf(uint32_t{9}), "has version 9"},
      {offsetof(spool::ChunkHead, stream), BytesOf(uint32_t{3}), "says that it is chunk 3.0"},
      {offsetof(spool::ChunkHead, sequence), BytesOf(uint32_t{1}), "says that it is chunk 2.1"},
      {offsetof(spool::ChunkHead, used), BytesOf(std::numeric_limits<uint64_t>::max()),
       "says that it has 0 bytes"},  // The rest is zero.
      {offsetof(spool::ChunkHead, used), BytesOf(uint64_t{8}), "says that 8 bytes are used"},
  };
  for (const Case& c : cases) {
    SpoolStream events(image_, 2, 1, 1);
    events.Push(1, "a");
    events.Patch(c.offset, c.bytes);
    EXPECT_THAT(ConvertOne().damage, HasSubstr(c.damage));
  }
}

TEST_F(DamagedSpool, AMissingChunkIsTold) {
  SpoolStream events(image_, 2, 1, 1);
  events.Push(1, "a");
  const fs::path first = events.path();
  events.StartChunk(1024);
  events.Push(2, "b");
  const fs::path second = events.path();
  events.StartChunk(1024);
  events.Push(3, "c");
  fs::remove(second);
  ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.ranges, 1);
  EXPECT_THAT(summary.damage, HasSubstr("2.1: is missing"));
  fs::remove(first);
  summary = ConvertOne();
  EXPECT_EQ(summary.ranges, 0);
  EXPECT_THAT(summary.damage, HasSubstr("2.0: is missing"));
}

TEST_F(DamagedSpool, WhereTheProgramWasKilledIsNoDamage) {
  SpoolStream events(image_, 2, 1, 1);
  events.Push(1, "a");
  // The next chunk was being made.
  test::WriteFile(image_ / "2.1", "");
  EXPECT_EQ(ConvertOne().damage, "");
  test::WriteFile(image_ / "2.1", std::string(4096, '\0'));
  EXPECT_EQ(ConvertOne().damage, "");
  test::WriteFile(image_ / "3.0", std::string(4096, '\0'));
  EXPECT_EQ(ConvertOne().damage, "");
  events.StartChunk(1024);
  EXPECT_EQ(ConvertOne().damage, "");
}

TEST_F(DamagedSpool, AChunkThatBecomesShorterIsNotTouched) {
  SpoolStream events(image_, 2, 1, 1);
  events.Push(1, "a");
  Conversion conversion(Options());
  EXPECT_FALSE(conversion.Advance(std::chrono::seconds(10)));
  fs::resize_file(events.path(), 0);
  EXPECT_FALSE(conversion.Advance(std::chrono::seconds(10)));
  EXPECT_THAT(conversion.Finish({}).at(0).damage, HasSubstr("has become shorter"));
}

TEST_F(DamagedSpool, PagesThatAreWrong) {
  SpoolStream(image_, 2, 1, 1).Push(1, "a");
  const std::string page = test::ReadFile(image_ / "process");
  const std::pair<std::string, const char*> cases[] = {
      {"", "is empty"},
      {page.substr(0, 100), "ends at byte 100"},
      {"BADMAGIC" + page.substr(8), "is not the page of a process"},
      {page.substr(0, 8) + "\x07" + page.substr(9), "has version 7"},
  };
  for (const auto& [bytes, damage] : cases) {
    test::WriteFile(image_ / "process", bytes);
    Conversion conversion(Options());
    conversion.Advance(std::chrono::seconds(10));
    EXPECT_EQ(conversion.processes(), 0);  // It may still be in the making.
    const std::vector<ProcessSummary> summaries = conversion.Finish({});
    ASSERT_EQ(summaries.size(), 1u);
    EXPECT_THAT(summaries[0].damage, HasSubstr(damage));
    EXPECT_EQ(summaries[0].ranges, 1);
    EXPECT_EQ(summaries[0].output, output().string());
    fs::remove(output());
  }
}

TEST_F(DamagedSpool, RecordsThatAreNotUnderstoodAreCounted) {
  SpoolStream events(image_, 2, 1, 1);
  events.Append(EventRecord(static_cast<RecordKind>(200), 1, {}));
  std::string record = EventRecord(RecordKind::kPush, 2, {.text = "a"});
  record.back() = 'x';                      // Padding: nobody reads it.
  record[sizeof(spool::RecordHead)] = 100;  // The text's length.
  events.Append(record);
  events.Append(EventRecord(RecordKind::kDomain, 2, {.text = "no event"}));
  events.Push(3, "b");
  SpoolStream(image_, 0).Append(EventRecord(RecordKind::kPush, 2, {.text = "no name"}));
  SpoolStream(image_, 1).Append(EventRecord(RecordKind::kPush, 2, {.text = "no row"}));
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.ranges, 1);
  EXPECT_THAT(summary.damage, HasSubstr("5 records are not understood"));
}

TEST_F(DamagedSpool, ExtremeTimesAndNumbers) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  SpoolStream events(image_, 2, 0xffffffff, 0xffffffff);
  events.Push(kMost, "a");
  events.Push(kLeast, "b");
  events.Append(EventRecord(RecordKind::kPush, 0, {.domain = 0xffff, .text = "c"}));
  events.Append(EventRecord(RecordKind::kEnd, 0, {.range = ~uint64_t{0}}));
  events.Append(EventRecord(RecordKind::kStart, 0, {.range = ~uint64_t{0}}));
  const ProcessSummary summary = ConvertOne();
  EXPECT_EQ(summary.ranges, 4);
  EXPECT_EQ(Markers().size(), 5u);
  const test::RunResult parsed =
      test::RunProgram({test::Program("parse"), "-v", output().string()});
  EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
}

TEST_F(DamagedSpool, AnyBytesAreSurvived) {
  SpoolStream names(image_, 0);
  names.Append(EventRecord(RecordKind::kDomain, 1, {.domain = 1, .text = "d"}));
  names.Append(EventRecord(RecordKind::kString, 1, {.string = 1, .text = "s"}));
  SpoolStream activity(image_, 1);
  activity.Append(test::RowRecord(spool::Table::kName, {int64_t{3}, "object id 12", "text"}));
  SpoolStream events(image_, 2, 1, 1);
  events.Append(EventRecord(RecordKind::kPush, 1,
                            {.domain = 1,
                             .category = 2,
                             .color = 3,
                             .value = std::pair(1, 2),
                             .string = 1,
                             .range = 4,
                             .payloads = {{5, "abc"}, {6, "defghijk"}},
                             .text = "t"}));
  events.Append(test::ThreadRecord(5, 6));
  events.Pop(3);
  events.Append(EventRecord(
      RecordKind::kPush, 4,
      {.domain = 1, .string = 1, .payloads = {{spool::kFirstSchema + 2, "abc"}}, .call = true}));
  const std::vector<SpoolStream*> streams = {&names, &activity, &events};
  std::vector<std::string> originals;
  for (SpoolStream* stream : streams) originals.push_back(test::ReadFile(stream->path()));
  test::CheckRandomCases([&] {
    for (size_t i = 0; i < streams.size(); ++i) {
      std::string bytes = originals[i];
      for (int flips = test::AnyIn(0, 101); flips > 0; --flips) {
        const auto at = test::AnyIn<size_t>(0, streams[i]->used());
        bytes[at] = static_cast<char>(test::AnyByte());
      }
      test::WriteFile(streams[i]->path(), bytes);
    }
    test::Require(Convert().size() == 1u);
    test::Require(Query(output(), "PRAGMA integrity_check") == std::vector<std::string>{"ok"});
  });
}

}  // namespace
}  // namespace oplens::record::damaged_spool_test
