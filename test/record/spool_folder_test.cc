#include "record/spool_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "record/spool/spool_format.h"
#include "test/support/spool_builder.h"
#include "test/support/test_files.h"

namespace oplens::record::spool_folder_test {
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

/// A folder of a process with the page that the library would write.
fs::path MakeImage(const SpoolFolder& folder, spool::ProcessState state,
                   const ProcessIdentity& identity) {
  return test::MakeSpoolImage(folder.path(), identity.process_id, Output(),
                              [&](spool::ProcessPage* page) {
                                page->state = state;
                                page->pid_namespace = identity.pid_namespace;
                                page->start_ticks = identity.start_ticks;
                              }) /
         "process";
}

/// A process that is of another container and of no number here.
ProcessIdentity Elsewhere() { return {4711, 1, 1}; }

TEST(SpoolFolder, IsForItsOwnerOnly) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  EXPECT_EQ(folder.path(), Output().string() + ".spool");
  struct stat info {};
  ASSERT_EQ(::stat(folder.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST(SpoolFolder, IsNotTakenTwice) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  EXPECT_THAT(What<Error>([] { SpoolFolder::Create(Output(), true); }),
              HasSubstr("belongs to a recording that still runs"));
  EXPECT_THAT(What<Error>([] { SpoolFolder::Take(SpoolFolder::PathFor(Output())); }),
              HasSubstr("belongs to a recording that still runs"));
}

TEST(SpoolFolder, OfAnInterruptedRecordingIsKept) {
  { MakeImage(SpoolFolder::Create(Output(), false), spool::ProcessState::kEnded, Elsewhere()); }
  const std::string said = What<UsageError>([] { SpoolFolder::Create(Output(), false); });
  EXPECT_THAT(said, HasSubstr("record --recover " + Output().string() + "`"));
  EXPECT_THAT(said, HasSubstr("-f would discard it"));
  EXPECT_TRUE(SpoolFolder::Take(SpoolFolder::PathFor(Output())).HasProcesses());
}

TEST(SpoolFolder, OfTheUserIsLeftAlone) {
  const fs::path folder = SpoolFolder::PathFor(Output());
  fs::create_directories(folder);
  test::WriteFile(folder / "mail", "precious");
  for (const bool force : {false, true}) {
    EXPECT_THAT(What<UsageError>([&] { SpoolFolder::Create(Output(), force); }),
                HasSubstr("is no recording: it holds mail"));
  }
  EXPECT_THAT(test::FilesIn(folder), ElementsAre("mail"));
}

// What somebody puts in the place of a spool is not removed with it.
TEST(SpoolFolder, RemovesWhatItMade) {
  const fs::path folder = SpoolFolder::PathFor(Output());
  const fs::path other = test::TestDir() / "other";
  fs::create_directories(other / "12.0");
  test::WriteFile(other / "session", "precious");
  SpoolFolder spool = SpoolFolder::Create(Output(), false);
  test::WriteFile(folder / "session", "");
  fs::rename(folder, test::TestDir() / "moved");
  fs::create_directory_symlink(other, folder);
  spool.Remove();
  EXPECT_THAT(test::FilesIn(other), ElementsAre("12.0", "session"));
  EXPECT_TRUE(fs::is_symlink(folder));
  EXPECT_THAT(test::FilesIn(test::TestDir() / "moved"), IsEmpty());
}

TEST(SpoolFolder, OfAnInterruptedRecordingIsReplacedByForce) {
  { MakeImage(SpoolFolder::Create(Output(), false), spool::ProcessState::kEnded, Elsewhere()); }
  EXPECT_FALSE(SpoolFolder::Create(Output(), true).HasProcesses());
}

TEST(SpoolFolder, ThatIsALinkIsLeftAlone) {
  const fs::path target = test::TestDir() / "somewhere";
  fs::create_directory(target);
  test::WriteFile(target / "file", "mine");
  fs::create_directory_symlink(target, SpoolFolder::PathFor(Output()));
  for (const bool force : {false, true}) {
    EXPECT_THAT(What<Error>([force] { SpoolFolder::Create(Output(), force); }),
                HasSubstr("is there and no folder; choose another name"));
  }
  EXPECT_THAT(What<Error>([] { SpoolFolder::Take(SpoolFolder::PathFor(Output())); }),
              HasSubstr("is there and no folder"));
  EXPECT_EQ(test::ReadFile(target / "file"), "mine");
  EXPECT_FALSE(fs::exists(target / "lock"));
}

TEST(SpoolFolder, OfAnotherUserIsLeftAlone) {
  const fs::path path = SpoolFolder::PathFor(Output());
  fs::create_directory(path);
  constexpr uid_t kAnother = 12'345;
  if (::chown(path.c_str(), kAnother, kAnother) != 0) GTEST_SKIP() << "only root gives files away";
  for (const bool force : {false, true}) {
    EXPECT_THAT(What<Error>([force] { SpoolFolder::Create(Output(), force); }),
                HasSubstr("belongs to another user, number 12345"));
  }
  EXPECT_THAT(What<Error>([&] { SpoolFolder::Take(path); }), HasSubstr("another user"));
  EXPECT_TRUE(fs::is_empty(path));
}

TEST(SpoolFolder, IsRemovedWhole) {
  SpoolFolder folder = SpoolFolder::Create(Output(), false);
  folder.AddUnseenProcess(Elsewhere(), "/out.sql", "prog a");
  folder.Remove();
  EXPECT_FALSE(fs::exists(folder.path()));
}

TEST(SpoolFolder, NotesAProcessThatWasNotSeen) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  EXPECT_FALSE(folder.HasProcess(Elsewhere()));
  folder.AddUnseenProcess(Elsewhere(), "/out.sql", "prog " + std::string(5000, 'a'));
  EXPECT_TRUE(folder.HasProcess(Elsewhere()));
  EXPECT_FALSE(folder.HasProcess({471, 1, 1}));
  EXPECT_FALSE(folder.HasProcess({4711, 2, 1})) << "in another namespace";
  EXPECT_FALSE(folder.HasProcess({4711, 1, 2})) << "at another time";
  const std::string bytes = test::ReadFile(folder.path() / "4711.0" / "process");
  ASSERT_EQ(bytes.size(), spool::kProcessPageBytes);
  const auto* page = reinterpret_cast<const spool::ProcessPage*>(bytes.data());
  EXPECT_EQ(page->process_id, 4711);
  EXPECT_EQ(page->state, spool::ProcessState::kEnded);
  EXPECT_STREQ(page->output, "/out.sql");
  EXPECT_EQ(std::strlen(page->command), sizeof page->command - 1) << "cut";
}

TEST(SpoolFolder, KnowsWhichProcessesStillRun) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  ProcessIdentity later = OwnIdentity();
  ++later.start_ticks;
  MakeImage(folder, spool::ProcessState::kRunning, later);
  EXPECT_THAT(folder.RunningProcesses(), IsEmpty()) << "the number is another process's by now";
  MakeImage(folder, spool::ProcessState::kRunning, OwnIdentity());
  EXPECT_THAT(folder.RunningProcesses(), ElementsAre(OwnIdentity()));
  MakeImage(folder, spool::ProcessState::kEnded, OwnIdentity());
  EXPECT_THAT(folder.RunningProcesses(), IsEmpty());
  // A program that has not come to its first range.
  Session session = {{"version", "2"}};
  SetProgram(OwnIdentity(), &session);
  WriteSession(folder.path(), session);
  EXPECT_THAT(folder.RunningProcesses(), ElementsAre(OwnIdentity()));
}

TEST(SpoolFolder, SurvivesRubbish) {
  const SpoolFolder folder = SpoolFolder::Create(Output(), false);
  for (const char* const name : {"1.", ".1", "x.0", "99999999999999.0", "-5.0", "0.0", "7"}) {
    fs::create_directory(folder.path() / name);
    test::WriteFile(folder.path() / name / "process", "short");
  }
  test::WriteFile(folder.path() / "session", "program=x y z\nend\n");
  EXPECT_THAT(folder.RunningProcesses(), IsEmpty());
  EXPECT_FALSE(folder.HasProcesses());
}

TEST(RecordSession, IsReadAsItWasWritten) {
  const fs::path folder = test::TestDir();
  EXPECT_THAT(ReadSession(folder), IsEmpty());
  const Session session = {
      {"command", "a=b\nc \\n \\"}, {"empty", ""}, {"program", "7 1 1"}, {"version", "1"}};
  WriteSession(folder, session);
  EXPECT_EQ(ReadSession(folder), session);
  const Session other = {{"program", "7"}, {"version", "2"}};
  WriteSession(folder, other);
  EXPECT_EQ(ReadSession(folder), other);
  EXPECT_THAT(test::FilesIn(folder), ElementsAre("session"));
}

TEST(RecordSession, ThatIsNotWholeIsNone) {
  const fs::path spool = test::TestDir();
  for (const Session& part : {Session{{"version", "2"}}, Session{{"program", "7"}},
                              Session{{"program", "x"}, {"version", "2"}}}) {
    WriteSession(spool, part);
    EXPECT_THAT(ReadSession(spool), IsEmpty());
  }
  const fs::path file = test::TestDir() / "session";
  const Session session = {{"a", "1"}, {"program", "7"}, {"version", "2"}};
  WriteSession(test::TestDir(), session);
  EXPECT_EQ(ReadSession(test::TestDir()), session);
  const std::string whole = test::ReadFile(file);
  for (size_t size = 0; size + 1 < whole.size(); ++size) {
    test::WriteFile(file, whole.substr(0, size));
    EXPECT_THAT(ReadSession(test::TestDir()), IsEmpty()) << size;
  }
  test::WriteFile(file, std::string(whole.size(), '\0'));
  EXPECT_THAT(ReadSession(test::TestDir()), IsEmpty());
}

}  // namespace
}  // namespace oplens::record::spool_folder_test
