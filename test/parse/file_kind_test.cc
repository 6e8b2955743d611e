#include "parse/source/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace oplens::parse::file_kind_test {
namespace {

using testing::HasSubstr;

TEST(FileKindTest, IsToldByTheFirstBytes) {
  const std::pair<std::string_view, FileKind> cases[] = {
      {"SQLite format 3\0rest", FileKind::kDatabase},
      {"\x1f\x8b\x08", FileKind::kGzip},
      {"\x28\xb5\x2f\xfd", FileKind::kZstd},
      {"PK\x03\x04", FileKind::kZip},
      {"\x80\x02}", FileKind::kPickle},
      {{"NVR\0x", 5}, FileKind::kNcuReport},
      {"\x8foplens\n\1", FileKind::kSummary},
      {"{\"kShortName\": \"k\"}", FileKind::kJsonRecords},
      {"\n{ \"schema\": 1, \"idx\"", FileKind::kJsonRows},
      {"{\n \"schema\": \"1.0.2-chakra.0.0.4\", \"pid\"", FileKind::kExecutionTrace},
      {"{\"schemaVersion\": 1", FileKind::kJsonObject},
      {"\x80\x05\x95", FileKind::kPickle},
      {"version https://git-lfs.github.com/spec/v1", FileKind::kGitLfsPointer},
      {"<?xml version", FileKind::kXmlSession},
      {"<html>", FileKind::kMarkup},
      {"{'kShortName': ", FileKind::kRecords},
      {"{\"traceEvents\"", FileKind::kJsonObject},
      {"[{}]", FileKind::kJsonList},
      {"\"Idx\",", FileKind::kQuotedTable},
      {"SQLite", FileKind::kUnknown},
      {" {\"", FileKind::kJsonObject},
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
}

TEST(FileKindTest, ATarArchiveIsToldByItsFirstHeader) {
  std::string header(512, '\0');
  header.replace(257, 5, "ustar");
  EXPECT_EQ(KindOfBytes(header), FileKind::kTar);
  EXPECT_EQ(KindOfBytes(header.substr(0, 260)), FileKind::kUnknown);
}

TEST(FileKindTest, ProfilesAreWhatParseReads) {
  EXPECT_TRUE(IsProfileContent("SQLite format 3"));
  EXPECT_TRUE(IsProfileContent("{\"traceEvents\": []}"));
  EXPECT_TRUE(IsProfileContent(" ["));
  for (const char* text : {"{'kShortName': 'k'}", "{\"kShortName\": \"k\"}", "{\"schema\": 1}", "",
                           "\x1f\x8b", "text"}) {
    EXPECT_FALSE(IsProfileContent(text)) << text;
  }
}

TEST(FileKindTest, WordsNameWhatReadsTheFile) {
  EXPECT_THAT(std::string(ForeignWords(FileKind::kNsysReport).advice),
              HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(std::string(ForeignWords(FileKind::kJsonRecords).advice), HasSubstr("prof"));
  EXPECT_EQ(ForeignWords(FileKind::kUnknown).problem, "");
  EXPECT_EQ(ForeignWords(FileKind::kDatabase).problem, "");
}

}  // namespace
}  // namespace oplens::parse::file_kind_test
