// What prof prints on a terminal, and that pipes and files get something else.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "prof/table/display_width.h"
#include "test/e2e/e2e.h"
#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test::terminal_test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const std::string kDemo = SourceDir() + "/examples/data/demo.sql";
constexpr const char* kEscape = "\x1b";

/// prof on a terminal of so many columns, where COLUMNS and LINES say nothing.
RunResult OnTerminal(int columns, std::vector<std::string> arguments,
                     std::vector<std::string> environment = {"NO_COLOR=1"}) {
  environment.insert(environment.end(), {"COLUMNS", "LINES", "TERM=xterm"});
  arguments.insert(arguments.begin(), "--quiet");
  RunOptions options;
  options.terminal_columns = columns;
  options.environment = std::move(environment);
  return RunProf(arguments, options);
}

std::vector<size_t> LineWidths(const std::string& text) {
  std::vector<size_t> widths;
  for (const std::string& line : Lines(text)) widths.push_back(prof::DisplayWidth(line));
  return widths;
}

struct Table {
  const char* name;
  std::vector<std::string> arguments;
};
void PrintTo(const Table& table, std::ostream* out) { *out << table.name; }

class TerminalTable : public testing::TestWithParam<Table> {};

TEST_P(TerminalTable, FitsEveryTerminal) {
  std::vector<std::string> arguments = GetParam().arguments;
  arguments.push_back(kDemo);
  std::string narrower;
  for (const int columns : {30, 80, 300}) {
    const RunResult result = OnTerminal(columns, arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(LineWidths(result.out), Each(testing::Le(static_cast<size_t>(columns))))
        << result.out;
    EXPECT_THAT(result.out, Not(HasSubstr(kEscape)));
    EXPECT_GE(Lines(result.out).size(), 2u);
    // At most 40 rows, a header, and what is left out.
    const size_t asides = columns == 30 ? 40 : 8;
    EXPECT_LE(Lines(result.out).size(), 41 + asides) << result.out;
    EXPECT_NE(result.out, narrower);
    narrower = result.out;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TerminalTable,
                         testing::Values(Table{"Kernels", {}}, Table{"AllColumns", {"-c", "all"}},
                                         Table{"Groups", {"--by", "layer,op"}},
                                         Table{"Overview", {"--view", "overview"}},
                                         Table{"Operators", {"--view", "operators"}},
                                         Table{"Modules", {"--view", "modules"}},
                                         Table{"Roofline", {"--view", "roofline"}},
                                         Table{"Launches",
                                               {"--view", "launches", "--by", "kernel"}}),
                         [](const auto& test) { return test.param.name; });

TEST(Terminal, ShowsFortyRowsAndHowToGetTheOthers) {
  const int64_t kernels = LineCount(RunProf({"--quiet", kDemo}).out) - 1;
  ASSERT_GT(kernels, 40);
  const RunResult shown = OnTerminal(200, {kDemo});
  EXPECT_THAT(Lines(shown.out), SizeIs(42));
  EXPECT_THAT(shown.out, HasSubstr(fmt::format(
                             "\n{} more rows: --top N shows N, -w 200 | less -S or -o FILE all\n",
                             kernels - 40)));
  const std::string by_grid =
      OnTerminal(200, {"--by", "kernel,grid,step", "--top", "45", kDemo}).out;
  EXPECT_THAT(by_grid, Not(HasSubstr("--top N"))) << "--top says how many are wanted";
}

TEST(Terminal, KeepsWhatIsAskedForAndWhatAViewIsReadFor) {
  const RunResult roofline = OnTerminal(60, {"--view", "roofline", "--by", "layer", kDemo});
  const std::string header = Lines(roofline.out).at(0);
  EXPECT_THAT(header, HasSubstr("Layer"));
  EXPECT_THAT(header, HasSubstr("Gap(ns)"));
  EXPECT_THAT(header, Not(HasSubstr("GPU")));
}

TEST(Terminal, HasColoursUnlessTheyAreUnwanted) {
  const RunResult coloured = OnTerminal(80, {kDemo}, {"NO_COLOR"});
  EXPECT_THAT(coloured.out, StartsWith("\x1b[1m"));
  EXPECT_THAT(OnTerminal(80, {kDemo}, {"NO_COLOR=1"}).out, Not(HasSubstr(kEscape)));
  RunOptions dumb;
  dumb.terminal_columns = 80;
  dumb.environment = {"NO_COLOR", "TERM=dumb"};
  EXPECT_THAT(RunProf({"--quiet", kDemo}, dumb).out, Not(HasSubstr(kEscape)));
}

// Whoever names a format, a file or "-" gets what a pipe gets.
TEST(Terminal, AFormatIsTheSameAsInAPipe) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--csv"},
                                                    {"--json"},
                                                    {"-w", "100"},
                                                    {"-w", "40"},
                                                    {"-o", "-"},
                                                    {"-o", "-", "--by", "op"},
                                                    {"--csv", "--view", "overview"}}) {
    std::vector<std::string> quiet = arguments;
    quiet.insert(quiet.end(), {"--quiet", kDemo});
    std::vector<std::string> on_terminal = arguments;
    on_terminal.push_back(kDemo);
    EXPECT_EQ(OnTerminal(60, on_terminal, {"NO_COLOR"}).out, RunProf(quiet).out);
  }
  const std::filesystem::path file = TestDir() / "rows.txt";
  EXPECT_EQ(OnTerminal(60, {"-o", file.string(), kDemo}).out, "");
  EXPECT_EQ(ReadFile(file), RunProf({"--quiet", kDemo}).out);
}

TEST(Terminal, ColumnsOfTheEnvironmentCount) {
  const RunResult wide = OnTerminal(300, {kDemo}, {"NO_COLOR=1"});
  RunOptions options;
  options.terminal_columns = 300;
  options.environment = {"NO_COLOR=1", "TERM=xterm", "COLUMNS=50", "LINES"};
  const RunResult narrow = RunProf({"--quiet", kDemo}, options);
  EXPECT_NE(narrow.out, wide.out);
  EXPECT_THAT(LineWidths(narrow.out), Each(testing::Le(50u)));
}

// -w on a pipe below what its columns need.
TEST(NarrowTable, ColumnsGiveWayAndAreNamed) {
  const RunResult view = RunProf({"--view", "collectives", "-w", "80", kDemo});
  EXPECT_EQ(view.exit_code, 0);
  EXPECT_THAT(view.err, HasSubstr("-w 80 has no room for the columns "));
  EXPECT_THAT(LineWidths(view.out), Each(testing::Le(80u)));
  const RunResult summary = RunProf({"--by", "op,mod", "-w", "30", kDemo});
  EXPECT_EQ(summary.exit_code, 0);
  EXPECT_THAT(summary.out, StartsWith("Op "));
  EXPECT_THAT(summary.err, HasSubstr("-w 30 has no room for the columns "));
  EXPECT_EQ(RunProf({"--by", "op,mod", "-w", "30", "--quiet", kDemo}).err, "");
}

// Names of kernels that are no C++, of every alphabet, or no UTF-8 at all.
class Names : public testing::Test {
 protected:
  static constexpr const char* kWide = "\u6838\u51fd\u6570 \"a,b\" \U0001f600";
  Names() {
    SmallProfile profile;
    profile.AnnotatedKernel("relu", 1, kWide);
    profile.AnnotatedKernel("relu", 2, "bad\xff\xc3(int)");
    path_ = profile.Write();
  }
  std::filesystem::path path_;
};

TEST_F(Names, AreWholeInEveryFormat) {
  const std::string csv =
      RunProf({"--csv", "--header", "keys", "-c", "kernel,name_full", "--quiet", path_.string()})
          .out;
  EXPECT_EQ(csv,
            "\"kernel\",\"name_full\"\n"
            "\"\u6838\u51fd\u6570_\"\"a,b\"\"_\U0001f600\",\"\u6838\u51fd\u6570 \"\"a,b\"\" "
            "\U0001f600\"\n"
            "\"bad\ufffd\ufffd\",\"bad\ufffd\ufffd(int)\"\n");
  const auto rows = ProfRows(path_, {"-c", "kernel,name_full"});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0]["kernel"], kWide);
  EXPECT_EQ(rows[0]["name_full"], kWide);
  EXPECT_EQ(rows[1]["kernel"], "bad\ufffd\ufffd");
  EXPECT_EQ(Records(path_)[0]["kShortName"], kWide);
  EXPECT_EQ(RunProf({"-c", "kernel", "--quiet", path_.string()}).out,
            "Kernel\n\u6838\u51fd\u6570_\"a,b\"_\U0001f600\nbad\ufffd\ufffd\n");
}

// What a name holds does not reach a terminal; elsewhere its bytes are those of the file if asked
// for.
TEST(Terminal, NamesCannotChangeIt) {
  const std::string evil = "k\x1b]0;t\x07\r\n\u202e\u009bm";
  SmallProfile profile;
  profile.AnnotatedKernel("relu", 1, evil);
  const std::string path = profile.Write();
  for (const std::vector<std::string>& format :
       {std::vector<std::string>{}, {"--csv"}, {"--csv", "-o", "-"}, {"-w", "60"}}) {
    std::vector<std::string> arguments = format;
    arguments.insert(arguments.end(), {"-c", "name_full", path});
    EXPECT_THAT(OnTerminal(80, arguments).out, HasSubstr("k_]0;t_____m"));
  }
  EXPECT_EQ(RunProf({"--quiet", "--csv", "-c", "name_full", path}).out,
            "\"FullName\"\n\"k_]0;t_\r\n\u202e_m\"\n");
  EXPECT_EQ(RunProf({"--quiet", "--csv", "--cells", "exact", "-c", "name_full", path}).out,
            "\"FullName\"\n\"" + evil + "\"\n");
}

TEST(Terminal, NamesOfFilesForgeNoLines) {
  const std::filesystem::path dir = TestDir() / "d\nprof: all is well\x1b[1m\u202e";
  std::filesystem::create_directories(dir);
  std::filesystem::copy_file(kDemo, dir / "a.sql");
  WriteFile(dir / "b.sql", "CREATE");
  WriteFile(dir / "c\x1b.json", "[]");
  const std::string a = dir / "a.sql";
  const std::string b = dir / "b.sql";
  const std::vector<std::vector<std::string>> lines = {
      {"parse", a},
      {"parse", "--check", a},
      {"parse", "-o", a, a},
      {"parse", "-v", dir.string()},
      {"prof", b},
      {"prof", "-o", a, a},
      {"prof", "-v", dir.string()},
      {"prof", "-v", "--view", "overview", dir.string()},
      {"prof", "--rules", a, a},
      {"report", "-o", a, a},
      {"report", "-o", dir / "page.html", a},
      {"oplens", dir.string()},
      {"oplens", b},
      {"oplens", dir / "none"},
  };
  for (const std::vector<std::string>& line : lines) {
    std::vector<std::string> command = line;
    command.front() = Program(line.front());
    const RunResult result = RunProgram(command);
    for (const std::string& text : {result.out, result.err}) {
      EXPECT_THAT(text, Not(HasSubstr("\nprof: all is well"))) << line[0] << line[1];
      EXPECT_THAT(text, Not(HasSubstr(kEscape))) << line[0] << line[1];
      EXPECT_THAT(text, Not(HasSubstr("\u202e"))) << line[0] << line[1];
    }
    EXPECT_THAT(result.out + result.err, Not(testing::IsEmpty()));
  }
}

TEST_F(Names, StandInColumnsOnATerminal) {
  EXPECT_EQ(OnTerminal(80, {"-c", "kernel,op", path_.string()}).out,
            "Kernel          Op\n"
            "\u6838\u51fd\u6570_\"a,b\"_\U0001f600 relu\n"
            "bad\ufffd\ufffd           relu\n");
}

}  // namespace
}  // namespace oplens::test::terminal_test
