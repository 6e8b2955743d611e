// Wrong command lines: exit code 2, nothing on stdout, a line that says what to type.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test::usage_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

struct Case {
  const char* name;
  const char* program;
  std::vector<std::string> arguments;
  const char* said;  // What the message names.
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Usage : public testing::TestWithParam<Case> {};

TEST_P(Usage, ExitsWithTwoAndSaysWhatToType) {
  std::vector<std::string> command = GetParam().arguments;
  command.insert(command.begin(), Program(GetParam().program));
  const RunResult result = RunProgram(command);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith(std::string(GetParam().program) + ": "));
  EXPECT_THAT(result.err, HasSubstr(GetParam().said));
}

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";

INSTANTIATE_TEST_SUITE_P(
    Parse, Usage,
    testing::Values(
        Case{"NoFile", "parse", {}, "FILE... | FOLDER"},
        Case{"CheckWithFormat", "parse", {"--check", "--format", "jsonl", kDemo}, "--format"},
        Case{"UnknownOption", "parse", {"--frobnicate", kDemo}, "frobnicate"},
        Case{"UnknownFormat", "parse", {"--format", "xml", kDemo}, "chrome"},
        Case{"NearFormat", "parse", {"--format", "json", kDemo}, "'json': jsonl?"},
        Case{"ExecutionTraceWithoutName",
             "parse",
             {"--execution-trace", "", kDemo},
             "--execution-trace"},
        Case{"OutputWithoutName", "parse", {kDemo, "-o"}, "missing an argument"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Prof, Usage,
    testing::Values(
        Case{"UnknownOption", "prof", {"--frobnicate"}, "frobnicate"},
        Case{"UnknownColumn", "prof", {"-c", "kernel,colour", "/dev/null"}, "colour"},
        Case{"NarrowTable", "prof", {"-w", "9", "-c", "all", "/dev/null"}, "the least is -w 10"},
        Case{"WidthIsNoNumber", "prof", {"-w", "wide", "/dev/null"}, "wide"},
        Case{"ExecutionTraceWithoutName",
             "prof",
             {"--execution-trace", "", kDemo},
             "--execution-trace"},
        Case{"ExecutionTraceOfRecords", "prof", {"--execution-trace", "x", "/dev/null"}, "parse"},
        Case{"MarkdownAndCsv", "prof", {"--markdown", "--csv", "/dev/null"}, "--markdown"},
        Case{"CheckAsCsv", "prof", {"--check", "--csv", "/dev/null"}, "--check"},
        Case{"PictureOfKernels", "prof", {"--svg", "/dev/null"}, "--svg needs --view stacks"},
        Case{"PictureOfSums", "prof", {"--view", "idle", "--svg", "/dev/null"}, "--view stacks"},
        Case{"CsvAndJson", "prof", {"--csv", "--json", "/dev/null"}, "--json"},
        Case{"UnknownKey", "prof", {"--by", "op,colour", "/dev/null"}, "colour"},
        Case{"KeyTwice", "prof", {"--by", "op,op", "/dev/null"}, "twice"},
        Case{"UnknownOrder",
             "prof",
             {"--by", "op", "--sort", "dir", "/dev/null"},
             "columns are op,count"},
        Case{"UnknownFigure",
             "prof",
             {"--by", "op", "-c", "op,colour", "/dev/null"},
             "columns are op,count"},
        Case{"NearOption", "prof", {"--qiet", "/dev/null"}, "does not exist: --quiet?; prof -h"},
        Case{"NearColumn", "prof", {"-c", "idx,tim", "/dev/null"}, "no column 'tim': time?"},
        Case{"MeaningOfAColumn",
             "prof",
             {"-c", "module", "/dev/null"},
             "no column 'module': layer or mod?"},
        Case{"NearFigure", "prof", {"--by", "op", "-c", "op,sil", "/dev/null"}, "'sil': total?"},
        Case{"NearView", "prof", {"--view", "overviw", "/dev/null"}, "'overviw': overview?"},
        Case{"MeaningOfAView", "prof", {"--view", "nccl", "/dev/null"}, "collectives or"},
        Case{"NearKey", "prof", {"--by", "kernal", "/dev/null"}, "'kernal': kernel?"},
        Case{"MeaningOfAKey", "prof", {"--by", "module", "/dev/null"}, "layer or mod?"},
        Case{"NearKeyOfAView",
             "prof",
             {"--view", "operators", "--by", "phas", "/dev/null"},
             "'phas': phase?"},
        Case{"NearOrder", "prof", {"--by", "op", "--sort", "-totl", "/dev/null"}, "'totl': total?"},
        Case{"NearOrderOfAView",
             "prof",
             {"--view", "operators", "--sort", "cals", "/dev/null"},
             "'cals': calls?"},
        Case{"NearChoice",
             "prof",
             {"--op", "iner", "/dev/null"},
             "--op: there is no choice 'iner': inner?"},
        Case{"NearRules",
             "prof",
             {"--view", "overview", "--compat", "tensorboard", "/dev/null"},
             "'tensorboard': tb?"},
        Case{"HeaderWithoutCsv", "prof", {"--header", "keys", "/dev/null"}, "--csv"},
        Case{"CellsWithoutCsv", "prof", {"--cells", "exact", "/dev/null"}, "--csv"},
        Case{"NearCells", "prof", {"--csv", "--cells", "exakt", "/dev/null"}, "'exakt': exact?"},
        Case{"NearHeader", "prof", {"--csv", "--header", "key", "/dev/null"}, "'key': keys?"},
        Case{"TopOfNothing", "prof", {"--by", "op", "--top", "0", "/dev/null"}, "--top"},
        Case{"TopIsNoNumber", "prof", {"--by", "op", "--top", "x", "/dev/null"}, "x"},
        Case{"SortWithoutBy", "prof", {"--sort", "total", "/dev/null"}, "columns are idx,"},
        Case{"TopOfACheck", "prof", {"--check", "--top", "3", "/dev/null"}, "--top"},
        Case{"CopiesBy",
             "prof",
             {"--copies", "--by", "op", "/dev/null"},
             "keys are rank,kind,src,dst"},
        Case{"FormOfAKey", "prof", {"--by", "layer:x", "/dev/null"}, "layer:N"},
        Case{"FormOfANumber", "prof", {"--by", "step:label", "/dev/null"}, "no text"},
        Case{"PatternOfAKey", "prof", {"--by", "layer~(", "/dev/null"}, "no pattern"},
        Case{"EmptyWhere", "prof", {"--where", " ", "/dev/null"}, "empty"},
        Case{"WhereOfSeveralViews",
             "prof",
             {"--view", "all", "--json", "--where", "sil>1", kDemo},
             "--where"},
        Case{"ByOfAViewWithoutKeys",
             "prof",
             {"--view", "overview", "--by", "step", kDemo},
             "rows of overview"},
        Case{"DeviceBelowZero", "prof", {"--view", "gpu", "--device=-1", kDemo}, "from 0"},
        Case{"CopiesRange", "prof", {"--copies", "--range", "x", kDemo}, "--range"},
        Case{"BadRange", "prof", {"--range", "x(", "/dev/null"}, "--range"},
        Case{"BadStep", "prof", {"--step", "[z-a]", "/dev/null"}, "--step"},
        Case{"UnknownOpChoice", "prof", {"--op", "middle", "/dev/null"}, "outer"},
        Case{"StdinAndAFile", "prof", {"-", "/dev/null"}, "standard input"}),
    [](const auto& test) { return test.param.name; });

TEST(Help, ProgramsDescribeThemselves) {
  for (const char* program : {"parse", "prof", "record", "report"}) {
    const RunResult help = RunProgram({Program(program), "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_THAT(help.out, HasSubstr(program));
    const RunResult version = RunProgram({Program(program), "--version"});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_THAT(version.out, HasSubstr("0.1.0"));
  }
}

// The keys that `prof -h` lists: first words of the indented lines after "Columns".
std::vector<std::string> ListedColumns() {
  std::vector<std::string> keys;
  bool in_list = false;
  for (const std::string& line : Lines(RunProf({"-h"}).out)) {
    if (in_list && line.rfind("  ", 0) != 0) break;
    // What goes on in a further line begins further to the right.
    if (in_list && line[2] != ' ') keys.push_back(line.substr(2, line.find(' ', 2) - 2));
    in_list = in_list || line.rfind("Columns", 0) == 0;
  }
  return keys;
}

// PyProf's columns; the others are checked by their documentation below.
TEST(Help, ProfListsPyProfsColumns) {
  const std::vector<std::string> keys = ListedColumns();
  for (const char* key : {"idx",    "seq",    "altseq", "tid",    "layer",  "trace", "dir",
                          "sub",    "mod",    "op",     "kernel", "params", "sil",   "tc",
                          "device", "stream", "grid",   "block",  "flops",  "bytes"}) {
    EXPECT_THAT(keys, Contains(key));
  }
}

TEST(Help, EveryColumnHasItsRowInTheDocumentation) {
  const std::string page = ReadFile(SourceDir() + "/docs/columns.md");
  for (const std::string& key : ListedColumns()) {
    EXPECT_THAT(page, HasSubstr("\n| `" + key + "` |"));
  }
}

}  // namespace
}  // namespace oplens::test::usage_test
