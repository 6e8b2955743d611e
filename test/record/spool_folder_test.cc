#include "record/spool_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "record/spool/spool_format.h"
#include "test/support/test_files.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

fs::path Output() { return test::TestDir() / "net.sql"; }

template <typename Exception, typename Action>
std::string What(Action action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// The bytes of a page that the library would write.
std::string Page(spool::ProcessState state) {
  const auto page = std::make_unique<spool::ProcessPage>();
  std::memcpy(page->magic, spool::kProcessMagic, sizeof page->magic);
  page->version = spool::kVersion;
  page->state = state;
  std::string bytes(spool::kProcessPageBytes, '\0');
  std::memcpy(bytes.data(), page.get(), sizeof *page);
  return bytes;
}

TEST(SpoolFolder, IsForItsOwnerOnly) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  EXPECT_EQ(folder.path(), Output().string() + ".spool");
  struct stat info {};
  ASSERT_EQ(::stat(folder.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST(SpoolFolder, KeepsTheSession) {
  SpoolFolder folder = SpoolFolder::Create(Output(), false);
  EXPECT_THAT(folder.ReadSession(), IsEmpty());
  const Session session = {{"command", "a=b\nc \\n \\"}, {"empty", ""}, {"version", "1"}};
  folder.WriteSession(session);
  EXPECT_EQ(folder.ReadSession(), session);
  EXPECT_FALSE(fs::exists(folder.path() / "session.part"));
}

TEST(SpoolFolder, IsNotTakenTwice) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  EXPECT_THAT(What<Error>([] { SpoolFolder::Create(Output(), true); }),
              HasSubstr("belongs to a recording that still runs"));
  EXPECT_THAT(What<Error>([] { SpoolFolder::Take(Output()); }),
              HasSubstr("belongs to a recording that still runs"));
}

TEST(SpoolFolder, OfAnInterruptedRecordingIsKept) {
  { SpoolFolder::Create(Output(), false).WriteSession({{"a", "old"}}); }
  const std::string said = What<UsageError>([] { SpoolFolder::Create(Output(), false); });
  EXPECT_THAT(said, HasSubstr("record --recover " + Output().string() + "`"));
  EXPECT_THAT(said, HasSubstr("-f"));
  EXPECT_EQ(SpoolFolder::Take(Output()).ReadSession().at("a"), "old");
}

TEST(SpoolFolder, OfAnInterruptedRecordingIsReplacedByForce) {
  { SpoolFolder::Create(Output(), false).WriteSession({{"a", "old"}}); }
  const SpoolFolder folder = SpoolFolder::Create(Output(), true);
  EXPECT_THAT(folder.ReadSession(), IsEmpty());
}

TEST(SpoolFolder, ThatIsMissingCannotBeTaken) {
  EXPECT_THAT(What<Error>([] { SpoolFolder::Take(Output()); }), HasSubstr("check the name"));
  test::WriteFile(Output(), "complete");
  EXPECT_THAT(What<Error>([] { SpoolFolder::Take(Output()); }),
              HasSubstr("the recording is complete"));
}

TEST(SpoolFolder, IsRemovedWhole) {
  SpoolFolder folder = SpoolFolder::Create(Output(), false);
  folder.AddUnseenProcess(4711, "/out.sql", "prog a");
  folder.Remove();
  EXPECT_FALSE(fs::exists(folder.path()));
}

TEST(SpoolFolder, NotesAProcessThatWasNotSeen) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  EXPECT_FALSE(folder.HasProcess(4711));
  folder.AddUnseenProcess(4711, "/out.sql", "prog " + std::string(5000, 'a'));
  EXPECT_TRUE(folder.HasProcess(4711));
  EXPECT_FALSE(folder.HasProcess(471));
  EXPECT_FALSE(folder.HasProcess(47110));
  const std::string bytes = test::ReadFile(folder.path() / "4711.0" / "process");
  ASSERT_EQ(bytes.size(), spool::kProcessPageBytes);
  const auto* page = reinterpret_cast<const spool::ProcessPage*>(bytes.data());
  EXPECT_EQ(page->process_id, 4711);
  EXPECT_EQ(page->state, spool::ProcessState::kEnded);
  EXPECT_STREQ(page->output, "/out.sql");
  EXPECT_EQ(std::strlen(page->command), sizeof page->command - 1) << "cut";
}

TEST(SpoolFolder, KnowsWhichProcessesStillWrite) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  const fs::path image = folder.path() / (std::to_string(::getpid()) + ".0");
  fs::create_directory(image);
  const fs::path file = image / "process";
  test::WriteFile(file, Page(spool::ProcessState::kRunning));
  EXPECT_THAT(folder.RunningProcesses(), IsEmpty()) << "the number is another process's by now";

  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  void* mapped =
      ::mmap(nullptr, spool::kProcessPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ::close(fd);
  EXPECT_THAT(folder.RunningProcesses(), ElementsAre(::getpid()));
  static_cast<spool::ProcessPage*>(mapped)->state = spool::ProcessState::kEnded;
  EXPECT_THAT(folder.RunningProcesses(), IsEmpty());
  ::munmap(mapped, spool::kProcessPageBytes);
}

TEST(SpoolFolder, IsNotTakenFromAProgramThatStillWrites) {
  fs::path image;
  {
    const SpoolFolder folder = SpoolFolder::Create(Output(), false);
    image = folder.path() / (std::to_string(::getpid()) + ".0");
    fs::create_directory(image);
  }
  test::WriteFile(image / "process", Page(spool::ProcessState::kRunning));
  const int fd = ::open((image / "process").c_str(), O_RDWR | O_CLOEXEC);
  void* mapped = ::mmap(nullptr, spool::kProcessPageBytes, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ::close(fd);
  EXPECT_THAT(What<Error>([] { SpoolFolder::Take(Output()); }),
              HasSubstr("process " + std::to_string(::getpid()) + " still writes into it"));
  ::munmap(mapped, spool::kProcessPageBytes);
  SpoolFolder::Take(Output());
}

TEST(SpoolFolder, SurvivesRubbish) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  for (const char* const name : {"1.", ".1", "x.0", "99999999999999.0", "-5.0", "0.0", "7"}) {
    fs::create_directory(folder.path() / name);
    test::WriteFile(folder.path() / name / "process", "short");
  }
  test::WriteFile(folder.path() / "session", "no equals\n=\n\xff=\\");
  EXPECT_THAT(folder.RunningProcesses(), IsEmpty());
  EXPECT_FALSE(folder.HasProcess(0));
  EXPECT_EQ(folder.ReadSession().at("\xff"), "\\");
}

}  // namespace
}  // namespace oplens::record
