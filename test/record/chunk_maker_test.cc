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
  static std::set<std::string> Ready(const fs::path& image) {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(image)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(spool::kReadyPrefix)) names.insert(name);
    }
    return names;
  }
  /// Names ready.FROM to ready.(TO - 1).
  static std::set<std::string> Numbered(uint32_t from, uint32_t to) {
    std::set<std::string> names;
    for (; from < to; ++from) names.insert(fmt::format("ready.{}", from));
    return names;
  }

  const fs::path spool_ = test::TestDir();
};

TEST_F(ChunkMakerTest, MakesThemForWhoUsesThem) {
  const fs::path image = Image(1);
  const fs::path other = Image(2);
  ChunkMaker maker(spool_);
  EXPECT_FALSE(maker.Look());
  EXPECT_EQ(Ready(image), Numbered(0, 0));
  const SharedPage page = MapRunningPage(image);
  ASSERT_NE(page, nullptr);
  page->chunks_requested = 2;
  EXPECT_TRUE(maker.Look());
  EXPECT_EQ(Ready(image), Numbered(0, 8));
  EXPECT_EQ(page->chunks_ready, 8u);
  EXPECT_EQ(fs::file_size(image / "ready.7"), spool::kLargestChunkBytes);
  const std::string bytes = test::ReadFile(image / "ready.0");
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), '\0'),
            static_cast<int64_t>(spool::kLargestChunkBytes));
  EXPECT_EQ(Ready(other), Numbered(0, 0));
}

TEST_F(ChunkMakerTest, MakesAnewWhatIsTaken) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  page->chunks_requested = 100;
  maker.Look();
  EXPECT_EQ(Ready(image), Numbered(0, 16)) << "not all that are wanted";
  for (const std::string& name : Numbered(0, 5)) fs::rename(image / name, image / ("2." + name));
  page->chunks_taken = 5;
  page->chunks_requested = 105;
  maker.Look();
  EXPECT_EQ(Ready(image), Numbered(5, 21));
  EXPECT_EQ(page->chunks_ready, 21u);
}

TEST_F(ChunkMakerTest, StopsWithTheProcess) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  page->chunks_requested = 1;
  maker.Look();
  page->chunks_taken = 1;
  fs::rename(image / "ready.0", image / "2.0");
  page->state = spool::ProcessState::kEnded;
  EXPECT_FALSE(maker.Look());
  EXPECT_EQ(Ready(image), Numbered(0, 0));
  EXPECT_TRUE(fs::exists(image / "2.0"));
}

TEST_F(ChunkMakerTest, AnyNumbersAreSurvived) {
  const fs::path image = Image(1);
  ChunkMaker maker(spool_);
  const SharedPage page = MapRunningPage(image);
  page->chunks_requested = UINT32_MAX;
  page->chunks_taken = UINT32_MAX;
  page->chunks_ready = 12345;
  for (int i = 0; i < 4; ++i) maker.Look();
  EXPECT_LE(Ready(image).size(), 16u);
}

TEST_F(ChunkMakerTest, ThereAreNotTooManyOfAll) {
  ChunkMaker maker(spool_);
  size_t ahead = 0;
  for (int32_t id = 1; id <= 6; ++id) MapRunningPage(Image(id))->chunks_requested = 9;
  for (int i = 0; i < 3; ++i) maker.Look();
  for (int32_t id = 1; id <= 6; ++id) {
    ahead += Ready(spool_ / fmt::format("{}.0", id)).size();
  }
  EXPECT_EQ(ahead, 64u);
}

}  // namespace
}  // namespace oplens::record::chunk_maker_test
