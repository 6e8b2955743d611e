// Rings between the library in a program and who empties them: here the test, which looks when the
// program waits.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "record/chunk_rings.h"
#include "record/spool/spool_format.h"
#include "record/spool_reader.h"
#include "test/record/record_run.h"
#include "test/support/program.h"
#include "test/support/test_files.h"

namespace oplens::record::ring_program_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::SizeIs;

constexpr int64_t kRanges = 80'000;

/// The sizes of the chunks of an image's events.
std::multiset<uint64_t> Sizes(const fs::path& image) {
  std::multiset<uint64_t> sizes;
  for (const fs::directory_entry& entry : fs::directory_iterator(image)) {
    if (entry.path().filename().native().starts_with("2.")) sizes.insert(entry.file_size());
  }
  return sizes;
}

/// Pushes and pops of an image's thread, in the order of time; nothing is missing or twice.
std::map<spool::RecordKind, int64_t> Events(const fs::path& image) {
  std::map<spool::RecordKind, int64_t> events;
  StreamReader reader(image, spool::kFirstEventStream);
  reader.End();
  int64_t last_ns = 0;
  while (const StreamReader::Record* const record = reader.Peek()) {
    EXPECT_GT(record->head.time_ns, last_ns);
    last_ns = record->head.time_ns;
    ++events[record->head.kind];
    reader.Next();
  }
  reader.CheckLast(ListStreams(image)[spool::kFirstEventStream]);
  EXPECT_EQ(reader.damage(), "");
  return events;
}

/// Runs recorded_program's `steps` with a spool of the test; `look` is called in each pause.
/// Returns the images of the program and of its child.
std::vector<ImageFolder> RunSteps(int steps, const std::function<void(const fs::path&)>& look) {
  const fs::path spool = test::TestDir() / "net.sql.spool";
  const fs::path pipe = test::TestDir() / "pipe";
  EXPECT_EQ(::mkdir(spool.c_str(), 0700), 0);
  EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int input = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  test::RunOptions options;
  options.stdin_path = pipe;
  options.environment = {
      "NVTX_INJECTION64_PATH=" + test::BuildFile("lib/liboplens_record.so"),
      fmt::format("{}={}", spool::kSpoolVariable, spool.string()),
      fmt::format("{}=net.%p.sql", spool::kOutputVariable),
      fmt::format("{}=nvtx,{}", spool::kOptionsVariable, spool::kChildrenOption)};
  std::ptrdiff_t answered = 0;
  options.on_err = [&](const std::string& err) {
    for (; answered < std::count(err.begin(), err.end(), '\n'); ++answered) {
      look(spool);
      EXPECT_EQ(::write(input, "\n", 1), 1);
    }
  };
  const test::RunResult run =
      test::RunProgram(test::Recorded({"steps", std::to_string(steps)}), options);
  ::close(input);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(answered, steps - 1);
  std::vector<ImageFolder> images = ListImages(spool);
  std::sort(images.begin(), images.end(), [](const ImageFolder& a, const ImageFolder& b) {
    return Sizes(a.path).size() > Sizes(b.path).size();
  });
  return images;
}

TEST(RingProgram, ChunksGoThroughTheRingAndNothingIsLost) {
  std::vector<ChunkRings::Use> uses;
  std::unique_ptr<ChunkRings> rings;
  const std::vector<ImageFolder> images = RunSteps(4, [&](const fs::path& spool) {
    if (!rings) rings = std::make_unique<ChunkRings>(spool);
    uses.push_back(rings->Look());
  });
  // The first step has no ring, each further one fills it, then makes files.
  using Use = ChunkRings::Use;
  EXPECT_THAT(uses, ElementsAre(Use::kRings, Use::kCopied, Use::kCopied));
  ASSERT_THAT(images, SizeIs(2)) << "the program and its child";
  for (const ImageFolder& image : images) {
    EXPECT_THAT(NameRingChunks(image.path), SizeIs(0));
  }
  const int64_t steps = 4 * kRanges;
  EXPECT_EQ(Events(images[0].path)[spool::RecordKind::kPush], steps);
  EXPECT_EQ(Events(images[0].path)[spool::RecordKind::kPop], steps);
  EXPECT_EQ(Events(images[1].path)[spool::RecordKind::kPush], kRanges);
  EXPECT_EQ(Events(images[1].path)[spool::RecordKind::kPop], kRanges);
  // Twice four copies, as long as what is in them, and four that were left at the end.
  const std::multiset<uint64_t> sizes = Sizes(images[0].path);
  EXPECT_EQ(sizes.count(spool::kRingChunkBytes), 4u);
  const auto copies = std::count_if(sizes.begin(), sizes.end(), [](uint64_t size) {
    return size > spool::kRingChunkBytes / 2 && size < spool::kRingChunkBytes;
  });
  EXPECT_EQ(copies, 8);
}

// As where `record` is killed: the ring stays full.
TEST(RingProgram, WhereNobodyEmptiesItTheLibraryMakesFiles) {
  bool made = false;
  const std::vector<ImageFolder> images = RunSteps(4, [&](const fs::path& spool) {
    if (!made) ChunkRings(spool).Look();
    made = true;
  });
  ASSERT_THAT(images, SizeIs(2));
  EXPECT_THAT(NameRingChunks(images[0].path), SizeIs(0));
  EXPECT_EQ(Events(images[0].path)[spool::RecordKind::kPush], 4 * kRanges);
  EXPECT_EQ(Sizes(images[0].path).count(spool::kRingChunkBytes), 4u);
}

}  // namespace
}  // namespace oplens::record::ring_program_test
