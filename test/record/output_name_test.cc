#include "record/spool/output_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace oplens::record::output_name_test {
namespace {

std::string HostName() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

struct Expansion {
  std::string name;
  NameFault fault;
};

Expansion Expand(const std::string& pattern, int32_t pid = 4711) {
  std::array<char, 1024> out{};
  Expansion result;
  const size_t size = ExpandOutputName(pattern.c_str(), pid, out.data(), out.size(), &result.fault);
  result.name.assign(out.data());
  EXPECT_EQ(result.name.size(), size);
  return result;
}

TEST(OutputName, LeavesPlainNamesAlone) {
  EXPECT_EQ(Expand("/a b/net.sql").name, "/a b/net.sql");
  EXPECT_EQ(Expand("").name, "");
}

TEST(OutputName, ReplacesProcessHostAndPercent) {
  EXPECT_EQ(Expand("net.%p.sql").name, "net.4711.sql");
  EXPECT_EQ(Expand("%p%p").name, "47114711");
  EXPECT_EQ(Expand("%p", std::numeric_limits<int32_t>::max()).name, "2147483647");
  EXPECT_EQ(Expand("%p", 0).name, "0");
  EXPECT_EQ(Expand("%h").name, HostName());
  EXPECT_EQ(Expand("100%%p").name, "100%p");
}

TEST(OutputName, ReplacesVariables) {
  ::setenv("OPLENS_TEST_RANK", "3", 1);
  ::setenv("OPLENS_TEST_RANK_OF_NODE", "5", 1);
  ::setenv("OPLENS_TEST_EMPTY", "", 1);
  const Expansion expansion = Expand("r%q{OPLENS_TEST_RANK}.%q{OPLENS_TEST_EMPTY}sql");
  EXPECT_EQ(expansion.name, "r3.sql");
  EXPECT_EQ(expansion.fault.problem, NameProblem::kNone);
  ::unsetenv("OPLENS_TEST_RANK");
  EXPECT_EQ(Expand("r%q{OPLENS_TEST_RANK}").name, "r") << "not the longer name";
}

struct FaultCase {
  const char* pattern;
  NameProblem problem;
  size_t begin;
  size_t size;
  const char* name;
};

TEST(OutputName, SaysWhichSequenceIsWrong) {
  ::unsetenv("OPLENS_TEST_UNSET");
  const FaultCase cases[] = {
      {"net.%x.sql", NameProblem::kUnknownSequence, 4, 2, "net.%x.sql"},
      {"net%", NameProblem::kUnknownSequence, 3, 1, "net%"},
      {"net%qA", NameProblem::kUnclosed, 3, 2, "net%qA"},
      {"net%q", NameProblem::kUnclosed, 3, 2, "net%q"},
      {"net%q{A", NameProblem::kUnclosed, 3, 4, "net%q{A"},
      {"net%q{}", NameProblem::kUnclosed, 3, 4, "net%q{}"},
      {"%p%q{OPLENS_TEST_UNSET}%x", NameProblem::kUnsetVariable, 2, 21, "4711%x"},
  };
  for (const FaultCase& c : cases) {
    const Expansion expansion = Expand(c.pattern);
    EXPECT_EQ(expansion.fault.problem, c.problem) << c.pattern;
    EXPECT_EQ(expansion.fault.begin, c.begin) << c.pattern;
    EXPECT_EQ(expansion.fault.size, c.size) << c.pattern;
    EXPECT_EQ(expansion.name, c.name);
  }
}

TEST(OutputName, NeverWritesBeyondTheBuffer) {
  const std::string_view name = "net.4711.sql";
  for (size_t size = 0; size <= name.size() + 1; ++size) {
    std::array<char, 32> out{};
    out.fill('#');
    NameFault fault;
    const size_t length = ExpandOutputName("net.%p.sql", 4711, out.data(), size, &fault);
    const bool fits = size > name.size();
    EXPECT_EQ(length, fits ? name.size() : 0) << size;
    EXPECT_EQ(fault.problem, fits ? NameProblem::kNone : NameProblem::kTooLong) << size;
    if (size > 0) {
      EXPECT_EQ(std::string_view(out.data()), fits ? name : "") << size;
    }
    for (size_t i = size; i < out.size(); ++i) EXPECT_EQ(out[i], '#') << size;
  }
}

TEST(OutputName, KnowsWhichNamesItMayHave) {
  struct Case {
    const char* pattern;
    const char* name;
    bool matches;
  };
  const Case cases[] = {
      {"net.sql", "net.sql", true},
      {"net.sql", "net.sq", false},
      {"net.sq", "net.sql", false},
      {"net.%p.sql", "net.4711.sql", true},
      {"net.%p.sql", "net.4712.sql", false},
      {"net.%p.sql", "net.47110.sql", false},
      {"%p%p", "47114711", true},
      {"100%%", "100%", true},
      {"100%%", "100%%", false},
      {"%h.%p.sql", "node7.4711.sql", true},
      {"%h.%p.sql", "node7.47.4711.sql", true},
      {"%h.%p.sql", "../x.4711.sql", false},
      {"r%q{RANK}.sql", "r.sql", true},
      {"r%q{RANK}.sql", "r3.sql.sql", true},
      {"r%q{RANK}.sql", "r3.sqlite", false},
      {"%h%q{A}%h", "", true},
      {"%h%q{A}%hx", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaay", false},
      {"%x", "%x", true},
      {"", "", true},
      {"", "a", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(MatchesOutputName(c.pattern, 4711, c.name), c.matches) << c.pattern << ' ' << c.name;
  }
  EXPECT_TRUE(HasSequences("a%%b"));
  EXPECT_FALSE(HasSequences("a%xb"));
}

TEST(OutputName, KnowsWhetherItNamesTheProcess) {
  EXPECT_TRUE(NamesProcess("net.%p.sql"));
  EXPECT_TRUE(NamesProcess("%h%p"));
  EXPECT_FALSE(NamesProcess("net.sql"));
  EXPECT_FALSE(NamesProcess("net%%p"));
  EXPECT_FALSE(NamesProcess("net%q{p%p}"));
}

}  // namespace
}  // namespace oplens::record::output_name_test
