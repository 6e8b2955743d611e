// Inputs that `parse` cannot read: one line on stderr (tool, file, what to do), exit code 1,
// nothing on stdout and nothing left under -o.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>

#include "test/e2e/e2e.h"
#include "test/support/test_files.h"

namespace oplens::test::unreadable_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// A readable profile of many pages, to be damaged.
std::string GoodBytes(const fs::path& dir) {
  SmallProfile profile;
  for (int i = 0; i < 200; ++i) profile.AnnotatedKernel("add", i + 1, fmt::format("kernel_{}", i));
  profile.builder.Write(dir / "good.sql");
  return ReadFile(dir / "good.sql");
}

// A profile after some SQL.
std::string Changed(const fs::path& dir, const std::string& sql) {
  SmallProfile().builder.Write(dir / "changed.sql");
  ExecSql(dir / "changed.sql", sql);
  return ReadFile(dir / "changed.sql");
}

// A database that was never a profile.
std::string Foreign(const fs::path& dir, const std::string& sql) {
  WriteFile(dir / "foreign.sql", "");
  ExecSql(dir / "foreign.sql", sql);
  return ReadFile(dir / "foreign.sql");
}

constexpr size_t kPageSize = 4096;

void Overwrite(size_t page, std::string* bytes) {
  const size_t begin = (page - 1) * kPageSize;
  std::fill_n(bytes->begin() + static_cast<ptrdiff_t>(begin), kPageSize, static_cast<char>(0xA5));
}

// GoodBytes with the first page of one table overwritten.
std::string WithGarbageIn(const fs::path& dir, const std::string& table) {
  std::string bytes = GoodBytes(dir);
  Overwrite(static_cast<size_t>(RootPage(dir / "good.sql", table)), &bytes);
  return bytes;
}

size_t BigEndian(const std::string& bytes, size_t at, size_t size) {
  size_t value = 0;
  for (size_t i = at; i < at + size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// GoodBytes with the second leaf of a table that has several overwritten. An interior page begins
// with 12 bytes of header, then the places of its cells; a cell begins with the number of a child
// page (https://www.sqlite.org/fileformat2.html, section 1.6).
std::string WithGarbageInSecondLeaf(const fs::path& dir, const std::string& table) {
  std::string bytes = GoodBytes(dir);
  const size_t page = (static_cast<size_t>(RootPage(dir / "good.sql", table)) - 1) * kPageSize;
  EXPECT_EQ(bytes[page], 5) << "the table has one page only";
  const size_t second_cell = BigEndian(bytes, page + 12 + 2, 2);
  Overwrite(BigEndian(bytes, page + second_cell, 4), &bytes);
  return bytes;
}

struct Case {
  const char* name;
  std::function<std::string(const fs::path&)> content;
  const char* said;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

void ExpectRefusal(const RunResult& result, const fs::path& file, const std::string& said) {
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("parse: " + file.string() + ": "));
  EXPECT_EQ(LineCount(result.err), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("; ")) << "says what to do";
  EXPECT_THAT(result.err, HasSubstr(said));
}

class Unreadable : public testing::TestWithParam<Case> {};

TEST_P(Unreadable, IsRefusedInOneLine) {
  const fs::path dir = TestDir();
  const fs::path file = dir / "net.sql";
  WriteFile(file, GetParam().content(dir));
  ExpectRefusal(RunParse({file.string()}), file, GetParam().said);
}

TEST_P(Unreadable, LeavesNoOutputFile) {
  const fs::path dir = TestDir();
  const fs::path file = dir / "net.sql";
  WriteFile(file, GetParam().content(dir));
  const fs::path out = dir / "out";
  fs::create_directory(out);
  ExpectRefusal(RunParse({"-o", (out / "net.dict").string(), file.string()}), file,
                GetParam().said);
  EXPECT_THAT(std::vector<fs::path>(fs::directory_iterator(out), {}), IsEmpty());
}

TEST_P(Unreadable, KeepsAnOlderOutputFile) {
  const fs::path dir = TestDir();
  const fs::path file = dir / "net.sql";
  WriteFile(file, GetParam().content(dir));
  WriteFile(dir / "net.dict", "older result\n");
  RunParse({"-o", (dir / "net.dict").string(), file.string()});
  EXPECT_EQ(ReadFile(dir / "net.dict"), "older result\n");
}

INSTANTIATE_TEST_SUITE_P(
    Content, Unreadable,
    testing::Values(
        Case{"ZeroBytes", [](const fs::path&) { return std::string(); }, "empty"},
        Case{"PlainText", [](const fs::path&) { return std::string(5000, 'x'); },
             "not an SQLite database"},
        Case{"XmlSession",
             [](const fs::path&) {
               return std::string(
                   "<?xml version=\"1.0\"?>\n<launchConfiguration type=\"nvvp\"/>\n");
             },
             "XML"},
        Case{"LfsPointer",
             [](const fs::path&) {
               return std::string("version https://git-lfs.github.com/spec/v1\noid sha256:") +
                      std::string(64, 'a') + "\nsize 806912\n";
             },
             "LFS"},
        Case{"GzipFile", [](const fs::path&) { return std::string("\x1f\x8b\x08\0\0\0\0\0", 8); },
             "gzip"},
        Case{"HeaderOnly", [](const fs::path& d) { return GoodBytes(d).substr(0, 100); },
             "truncated"},
        Case{"HalfAFile",
             [](const fs::path& d) {
               const std::string good = GoodBytes(d);
               return good.substr(0, good.size() / 2);
             },
             "truncated"},
        Case{"LastPageCut",
             [](const fs::path& d) {
               std::string good = GoodBytes(d);
               good.resize(good.size() - 1000);
               return good;
             },
             "truncated"},
        Case{"ZeroedPages",
             [](const fs::path& d) {
               std::string good = GoodBytes(d);
               for (size_t i = 4096; i < good.size(); ++i) good[i] = '\0';
               return good;
             },
             "malformed"},
        Case{"GarbagePages",
             [](const fs::path& d) {
               std::string good = GoodBytes(d);
               for (size_t i = 8192; i < good.size(); ++i) good[i] = static_cast<char>(0xA5);
               return good;
             },
             "malformed"},
        Case{"GarbageSchema",
             [](const fs::path& d) {
               std::string good = GoodBytes(d);
               for (size_t i = 100; i < 4096; ++i) good[i] = static_cast<char>(i * 7);
               return good;
             },
             "malformed"},
        Case{"NoStringTable",
             [](const fs::path& d) { return Changed(d, "DROP TABLE StringTable"); }, "StringTable"},
        Case{"DlprofDatabase",
             [](const fs::path& d) {
               return Foreign(
                   d, "CREATE TABLE db_version(v INTEGER); CREATE TABLE op_nodes(id INTEGER)");
             },
             "DLProf"},
        Case{"OtherDatabase",
             [](const fs::path& d) {
               return Foreign(d, "CREATE TABLE recipes(id INTEGER, t TEXT)");
             },
             "recipes"},
        Case{"GarbageInKernels",
             [](const fs::path& d) {
               return WithGarbageIn(d, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
             },
             "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"},
        Case{"GarbageInMarkers",
             [](const fs::path& d) { return WithGarbageIn(d, "CUPTI_ACTIVITY_KIND_MARKER"); },
             "CUPTI_ACTIVITY_KIND_MARKER"},
        Case{"GarbageInALeafOfMarkers",
             [](const fs::path& d) {
               return WithGarbageInSecondLeaf(d, "CUPTI_ACTIVITY_KIND_MARKER");
             },
             "table CUPTI_ACTIVITY_KIND_MARKER, row "},
        Case{"GarbageInALeafOfKernels",
             [](const fs::path& d) {
               return WithGarbageInSecondLeaf(d, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
             },
             "table CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, row "},
        Case{"GarbageInStrings", [](const fs::path& d) { return WithGarbageIn(d, "StringTable"); },
             "StringTable"}),
    [](const auto& test) { return test.param.name; });

TEST(UnreadablePath, MissingFile) {
  const fs::path file = TestDir() / "nothing.sql";
  ExpectRefusal(RunParse({file.string()}), file, "No such file");
}

TEST(UnreadablePath, Directory) {
  const fs::path dir = TestDir();
  ExpectRefusal(RunParse({dir.string()}), dir, "is a folder");
}

TEST(UnreadablePath, FileWithoutReadPermission) {
  SmallProfile profile;
  const fs::path file = profile.Write();
  fs::permissions(file, fs::perms::none);
  const RunResult result = RunParse({file.string()}, {.unprivileged = true});
  if (result.exit_code == 127) GTEST_SKIP() << "the build folder is closed to other users";
  ExpectRefusal(result, file, "ermission");
}

TEST(UnreadableDict, ProfRefusesADirectoryAndAMissingFile) {
  const fs::path dir = TestDir();
  for (const fs::path& file : {dir, dir / "nothing.dict"}) {
    const RunResult result = RunProf({file.string()});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("prof: " + file.string() + ": "));
    EXPECT_EQ(LineCount(result.err), 1) << result.err;
  }
}

}  // namespace
}  // namespace oplens::test::unreadable_test
