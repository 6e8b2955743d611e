// Rows that no profiler should have written. They are kept or skipped with a counted reason; every
// good row is there and the exit code is 0.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/python_literal.h"
#include "test/support/test_files.h"

namespace oplens::test::bad_rows_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

struct Case {
  const char* name;
  std::function<void(SmallProfile*)> damage;  // Applied to three good annotated kernels.
  const char* word;                           // The reason that must be counted; "" for none.
  int64_t lines;                              // Kernels out.
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Row& KernelRow(SmallProfile* p, size_t i) { return p->builder.rows("CONCURRENT_KERNEL")[i]; }
Row& LaunchRow(SmallProfile* p, size_t i) { return p->builder.rows("RUNTIME")[i]; }
Row& MarkerRow(SmallProfile* p, size_t i) { return p->builder.rows("MARKER")[i]; }

std::function<void(SmallProfile*)> SetKernel(const char* column, Value value) {
  return [=](SmallProfile* p) { KernelRow(p, 1)[column] = value; };
}
std::function<void(SmallProfile*)> SetLaunch(const char* column, Value value) {
  return [=](SmallProfile* p) { LaunchRow(p, 1)[column] = value; };
}
std::function<void(SmallProfile*)> SetMarker(const char* column, Value value) {
  return [=](SmallProfile* p) { MarkerRow(p, 6)[column] = value; };
}

class BadRows : public testing::TestWithParam<Case> {};

TEST_P(BadRows, AreCountedAndCostNothingElse) {
  SmallProfile profile;
  for (int i = 0; i < 3; ++i) profile.AnnotatedKernel("add", i + 1, fmt::format("kernel_{}", i));
  GetParam().damage(&profile);
  const fs::path file = profile.Write({.not_null = false});
  const fs::path dict = file.parent_path() / "net.dict";

  const RunResult result = RunParse({"-o", dict.string(), file.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> lines = Lines(ReadFile(dict));
  EXPECT_EQ(static_cast<int64_t>(lines.size()), GetParam().lines) << result.err;
  if (*GetParam().word != '\0') {
    EXPECT_GE(CountedReason(result, GetParam().word), 1) << result.err;
  }

  // The two kernels that were not touched are as they would be without the damage.
  for (const int i : {0, 2}) {
    const std::string name = fmt::format("'kernel_{}'", i);
    bool found = false;
    for (const std::string& line : lines) {
      if (DictValue(line, "kLongName") != name) continue;
      found = true;
      EXPECT_EQ(DictValue(line, "seqId"), fmt::format("[{}]", i + 1));
      EXPECT_EQ(DictValue(line, "op"), "['add']");
      EXPECT_EQ(DictValue(line, "kDuration"), "1000");
    }
    EXPECT_TRUE(found) << name;
  }
  if (HavePython()) {
    EXPECT_EQ(CheckPythonDictLines(dict), "");
  }
  const RunResult csv = RunProf({"-c", "all", "--csv", dict.string()});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_GE(LineCount(csv.out), GetParam().lines + 1);
}

const Value kText = std::string("garbage");
const Value kNull = std::monostate{};

INSTANTIATE_TEST_SUITE_P(
    Kernel, BadRows,
    testing::Values(Case{"StartIsText", SetKernel("start", kText), "bad-kernel-row", 3},
                    Case{"StartIsNull", SetKernel("start", kNull), "bad-kernel-row", 3},
                    Case{"EndIsReal", SetKernel("end", 1.5e300), "bad-kernel-row", 3},
                    Case{"EndBeforeStart", SetKernel("end", int64_t{5}), "bad-times", 3},
                    Case{"StartIsSmallest", SetKernel("start", kMin), "", 3},
                    Case{"EndIsLargest", SetKernel("end", kMax), "", 3},
                    Case{"GridIsSmallest", SetKernel("gridX", kMin), "", 3},
                    Case{"GridIsBlob", SetKernel("gridX", Blob{"abc"}), "bad-kernel-row", 3},
                    Case{"BlockIsLargest", SetKernel("blockX", kMax), "", 3},
                    Case{"CorrelationIsText", SetKernel("correlationId", kText), "bad-kernel-row",
                         3},
                    Case{"CorrelationIsLargest", SetKernel("correlationId", kMax), "no-launch", 3},
                    Case{"NameIsUnknown", SetKernel("name", int64_t{987654}), "no-kernel-name", 3},
                    Case{"NameIsNegative", SetKernel("name", int64_t{-1}), "no-kernel-name", 3},
                    Case{"NameIsLargest", SetKernel("name", kMax), "no-kernel-name", 3},
                    Case{"NameIsText", SetKernel("name", kText), "no-kernel-name", 3},
                    Case{"NameIsTheNullString", SetKernel("name", int64_t{0}), "no-kernel-name", 3},
                    Case{"DeviceIsSmallest", SetKernel("deviceId", kMin), "", 3},
                    Case{"StreamIsText", SetKernel("streamId", kText), "bad-kernel-row", 3}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Launch, BadRows,
    testing::Values(
        Case{"StartIsText", SetLaunch("start", kText), "bad-launch-row", 3},
        Case{"EndIsNull", SetLaunch("end", kNull), "bad-launch-row", 3},
        Case{"EndBeforeStart", SetLaunch("end", int64_t{5}), "bad-launch-times", 3},
        Case{"ThreadIsText", SetLaunch("threadId", kText), "bad-launch-row", 3},
        Case{"ProcessIsLargest", SetLaunch("processId", kMax), "", 3},
        Case{"CorrelationIsBlob", SetLaunch("correlationId", Blob{"x"}), "bad-launch-row", 3},
        Case{"CorrelationIsLargest", SetLaunch("correlationId", kMax), "no-launch", 3},
        Case{"CbidIsUnknown", SetLaunch("cbid", int64_t{123456}), "", 3},
        Case{"CbidIsText", SetLaunch("cbid", kText), "", 3},
        Case{"TwiceTheSameId", [](SmallProfile* p) { p->builder.Add("RUNTIME", LaunchRow(p, 1)); },
             "duplicate-launch", 3}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Marker, BadRows,
    testing::Values(Case{"FlagsAreText", SetMarker("flags", kText), "bad-marker-row", 3},
                    Case{"TimestampIsNull", SetMarker("timestamp", kNull), "bad-marker-row", 3},
                    Case{"TimestampIsLargest", SetMarker("timestamp", kMax), "reversed-range", 3},
                    Case{"IdIsText", SetMarker("id", kText), "bad-marker-row", 3},
                    Case{"ObjectIsText", SetMarker("objectId", kText), "bad-marker-row", 3},
                    Case{"ObjectIsShort", SetMarker("objectId", Blob{"abc"}), "bad-marker-row", 3},
                    Case{"ObjectIsEmpty", SetMarker("objectId", Blob{}), "bad-marker-row", 3},
                    Case{"ObjectKindIsText", SetMarker("objectKind", kText), "bad-marker-row", 3},
                    Case{"NameIsUnknown", SetMarker("name", int64_t{987654}), "bad-marker-row", 3},
                    Case{"NameIsReal", SetMarker("name", 2.5), "bad-marker-row", 3},
                    Case{"EndWithoutStart",
                         [](SmallProfile* p) {
                           Row row = MarkerRow(p, 0);
                           row["flags"] = int64_t{4};
                           row["id"] = int64_t{777777};
                           p->builder.Add("MARKER", row);
                         },
                         "unmatched-end", 3},
                    Case{"StartTwice",
                         [](SmallProfile* p) {
                           auto& rows = p->builder.rows("MARKER");
                           rows.insert(rows.begin() + 7, Row(rows[6]));
                         },
                         "duplicate-range", 3},
                    Case{"StartAgainAfterItsEnd",
                         [](SmallProfile* p) { p->builder.Add("MARKER", MarkerRow(p, 6)); },
                         "open-range", 3}),
    [](const auto& test) { return test.param.name; });

// The text of the op range of the second kernel.
std::function<void(SmallProfile*)> SetText(std::string text) {
  return [text](SmallProfile* p) {
    p->builder.AddString(500000, text);
    MarkerRow(p, 7)["name"] = int64_t{500000};
  };
}

INSTANTIATE_TEST_SUITE_P(
    Text, BadRows,
    testing::Values(
        Case{"Unfinished", SetText("{'mod': 'torch', 'op': 'add', 'args': ["), "bad-marker-text",
             3},
        Case{"NoLiteral", SetText("{mod: __import__('os').abort()}"), "bad-marker-text", 3},
        Case{"DeepNesting",
             SetText(std::string("{'mod': 'torch', 'op': 'add', 'args': ") +
                     std::string(100000, '[')),
             "bad-marker-text", 3},
        Case{"NulBytes", SetText(std::string("a\0b\0c", 5)), "", 3},
        Case{"NotUtf8", SetText("\xff\xfe\xc0\x80 \xed\xa0\x80"), "", 3},
        Case{"ControlBytes", SetText("line\nbreak\ttab\r\x1b[31m 'quote\" \\ back"), "", 3},
        Case{"Megabyte", SetText(std::string(1 << 20, 'x')), "", 3},
        Case{"MegabyteOfQuotes", SetText(std::string(1 << 20, '\'')), "", 3},
        Case{"HugeSequenceNumber", SetText("add, seq = 99999999999999999999999999"), "", 3},
        Case{"NegativeSequenceNumber", SetText("add, seq = -9223372036854775808"), "", 3},
        Case{"Empty", SetText(""), "", 3}),
    [](const auto& test) { return test.param.name; });

// The name of the second kernel.
std::function<void(SmallProfile*)> SetName(std::string text) {
  return [text](SmallProfile* p) {
    p->builder.AddString(500000, text);
    KernelRow(p, 1)["name"] = int64_t{500000};
  };
}

INSTANTIATE_TEST_SUITE_P(
    Name, BadRows,
    testing::Values(Case{"Empty", SetName(""), "", 3},
                    Case{"BadMangling", SetName("_ZN2at6native99999999999999999999E"), "", 3},
                    Case{"DeepMangling",
                         SetName(std::string("_Z1f") + std::string(50000, 'P') + "i"), "", 3},
                    Case{"Megabyte", SetName(std::string(1 << 20, 'k')), "", 3},
                    Case{"OpenBrackets",
                         SetName(std::string("kernel<<<<((((") + std::string(1000, '<')), "", 3},
                    Case{"NulByte", SetName(std::string("ker\0nel", 7)), "", 3},
                    Case{"Quotes", SetName("a'b\"c\\d\ne"), "", 3}),
    [](const auto& test) { return test.param.name; });

TEST(BadStrings, RowsOfOtherTypesAreSkipped) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 1, "kernel");
  profile.builder.AddString(600000, Blob{"blob"});
  profile.builder.AddString(kMax, std::string("the last id"));
  profile.builder.AddString(-5, std::string("a negative id"));
  const fs::path file = profile.Write();
  EXPECT_EQ(RunParse({file.string()}).exit_code, 0);
  EXPECT_EQ(Records(file).size(), 1u);
}

TEST(BadTimes, AreLeftOutOfTheDuration) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 1, "kernel");
  Row& row = profile.builder.rows("CONCURRENT_KERNEL")[0];
  row["start"] = kMin;
  row["end"] = kMax;
  const auto records = Records(profile.Write());
  ASSERT_EQ(records.size(), 1u);
  const int64_t duration = records[0]["kDuration"];
  EXPECT_GE(duration, 0) << "the difference does not fit and must not wrap";
}

TEST(Strict, ExitsWithThreeOnlyForDamage) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 1, "kernel_0");
  profile.thread.Launch({.name = "without annotation"});
  EXPECT_EQ(RunParse({"--strict", profile.Write().string()}).exit_code, 0);

  profile.builder.rows("MARKER")[0]["flags"] = std::string("garbage");
  const fs::path file = profile.Write();
  const RunResult strict = RunParse({"--strict", file.string()});
  EXPECT_EQ(strict.exit_code, 3);
  EXPECT_EQ(strict.out, RunParse({file.string()}).out) << "the result is there all the same";
}

// The other half: lines that `prof` should not have been given.
TEST(HostileDict, GoodLinesAreThereAndBadOnesCounted) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 1, "kernel_0");
  const std::string good = RunParse({profile.Write().string()}).out;
  const std::vector<std::string> bad = {
      "not a dict",
      "{'kShortName': __import__('os').abort()}",
      std::string("{") + std::string(100000, '['),
      "{'kShortName': 'a'",
      std::string("\0\0\0", 3),
      "{}",
      "[1, 2]",
      "{'kShortName': 'k', 'kDuration': 99999999999999999999999999}",
      "\xff\xfe",
      std::string(1 << 20, '{'),
      "  File \"prof.py\", line 1",
  };
  std::string text = good;
  for (const std::string& line : bad) text += line + "\n" + good;
  const fs::path dict = TestDir() / "hostile.dict";
  WriteFile(dict, text);

  const RunResult result = RunProf({"-c", "kernel,op,sil", "--csv", dict.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(CountedReason(result, "bad-line"), static_cast<int64_t>(bad.size())) << result.err;
  EXPECT_EQ(LineCount(result.out), 1 + 1 + static_cast<int64_t>(bad.size()));
}

TEST(HostileDict, LastLineWithoutNewlineIsRead) {
  SmallProfile profile;
  profile.AnnotatedKernel("add", 1, "kernel_0");
  std::string text = RunParse({profile.Write().string()}).out;
  text.pop_back();
  const fs::path dict = TestDir() / "net.dict";
  WriteFile(dict, text);
  EXPECT_EQ(LineCount(RunProf({"--csv", dict.string()}).out), 2);
}

TEST(EmptyDict, GivesTheHeaderOnly) {
  const RunResult result = RunProf({"--csv", "-c", "kernel,sil"}, {.stdin_path = "/dev/null"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(LineCount(result.out), 1);
}

}  // namespace
}  // namespace oplens::test::bad_rows_test
