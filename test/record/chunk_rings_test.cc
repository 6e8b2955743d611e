#include "record/chunk_rings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "record/spool/spool_format.h"
#include "record/spool_reader.h"
#include "test/support/spool_builder.h"
#include "test/support/test_files.h"

namespace oplens::record::chunk_rings_test {
namespace {

namespace fs = std::filesystem;
using Use = ChunkRings::Use;

constexpr uint64_t kHead = sizeof(spool::ChunkHead);

class ChunkRingsTest : public testing::Test {
 protected:
  /// Of a process that no system has.
  fs::path Image(int32_t number) const {
    return test::MakeSpoolImage(
        spool_, 2'000'000'000 + number, spool_ / "net.sql",
        [](spool::ProcessPage* page) { page->state = spool::ProcessState::kRunning; });
  }
  static void NoteLarge(const fs::path& image, uint32_t stream) {
    const SharedPage page = MapRunningPage(image);
    ASSERT_NE(page, nullptr);
    page->large_streams[stream % spool::kLargeStreams] = stream + 1;
  }
  /// The names of all files but the page.
  static std::set<std::string> Files(const fs::path& image) {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(image)) {
      if (entry.path().filename() != "process") names.insert(entry.path().filename().string());
    }
    return names;
  }
  static std::set<std::string> Ring(uint32_t stream) {
    std::set<std::string> names;
    for (uint32_t i = 0; i < spool::kRingChunks; ++i) {
      names.insert(fmt::format("ring.{}.{}", stream, i));
    }
    return names;
  }
  static fs::path Place(const fs::path& image, uint32_t stream, uint32_t sequence) {
    return image / fmt::format("ring.{}.{}", stream, sequence % spool::kRingChunks);
  }
  static void WriteAt(const fs::path& file, uint64_t offset, const std::string& bytes) {
    std::string all = test::ReadFile(file);
    all.resize(std::max(all.size(), static_cast<size_t>(offset) + bytes.size()));
    all.replace(static_cast<size_t>(offset), bytes.size(), bytes);
    test::WriteFile(file, all);
  }
  static uint64_t NumberAt(const fs::path& file, uint64_t offset) {
    uint64_t number = 0;
    std::memcpy(&number, test::ReadFile(file).data() + offset, sizeof number);
    return number;
  }
  static std::string Bytes(uint64_t number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
  }
  /// As the library does: a chunk of one push and its pop, at its place.
  static void Begin(const fs::path& image, uint32_t stream, uint32_t sequence) {
    spool::ChunkHead head{};
    std::memcpy(head.magic, spool::kChunkMagic, sizeof head.magic);
    head.version = spool::kVersion;
    head.stream = stream;
    head.sequence = sequence;
    head.thread_id = 77;
    head.os_thread_id = 78;
    head.capacity = spool::kRingChunkBytes;
    test::SpoolParts parts;
    parts.text = fmt::format("range {}", sequence);
    const int64_t start_ns = 10 * int64_t{sequence} + 1;
    const std::string records =
        test::EventRecord(spool::RecordKind::kPush, start_ns, parts) +
        test::EventRecord(spool::RecordKind::kPop, start_ns + 1, test::SpoolParts());
    head.used = kHead + records.size();
    WriteAt(Place(image, stream, sequence), 0,
            std::string(reinterpret_cast<const char*>(&head), kHead) + records);
  }
  static void Close(const fs::path& image, uint32_t stream, uint32_t sequence) {
    WriteAt(Place(image, stream, sequence), offsetof(spool::ChunkHead, closed), Bytes(1));
  }
  static uint64_t UsedAt(const fs::path& image, uint32_t stream, uint32_t sequence) {
    return NumberAt(Place(image, stream, sequence), offsetof(spool::ChunkHead, used));
  }
  /// The times of the records that a reader finds, to the end.
  static std::vector<int64_t> Times(const fs::path& image, uint32_t stream) {
    StreamReader reader(image, stream);
    reader.End();
    std::vector<int64_t> times;
    while (const StreamReader::Record* const record = reader.Peek()) {
      times.push_back(record->head.time_ns);
      reader.Next();
    }
    EXPECT_EQ(reader.damage(), "");
    return times;
  }

  const fs::path spool_ = test::TestDir();
};

TEST_F(ChunkRingsTest, AStreamOfLargeChunksGetsARing) {
  const fs::path image = Image(1);
  const fs::path other = Image(2);
  ChunkRings rings(spool_);
  EXPECT_EQ(rings.Look(), Use::kNone);
  EXPECT_EQ(Files(image), std::set<std::string>());
  NoteLarge(image, 3);
  EXPECT_EQ(rings.Look(), Use::kRings);
  EXPECT_EQ(Files(image), Ring(3));
  EXPECT_EQ(test::ReadFile(image / "ring.3.2"), std::string(spool::kRingChunkBytes, '\0'));
  EXPECT_EQ(Files(other), std::set<std::string>());
}

TEST_F(ChunkRingsTest, NamesHaveNone) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  NoteLarge(image, spool::kNamesStream);
  EXPECT_EQ(rings.Look(), Use::kNone);
  EXPECT_EQ(Files(image), std::set<std::string>());
}

TEST_F(ChunkRingsTest, AChunkThatIsClosedIsCopiedAndItsPlaceFree) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  NoteLarge(image, 2);
  rings.Look();
  for (uint32_t sequence = 0; sequence < 9; ++sequence) {
    Begin(image, 2, sequence);
    EXPECT_EQ(rings.Look(), Use::kRings) << "still written to";
    EXPECT_FALSE(fs::exists(image / fmt::format("2.{}", sequence)));
    Close(image, 2, sequence);
    EXPECT_EQ(rings.Look(), Use::kCopied);
    const fs::path chunk = image / fmt::format("2.{}", sequence);
    ASSERT_TRUE(fs::exists(chunk));
    EXPECT_EQ(NumberAt(chunk, offsetof(spool::ChunkHead, used)), fs::file_size(chunk));
    EXPECT_EQ(UsedAt(image, 2, sequence), 0u);
    EXPECT_EQ(NumberAt(Place(image, 2, sequence), offsetof(spool::ChunkHead, closed)), 0u);
  }
  EXPECT_EQ(Times(image, 2).size(), 18u);
  EXPECT_EQ(Times(image, 2).back(), 82);
}

TEST_F(ChunkRingsTest, WhatIsLeftGetsItsName) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  NoteLarge(image, 2);
  rings.Look();
  for (uint32_t sequence = 0; sequence < 3; ++sequence) Begin(image, 2, sequence);
  for (uint32_t sequence = 0; sequence < 2; ++sequence) Close(image, 2, sequence);
  EXPECT_EQ(NameRingChunks(image), std::vector<std::string>());
  EXPECT_EQ(Files(image), (std::set<std::string>{"2.0", "2.1", "2.2"}));
  EXPECT_EQ(Times(image, 2), (std::vector<int64_t>{1, 2, 11, 12, 21, 22}));
  EXPECT_EQ(rings.Look(), Use::kRings) << "without files";
}

// Killed between the copy and what frees the place.
TEST_F(ChunkRingsTest, ACopyThatIsThereIsNotMadeAgain) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  NoteLarge(image, 2);
  rings.Look();
  for (uint32_t sequence = 0; sequence < 2; ++sequence) {
    Begin(image, 2, sequence);
    Close(image, 2, sequence);
    fs::copy_file(Place(image, 2, sequence), image / fmt::format("2.{}", sequence));
  }
  test::WriteFile(image / spool::kCopyName, "half");
  fs::copy_file(image / "ring.2.1", spool_ / "kept");
  EXPECT_EQ(rings.Look(), Use::kCopied);
  EXPECT_EQ(UsedAt(image, 2, 0), 0u);
  fs::rename(spool_ / "kept", image / "ring.2.1");
  EXPECT_EQ(NameRingChunks(image), std::vector<std::string>());
  EXPECT_EQ(Times(image, 2), (std::vector<int64_t>{1, 2, 11, 12}));
}

TEST_F(ChunkRingsTest, EndsWithTheProcess) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  NoteLarge(image, 2);
  rings.Look();
  Begin(image, 2, 0);
  MapRunningPage(image)->state = spool::ProcessState::kEnded;
  EXPECT_EQ(rings.Look(), Use::kNone);
  EXPECT_EQ(Files(image), (std::set<std::string>{"2.0"}));
}

TEST_F(ChunkRingsTest, WhatSaysThatItEndsAndStillRunsKeepsItsRing) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  NoteLarge(image, 2);
  rings.Look();
  Begin(image, 2, 0);
  const SharedPage page = MapRunningPage(image);
  page->process_id = ::getpid();
  page->state = spool::ProcessState::kEnded;
  EXPECT_EQ(rings.Look(), Use::kRings);
  EXPECT_EQ(Files(image), Ring(2));
  Close(image, 2, 0);
  EXPECT_EQ(rings.Look(), Use::kCopied);
}

TEST_F(ChunkRingsTest, StaysWhereThePageCannotBeRead) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  NoteLarge(image, 2);
  rings.Look();
  Begin(image, 2, 0);
  Close(image, 2, 0);
  fs::resize_file(image / "process", 100);
  EXPECT_EQ(rings.Look(), Use::kCopied);
  std::set<std::string> expected = Ring(2);
  expected.insert("2.0");
  EXPECT_EQ(Files(image), expected);
}

TEST_F(ChunkRingsTest, NumbersThatCannotBeAreLeftAlone) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  NoteLarge(image, 2);
  rings.Look();
  for (const uint64_t used :
       {uint64_t{1}, kHead - 1, uint64_t{spool::kRingChunkBytes} + 1, UINT64_MAX}) {
    Begin(image, 2, 0);
    WriteAt(image / "ring.2.0", offsetof(spool::ChunkHead, used), Bytes(used));
    Close(image, 2, 0);
    EXPECT_EQ(rings.Look(), Use::kRings) << used;
    EXPECT_EQ(Files(image), Ring(2));
  }
  fs::resize_file(image / "ring.2.0", 20);
  fs::remove(image / "ring.2.1");
  fs::remove(image / "ring.2.2");
  fs::create_directory(image / "ring.2.2");
  EXPECT_EQ(rings.Look(), Use::kRings);
}

TEST_F(ChunkRingsTest, AChunkCutAfterItsHeadIsDamage) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  NoteLarge(image, 2);
  rings.Look();
  Begin(image, 2, 0);
  fs::resize_file(image / "ring.2.0", kHead + 8);
  fs::resize_file(image / "ring.2.1", 20);
  EXPECT_EQ(NameRingChunks(image),
            (std::vector<std::string>{(image / "ring.2.1").string() +
                                      ": ends at byte 20, within its head"}));
  StreamReader reader(image, 2);
  reader.End();
  EXPECT_EQ(reader.Peek(), nullptr);
  EXPECT_NE(reader.damage(), "");
}

TEST_F(ChunkRingsTest, AnyStreamsAreSurvived) {
  const fs::path image = Image(1);
  ChunkRings rings(spool_);
  for (uint32_t i = 0; i < 4; ++i) {
    const SharedPage page = MapRunningPage(image);
    for (uint32_t place = 0; place < spool::kLargeStreams; ++place) {
      page->large_streams[place] = UINT32_MAX - place * 0x1000'0000 - i;
    }
    rings.Look();
  }
  EXPECT_EQ(Files(image).size(), 32 * spool::kRingChunks);
}

TEST_F(ChunkRingsTest, AProcessThatEndsLeavesRoomForOthers) {
  ChunkRings rings(spool_);
  std::vector<fs::path> images;
  for (int32_t id = 1; id <= 8; ++id) {
    images.push_back(Image(id));
    for (uint32_t stream = 2; stream < 7; ++stream) NoteLarge(images.back(), stream);
  }
  for (int i = 0; i < 3; ++i) rings.Look();
  const auto count = [&] {
    size_t files = 0;
    for (const fs::path& image : images) files += Files(image).size();
    return files;
  };
  EXPECT_EQ(count(), 32 * spool::kRingChunks);
  MapRunningPage(images[0])->state = spool::ProcessState::kEnded;
  rings.Look();
  EXPECT_EQ(Files(images[0]), std::set<std::string>());
  EXPECT_EQ(count(), 32 * spool::kRingChunks);
}

}  // namespace
}  // namespace oplens::record::chunk_rings_test
