#include "parse/source/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "test/support/test_files.h"

namespace oplens::parse {
namespace {

using testing::HasSubstr;

TEST(FileKindTest, IsToldByTheFirstBytes) {
  const std::pair<std::string_view, FileKind> cases[] = {
      {"SQLite format 3\0rest", FileKind::kDatabase},
      {"\x1f\x8b\x08", FileKind::kGzip},
      {"\x28\xb5\x2f\xfd", FileKind::kZstd},
      {"PK\x03\x04", FileKind::kZip},
      {"\x80\x02}", FileKind::kOldPickle},
      {"\x80\x05\x95", FileKind::kPickle},
      {"version https://git-lfs.github.com/spec/v1", FileKind::kGitLfsPointer},
      {"<?xml version", FileKind::kXmlSession},
      {"<html>", FileKind::kMarkup},
      {"{'kShortName': ", FileKind::kRecords},
      {"{\"traceEvents\"", FileKind::kJsonObject},
      {"[{}]", FileKind::kJsonList},
      {"\"Idx\",", FileKind::kQuotedTable},
      {"SQLite", FileKind::kUnknown},
      {" {\"", FileKind::kUnknown},
      {"", FileKind::kUnknown},
  };
  for (const auto& [head, kind] : cases) EXPECT_EQ(KindOfBytes(head), kind) << head;
}

TEST(FileKindTest, ReportsAreToldByTheirNames) {
  EXPECT_EQ(KindOfName("a/run.nsys-rep"), FileKind::kNsysReport);
  EXPECT_EQ(KindOfName("run.qdrep"), FileKind::kNsysReport);
  EXPECT_EQ(KindOfName("run.qdstrm"), FileKind::kNsysRecording);
  EXPECT_EQ(KindOfName("run.sqlite"), FileKind::kUnknown);
  EXPECT_TRUE(HasProfileName("rank0.json.gz"));
  EXPECT_FALSE(HasProfileName("notes.txt"));
  EXPECT_FALSE(HasProfileName(".json"));
}

TEST(FileKindTest, JsonMayStandBehindBlanksAndAMark) {
  for (const char* text :
       {"[1]", "{\"a\": 1}", " \n{ \"a\": 1}", "{}", "{", "\xEF\xBB\xBF{\"a\""}) {
    EXPECT_TRUE(IsJson(text)) << text;
  }
  for (const char* text : {"", "{'a': 1}", "{a}", "text", "\"a\""})
    EXPECT_FALSE(IsJson(text)) << text;
  EXPECT_TRUE(IsJsonLines("\n{\"kShortName\": 1}"));
  EXPECT_TRUE(IsJsonLines("{\"schema\": 1}"));
  EXPECT_FALSE(IsJsonLines("{\"schemaVersion\": 1}"));
}

TEST(FileKindTest, ProfilesAreWhatParseKnows) {
  const auto file = [](const std::string& name, const std::string& content) {
    const std::string path = (test::TestDir() / name).string();
    test::WriteFile(path, content);
    return path;
  };
  EXPECT_TRUE(IsProfile(file("a", "SQLite format 3")));
  EXPECT_TRUE(IsProfile(file("b", "{\"traceEvents\": []}")));
  EXPECT_TRUE(IsProfile(file("c", "\x1f\x8b")));
  EXPECT_TRUE(IsProfile(file("d.nsys-rep", "anything")));
  EXPECT_FALSE(IsProfile(file("e", "{'kShortName': 'k'}")));
  EXPECT_FALSE(IsProfile(file("f", "{\"kShortName\": \"k\"}")));
  EXPECT_FALSE(IsProfile(file("g", "")));
  EXPECT_FALSE(IsProfile("-"));
  EXPECT_FALSE(IsProfile((test::TestDir() / "absent").string()));
  EXPECT_FALSE(IsProfile(test::TestDir().string()));
}

TEST(FileKindTest, EachSideHasItsOwnWords) {
  EXPECT_THAT(std::string(NoDatabase(FileKind::kZip).problem), HasSubstr("not a database"));
  EXPECT_THAT(std::string(NoRecords(FileKind::kDatabase).advice), HasSubstr("parse FILE | prof"));
  EXPECT_EQ(NoDatabase(FileKind::kUnknown).problem, "");
  EXPECT_EQ(NoDatabase(FileKind::kDatabase).problem, "");
  EXPECT_EQ(NoRecords(FileKind::kRecords).problem, "");
}

}  // namespace
}  // namespace oplens::parse
