#include "base/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "test/support/test_files.h"

namespace oplens::output_test {
namespace {

namespace fs = std::filesystem;
using test::ReadFile;
using test::TestDir;
using test::WriteFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> NamesIn(const fs::path& dir) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(dir)) names.push_back(entry.path().filename());
  return names;
}

/// The message of the Error that `action` throws, "" if it throws none.
template <typename Action>
std::string ErrorOf(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Output, AppearsWholeAtCommit) {
  const fs::path dir = TestDir();
  const fs::path file = dir / "out";
  Output output(file);
  output.Write("one\n");
  output.buffer()->append("two\n");
  EXPECT_FALSE(fs::exists(file));
  output.Commit();
  EXPECT_EQ(ReadFile(file), "one\ntwo\n");
  EXPECT_THAT(NamesIn(dir), ElementsAre("out"));
}

std::string Unpacked(const std::string& bytes, Packing packing) {
  std::string text;
  boost::iostreams::filtering_ostream stream;
  if (packing == Packing::kGzip) {
    stream.push(boost::iostreams::gzip_decompressor());
  } else {
    stream.push(boost::iostreams::zstd_decompressor());
  }
  stream.push(boost::iostreams::back_inserter(text));
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.reset();
  return text;
}

TEST(Output, PacksWholeOrNotAtAll) {
  const fs::path dir = TestDir();
  const fs::path file = dir / "out";
  std::string content;
  for (int i = 0; i < 200000; ++i) content += std::to_string(i * 7919);
  for (const Packing packing : {Packing::kGzip, Packing::kZstd}) {
    {
      Output unfinished(file, packing);
      unfinished.Write(content);
    }
    EXPECT_THAT(NamesIn(dir), IsEmpty());
    Output output(file, packing);
    for (size_t at = 0; at < content.size(); at += 100000) {
      output.Write(std::string_view(content).substr(at, 100000));
    }
    output.Commit();
    const std::string packed = ReadFile(file);
    EXPECT_LT(packed.size(), content.size() * 3 / 4);
    EXPECT_EQ(Unpacked(packed, packing), content);
    fs::remove(file);
  }
}

TEST(Output, AnEmptyPackedFileIsAPackedFile) {
  const fs::path file = TestDir() / "out";
  for (const Packing packing : {Packing::kGzip, Packing::kZstd}) {
    Output output(file, packing);
    output.Commit();
    const std::string packed = ReadFile(file);
    EXPECT_FALSE(packed.empty());
    EXPECT_EQ(Unpacked(packed, packing), "");
  }
}

TEST(PackingOf, GoesByTheEndOfTheName) {
  EXPECT_EQ(PackingOf("a.json.gz"), Packing::kGzip);
  EXPECT_EQ(PackingOf("a.zst"), Packing::kZstd);
  EXPECT_EQ(PackingOf("a.gz.json"), Packing::kNone);
  EXPECT_EQ(PackingOf(""), Packing::kNone);
}

TEST(Output, LeavesNothingWithoutCommit) {
  const fs::path dir = TestDir();
  {
    Output output(dir / "out");
    output.Write(std::string(3 * Output::kFlushBytes, 'x'));
  }
  EXPECT_THAT(NamesIn(dir), IsEmpty());
}

TEST(Output, LeavesAnOldFileAloneWithoutCommit) {
  const fs::path dir = TestDir();
  WriteFile(dir / "out", "old");
  {
    Output output(dir / "out");
    output.Write(std::string(3 * Output::kFlushBytes, 'x'));
    EXPECT_EQ(ReadFile(dir / "out"), "old");
  }
  EXPECT_EQ(ReadFile(dir / "out"), "old");
  EXPECT_THAT(NamesIn(dir), ElementsAre("out"));
}

TEST(Output, ReplacesAnOldFileAndKeepsItsPermissions) {
  const fs::path dir = TestDir();
  const fs::path file = dir / "out";
  WriteFile(file, "a longer old content");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  Output output(file);
  output.Write("new");
  output.Commit();
  EXPECT_EQ(ReadFile(file), "new");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(Output, FollowsLinks) {
  const fs::path dir = TestDir();
  WriteFile(dir / "target", "old");
  fs::create_symlink("target", dir / "link");
  Output output(dir / "link");
  output.Write("new");
  output.Commit();
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_EQ(ReadFile(dir / "target"), "new");
}

TEST(Output, KeepsTheOrderOfLargeWrites) {
  const fs::path file = TestDir() / "out";
  std::string expected;
  Output output(file);
  for (int i = 0; i < 200000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    expected += line;
    if (i % 2 == 0) {
      output.Write(line);
    } else {
      output.buffer()->append(line);
      output.FlushIfLarge();
    }
  }
  output.Commit();
  EXPECT_TRUE(ReadFile(file) == expected);
}

TEST(Output, ReportsAFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const std::string at_commit = ErrorOf([] {
    Output output("/dev/full");
    output.Write("x");
    output.Commit();
  });
  EXPECT_THAT(at_commit, HasSubstr("/dev/full: cannot be written: No space left on device"));
  EXPECT_THAT(at_commit, HasSubstr("; free some space"));
  const std::string at_write = ErrorOf([] {
    Output output("/dev/full");
    output.Write(std::string(Output::kFlushBytes, 'x'));
  });
  EXPECT_EQ(at_write, at_commit);
}

TEST(Output, WritesDevicesInPlace) {
  Output output("/dev/null");
  output.Write("x");
  EXPECT_NO_THROW(output.Commit());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Output, RefusesPlacesThatCannotBeWritten) {
  const fs::path dir = TestDir();
  EXPECT_THAT(ErrorOf([&] { Output output(dir); }), HasSubstr("Is a directory"));
  const std::string missing = ErrorOf([&] { Output output(dir / "no" / "out"); });
  EXPECT_THAT(missing, HasSubstr((dir / "no" / "out").string()));
  EXPECT_THAT(missing, HasSubstr("No such file or directory"));
  EXPECT_THAT(missing, HasSubstr("; choose a place"));
  EXPECT_THAT(NamesIn(dir), IsEmpty());
}

TEST(Output, EndsWithAClosedPipe) {
  const fs::path pipe = TestDir() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  {
    Output output(pipe);
    ::close(reader);
    output.Write("x");
    EXPECT_THROW(output.Commit(), ClosedPipe);
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
  std::signal(SIGPIPE, old_handler);
}

TEST(Output, WritesToStandardOutput) {
  for (const char* path : {"", "-"}) {
    testing::internal::CaptureStdout();
    {
      Output output(path);
      output.Write("seen\n");
      output.Commit();
    }
    // It must stay open for others.
    std::puts("still open");
    std::fflush(stdout);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "seen\nstill open\n");
  }
}

}  // namespace
}  // namespace oplens::output_test
