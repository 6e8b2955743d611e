// Summaries of runs as files: docs/summary_format.md.

#include "prof/summary_file/summary_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "test/support/program.h"
#include "test/support/test_files.h"
#include "test/support/view_rows.h"

namespace oplens::test::summary_file_test {
namespace {

using prof::Section;
using prof::SummaryFile;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";
const std::string kGolden = SourceDir() + "/test/golden/summary/";

SummaryFile Made() {
  SummaryFile summary;
  summary.writer = "9.8.7";
  summary.facts = {{"gpu", "H100"}, {"ranks", "2"}};
  summary.sections = {{"overview", {}, "oplens", false, 1, std::string("a\0b", 3)},
                      {"groups", {"op", "step"}, "oplens", true, 1, ""}};
  summary.calls = std::string("\1\0\0\0", 4);
  return summary;
}

std::string ErrorOf(std::string_view bytes) {
  try {
    prof::ParseSummary(bytes, "x.baseline");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void ExpectSame(const SummaryFile& read, const SummaryFile& made) {
  EXPECT_EQ(read.writer, made.writer);
  EXPECT_EQ(read.facts, made.facts);
  ASSERT_EQ(read.sections.size(), made.sections.size());
  for (size_t i = 0; i < made.sections.size(); ++i) {
    EXPECT_EQ(read.sections[i].view, made.sections[i].view);
    EXPECT_EQ(read.sections[i].by, made.sections[i].by);
    EXPECT_EQ(read.sections[i].rules, made.sections[i].rules);
    EXPECT_EQ(read.sections[i].copies, made.sections[i].copies);
    EXPECT_EQ(read.sections[i].form, made.sections[i].form);
    EXPECT_EQ(read.sections[i].bytes, made.sections[i].bytes);
  }
  EXPECT_EQ(read.calls, made.calls);
}

/// With the checksum that the other bytes have.
std::string Signed(std::string bytes) {
  uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), 12);
  sum = crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()) + 16, bytes.size() - 16);
  for (size_t i = 0; i < 4; ++i) bytes[12 + i] = static_cast<char>(sum >> (8 * i) & 0xFF);
  return bytes;
}

TEST(SummaryFileTest, WhatIsReadIsWhatWasWritten) {
  const std::string path = TestDir() / "x.baseline";
  prof::WriteSummary(path, Made());
  EXPECT_TRUE(prof::IsSummary(path));
  ExpectSame(prof::ReadSummary(path), Made());
  EXPECT_EQ(ReadFile(path), prof::SummaryBytes(Made())) << "the same each time";
}

TEST(SummaryFileTest, TheHeadIsAsDocumented) {
  const std::string bytes = prof::SummaryBytes(Made());
  EXPECT_THAT(bytes, StartsWith(std::string("\x8foplens\n\1\0\0\0", 12)));
  EXPECT_EQ(Signed(bytes), bytes);
  EXPECT_EQ(bytes.substr(24, 4), "\x28\xb5\x2f\xfd");
}

TEST(SummaryFileTest, EveryByteCounts) {
  const std::string bytes = prof::SummaryBytes(Made());
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_NE(ErrorOf(std::string_view(bytes).substr(0, cut)), "") << cut;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int bit : {1, 16}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      EXPECT_NE(ErrorOf(changed), "") << at;
    }
  }
  EXPECT_NE(ErrorOf(bytes + "x"), "");
}

TEST(SummaryFileTest, OfBodiesThatAreDamagedErrorsAreAllThatComes) {
  // The checksum fits, what is packed does not.
  std::string bytes = prof::SummaryBytes(Made());
  for (size_t at = 24; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    ErrorOf(Signed(changed));
    ErrorOf(Signed(bytes.substr(0, at)));
  }
}

TEST(SummaryFileTest, ALaterFormIsSaidToBeOne) {
  std::string bytes = prof::SummaryBytes(Made());
  bytes[8] = 2;
  EXPECT_EQ(ErrorOf(Signed(bytes)),
            "x.baseline: is of form 2, of a later oplens: this one reads up to form 1; read it "
            "with that oplens, or save it again with this one");
}

TEST(SummaryFileTest, SizesThatAreNotTrueAreRefused) {
  std::string bytes = prof::SummaryBytes(Made());
  bytes[16] = static_cast<char>(bytes[16] - 1);
  EXPECT_THAT(ErrorOf(Signed(bytes)), HasSubstr("another size"));
  bytes[16] = static_cast<char>(bytes[16] + 2);
  EXPECT_THAT(ErrorOf(Signed(bytes)), HasSubstr("another size"));
  bytes[20] = 1;  // 4 GiB more.
  EXPECT_THAT(ErrorOf(Signed(bytes)), HasSubstr("larger than such files can be"));
}

TEST(SummaryFileTest, OtherFilesAreRefused) {
  EXPECT_EQ(ErrorOf("SQLite format 3"),
            "x.baseline: is no summary of oplens; give a file that prof --summary or "
            "--save-baseline wrote");
  EXPECT_FALSE(prof::IsSummary(kDemo));
  EXPECT_FALSE(prof::IsSummary("/nowhere"));
  EXPECT_FALSE(prof::IsSummary(TestDir()));
  EXPECT_THROW(prof::ReadSummary("/nowhere"), Error);
}

TEST(SummaryFileTest, CallsOfOtherVersionsAreRefused) {
  const auto error_of = [](std::string_view bytes) {
    try {
      prof::LoadCalls(bytes, "x.baseline");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of(""), "");
  EXPECT_EQ(error_of(Made().calls), "");
  EXPECT_EQ(error_of("\7"),
            "x.baseline: its calls of collectives were saved in form 7, this oplens reads form 1; "
            "save it again with this one");
  EXPECT_THAT(error_of("\1\1"), StartsWith("x.baseline: calls of collectives, byte "));
}

TEST(SummaryFileTest, SectionsOfOtherVersionsAreRefused) {
  const auto error_of = [](const Section& section) {
    try {
      prof::LoadPartial(section, "x.baseline");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Section section = Made().sections[0];
  section.form = 7;
  EXPECT_EQ(error_of(section),
            "x.baseline: the view overview was saved in form 7, this oplens reads form 4; save it "
            "again with this one");
  section.form = 4;
  EXPECT_THAT(error_of(section), StartsWith("x.baseline: view overview, byte "));
  section.view = "tomorrow";
  EXPECT_THAT(error_of(section), HasSubstr("there is no view tomorrow here"));
  section = {"operators", {"nonsense"}, "oplens", false, 1, ""};
  EXPECT_THAT(error_of(section), EndsWith("save it again"));
  section = {"overview", {}, "tb", false, 1, ""};
  EXPECT_THAT(error_of(section), HasSubstr("another version"));
}

/// The rows below a line `head` of a golden file: lines with "=".
std::string RowsBelow(std::string_view head, const std::string& golden) {
  std::istringstream lines(golden);
  std::string rows;
  bool below = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_row = line.find('=') != std::string::npos;
    if (!is_row) below = line == head;
    if (is_row && below) rows += line + "\n";
  }
  return rows;
}

/// A file of each form that ever was, made by the oplens that wrote it of examples/data/demo.sql,
/// or of four ranks of bench/ranks/make_ranks.py, and its rows. What changed since says so.
TEST(SummaryFileTest, OlderFilesAreReadOrSayWhatToDo) {
  for (const std::string& name : FilesIn(kGolden)) {
    if (!name.ends_with(".baseline")) continue;
    SCOPED_TRACE(name);
    const SummaryFile summary = prof::ReadSummary(kGolden + name);
    const bool ranks = name.starts_with("ranks");
    EXPECT_EQ(summary.facts.at("ranks"), ranks ? "4" : "1");
    const std::string path = kGolden + name.substr(0, name.find('.')) + ".rows";
    const std::string golden = ReadFile(path);
    std::string rows;
    for (const Section& section : summary.sections) {
      // The others are in the files of one rank.
      if (ranks && section.view != "culprits" && section.view != "stragglers") continue;
      std::string head = section.view;
      for (const std::string& word : section.by) head += " " + word;
      rows += head + "\n";
      try {
        const auto partial = prof::LoadPartial(section, name);
        GiveCalls(prof::LoadCalls(summary.calls, name), partial.get());
        for (const ViewRow& row : RowsOf(*partial)) {
          for (const auto& [key, value] : row) rows += key + "=" + value + " ";
          rows += "\n";
        }
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("save it again with this one"));
        rows += RowsBelow(head, golden);  // Of the form of that time.
      }
    }
    if (std::getenv("OPLENS_UPDATE_GOLDENS") != nullptr) WriteFile(path, rows);
    EXPECT_EQ(rows, ReadFile(path));
  }
}

RunResult Prof(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Program("prof"));
  return RunProgram(arguments);
}

TEST(SaveBaselineTest, ViewsOfASummaryAreThoseOfTheTrace) {
  const std::string file = TestDir() / "demo.baseline";
  const RunResult saved = Prof({"--save-baseline", file, kDemo});
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_EQ(saved.out, "");
  for (const Section& section : prof::ReadSummary(file).sections) {
    SCOPED_TRACE(section.view + " " + std::to_string(section.by.size()));
    std::vector<std::string> command = {"--json", "--view", section.view};
    if (!section.by.empty()) {
      std::string by;
      for (const std::string& word : section.by) by += (by.empty() ? "" : ",") + word;
      command.insert(command.end(), {"--by", by});
    }
    std::vector<std::string> of_trace = command;
    of_trace.push_back(kDemo);
    command.push_back(file);
    const RunResult shown = Prof(command);
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(shown.out, Prof(of_trace).out);
  }
}

TEST(SaveBaselineTest, OptionsThatSayWhatIsShownGoWithSummaries) {
  const std::string file = TestDir() / "demo.baseline";
  ASSERT_EQ(Prof({"--save-baseline", file, "--view", "groups,overview,stacks", "--by", "op", kDemo})
                .exit_code,
            0);
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--view", "groups", "--by", "op", "--top", "2"},
           {"--view", "groups", "--by", "op", "--sort", "-count", "--csv"},
           {"--view", "groups", "--by", "op", "--where", "count > 1", "-w", "120"},
           {"--view", "groups", "--by", "op,rank,step"},
           {"--view", "overview", "-c", "step,total_ns"},
           {"--view", "stacks"}}) {
    std::vector<std::string> of_trace = options;
    of_trace.push_back(kDemo);
    std::vector<std::string> of_summary = options;
    of_summary.push_back(file);
    const RunResult shown = Prof(of_summary);
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(shown.out, Prof(of_trace).out) << options[1];
  }
}

/// Runs prof, which must end with one line on standard error.
std::string OneLine(std::vector<std::string> arguments, int exit_code) {
  const RunResult result = Prof(std::move(arguments));
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  return result.err;
}

TEST(SaveBaselineTest, WhatIsNotThereNeedsTheTrace) {
  const std::string file = TestDir() / "demo.baseline";
  ASSERT_EQ(Prof({"--save-baseline", file, "--view", "overview,operators", kDemo}).exit_code, 0);
  EXPECT_THAT(OneLine({"--view", "gpu", file}, 1),
              HasSubstr("does not hold the view gpu; it needs the trace"));
  EXPECT_THAT(OneLine({"--view", "operators", "--by", "layer", file}, 1),
              HasSubstr("does not hold the view operators --by layer; it needs the trace"));
  EXPECT_THAT(OneLine({"--view", "operators", "--compat", "tb", file}, 1),
              HasSubstr("it needs the trace"));
  EXPECT_THAT(OneLine({"--view", "kernels", file}, 1), HasSubstr("it needs the trace"));
  EXPECT_THAT(OneLine({"--view", "overview", "--device", "0", file}, 2),
              HasSubstr("it needs the trace"));
  EXPECT_THAT(OneLine({"--view", "overview", file, kDemo}, 1), HasSubstr("is no summary"));
  EXPECT_THAT(OneLine({file}, 1), HasSubstr("is a summary that prof --save-baseline wrote"));
  EXPECT_THAT(OneLine({"--save-baseline", file, "--view", "kernels", kDemo}, 2),
              HasSubstr("the view kernels cannot be saved: it needs the trace"));
  EXPECT_THAT(OneLine({"--save-baseline", file, "--json", kDemo}, 2),
              HasSubstr("does not go with --json"));
  EXPECT_THAT(OneLine({"--save-baseline", kDemo, kDemo}, 2), HasSubstr("--save-baseline"));
}

TEST(SaveBaselineTest, ADamagedFileIsOneLine) {
  const std::string file = TestDir() / "demo.baseline";
  ASSERT_EQ(Prof({"--save-baseline", file, "--view", "overview", kDemo}).exit_code, 0);
  std::string bytes = ReadFile(file);
  WriteFile(file, bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(OneLine({"--view", "overview", file}, 1), HasSubstr("is cut or was changed"));
}

TEST(SaveBaselineTest, NamesOfFilesAreNotKept) {
  const std::string first = TestDir() / "secrethost_1.sql";
  const std::string second = TestDir() / "secrethost_2.sql";
  std::filesystem::copy_file(kDemo, first);
  std::filesystem::copy_file(kDemo, second);
  const std::string file = TestDir() / "demo.baseline";
  ASSERT_EQ(Prof({"--save-baseline", file, first, second}).exit_code, 0);
  const SummaryFile summary = prof::ReadSummary(file);
  EXPECT_EQ(summary.facts.at("ranks"), "2");
  for (const Section& section : summary.sections) {
    EXPECT_THAT(section.bytes, Not(HasSubstr("secrethost"))) << section.view;
  }
  EXPECT_THAT(summary.calls, Not(HasSubstr("secrethost")));
  EXPECT_THAT(Prof({"--view", "overview", "--blank", file}).out, HasSubstr("\ninput_2 0 "));
}

}  // namespace
}  // namespace oplens::test::summary_file_test
