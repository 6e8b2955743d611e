#include "record/chunk_maker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "record/spool/spool_format.h"
#include "test/support/spool_builder.h"
#include "test/support/test_files.h"

namespace oplens::record::chunk_maker_test {
namespace {

namespace fs = std::filesystem;

class ChunkMakerTest : public testing::Test {
 protected:
  fs::path Image(int32_t process_id) const {
    return test::MakeSpoolImage(
        spool_, process_id, spool_ / "net.sql",
        [](spool::ProcessPage* page) { page->state = spool::ProcessState::kRunning; });
  }
  /// The names of chunks.
  static std::set<std::string> Chunks(const fs::path& image) {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(image)) {
      if (entry.path().filename() != "process") names.insert(entry.path().filename().string());
    }
    return names;
  }
  /// STREAM.FROM to STREAM.(TO - 1).
  static std::set<std::string> Numbered(uint32_t stream, uint32_t from, uint32_t to) {
    std::set<std::string> names;
    for (; from < to; ++from) names.insert(fmt::format("{}.{}", stream, from));
    return names;
  }
  /// As the library does.
  static void Begin(spool::ProcessPage* page, const fs::path& image, uint32_t stream,
                    uint32_t sequence) {
    const fs::path chunk = image / fmt::format("{}.{}", stream, sequence);
    test::WriteFile(chunk, std::string(spool::kChunkMagic, sizeof spool::kChunkMagic) +
                               std::string(spool::kLargestChunkBytes - 8, '\0'));
    page->large_chunks[stream % spool::kLargeStreams] = uint64_t{stream} << 32 | (sequence + 1);
  }

  const fs::path spool_ = test::TestDir();
};

TEST_F(ChunkMakerTest, MakesTheNextOnesOfWhoUsesThem) {
  const fs::path image = Image(1);
  const fs::path other = Image(2);
  ChunkMaker maker(spool_);
  EXPECT_FALSE(maker.Look());
  EXPECT_EQ(Chunks(image), Numbered(0, 0, 0));
  const SharedPage page = MapRunningPage(image);
  ASSERT_NE(page, nullptr);
  Begin(page.get(), image, 3, 7);
  EXPECT_TRUE(maker.Look());
  EXPECT_EQ(Chunks(image), Numbered(3, 7, 12));
  EXPECT_EQ(fs::file_size(image / "3.11"), spool::kLargestChunkBytes);
  const std::string bytes = test::ReadFile(image / "3.8");
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), '\0'),
            static_cast<int64_t>(spool::kLargestChunkBytes));
  EXPECT_EQ(Chunks(other), Numbered(0, 0, 0));
}

TEST_F(ChunkMakerTest, MakesMoreForTheFaster) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  Begin(page.get(), image, 3, 0);
  maker.Look();
  Begin(page.get(), image, 3, 1);
  Begin(page.get(), image, 3, 2);
  maker.Look();
  EXPECT_EQ(Chunks(image), Numbered(3, 0, 11)) << "twice four";
  maker.Look();
  EXPECT_EQ(Chunks(image), Numbered(3, 0, 11)) << "nothing was begun";
  Begin(page.get(), image, 3, 3);
  maker.Look();
  EXPECT_EQ(Chunks(image), Numbered(3, 0, 11)) << "slower";
}

TEST_F(ChunkMakerTest, LeavesAloneWhatTheLibraryMade) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  test::WriteFile(image / "2.4", "of the library");
  Begin(page.get(), image, 2, 3);
  maker.Look();
  EXPECT_EQ(Chunks(image), Numbered(2, 3, 8));
  EXPECT_EQ(test::ReadFile(image / "2.4"), "of the library");
}

TEST_F(ChunkMakerTest, ManyStreamsGetTheirs) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  for (const uint32_t stream : {2u, 3u, 4u}) Begin(page.get(), image, stream, 0);
  maker.Look();
  // Of two whose numbers have one place, the later.
  for (const uint32_t stream : {2u, 18u}) Begin(page.get(), image, stream, 1);
  maker.Look();
  std::set<std::string> expected = Numbered(2, 0, 5);
  expected.merge(Numbered(3, 0, 5));
  expected.merge(Numbered(4, 0, 5));
  expected.merge(Numbered(18, 1, 6));
  EXPECT_EQ(Chunks(image), expected);
}

TEST_F(ChunkMakerTest, AStreamThatEndsLeavesRoomForOthers) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  Begin(page.get(), image, 2, 99);
  maker.Look();
  for (uint32_t sequence = 100; sequence < 120; ++sequence) Begin(page.get(), image, 2, sequence);
  maker.Look();
  EXPECT_EQ(Chunks(image), Numbered(2, 99, 128));
  Begin(page.get(), image, 3, 0);
  maker.Look();
  std::set<std::string> expected = Numbered(2, 99, 128);
  expected.merge(Numbered(3, 0, 5));
  EXPECT_EQ(Chunks(image), expected);
}

TEST_F(ChunkMakerTest, StopsWithTheProcess) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  Begin(page.get(), image, 2, 0);
  maker.Look();
  // The library comes to one and says so after the last visit.
  Begin(page.get(), image, 2, 1);
  page->state = spool::ProcessState::kEnded;
  EXPECT_FALSE(maker.Look());
  EXPECT_EQ(Chunks(image), Numbered(2, 0, 2));
}

TEST_F(ChunkMakerTest, KeepsThemWhereThePageCannotBeRead) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  Begin(page.get(), image, 2, 0);
  maker.Look();
  fs::resize_file(image / "process", 100);
  EXPECT_FALSE(maker.Look());
  EXPECT_EQ(Chunks(image), Numbered(2, 0, 5));
}

TEST_F(ChunkMakerTest, AnyNumbersAreSurvived) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  for (int i = 0; i < 4; ++i) {
    for (uint64_t place = 0; place < spool::kLargeStreams; ++place) {
      page->large_chunks[place] =
          UINT64_MAX - place * (uint64_t{1} << 31) - static_cast<uint64_t>(i);
    }
    maker.Look();
  }
  EXPECT_LE(Chunks(image).size(), 64u);
}

TEST_F(ChunkMakerTest, ThereAreNotTooManyOfAll) {
  ChunkMaker maker(spool_);
  for (int32_t id = 1; id <= 6; ++id) {
    const fs::path image = Image(id);
    const SharedPage page = MapRunningPage(image);
    for (uint32_t stream = 2; stream < 7; ++stream) Begin(page.get(), image, stream, 0);
  }
  for (int i = 0; i < 3; ++i) maker.Look();
  size_t chunks = 0;
  for (int32_t id = 1; id <= 6; ++id) chunks += Chunks(spool_ / fmt::format("{}.0", id)).size();
  EXPECT_EQ(chunks, 6 * 5 + 64u);
}

}  // namespace
}  // namespace oplens::record::chunk_maker_test
