#include "prof/gate/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "test/gate/made_diff.h"
#include "test/support/test_files.h"

namespace oplens::prof::expression_test {
namespace {

using test::MadeScopes;
using testing::HasSubstr;

GateExpression Read(std::string_view text) { return ParseGateExpression(text, MadeScopes()); }

std::string ErrorOf(std::string_view text) {
  try {
    Read(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(GateExpressionTest, ReadsInFull) {
  const struct {
    std::string_view text;
    std::string_view canonical;
  } kCases[] = {
      {"total>+5%", "total>+5%"},
      {" total  >=  12.5ms ", "total>=12500000"},
      {"total<-1s", "total<-1000000000"},
      {"layer(decoder.*)>+2ms", "operators.layer(decoder.*).device_self_ns>+2000000"},
      {"op(mm).tc_self_pct<90", "operators.op(mm).tc_self_pct<90"},
      {"op(mm).tc_self<90%", "operators.op(mm).tc_self_pct<90"},
      {"layer(a).op(b|c).calls>+0", "operators.layer(a).op(b|c).calls>+0"},
      {"operators.op(mm)>+1", "operators.op(mm).device_self_ns>+1"},
      {"memory.peak>+0", "memory.peak_bytes>+0"},
      {"memory.peak>2GiB", "memory.peak_bytes>2147483648"},
      {"overview(comm_ns)>+10%", "overview.comm_ns>+10%"},
      {"overview.comm<=-10%", "overview.comm_ns<=-10%"},
      {"gpu.busy_pct<60", "gpu.busy_pct<60"},
      {"critical_path.cause(sync)>+1us", "critical-path.cause(sync).time_ns>+1000"},
      {"critical-path>+1", "critical-path.time_ns>+1"},
      {"any op(.*)>+10%", "any operators.op(.*).device_self_ns>+10%"},
      {"rank(0).busy_pct<5", "gpu.rank(0).busy_pct<5"},
      {"op(unknown)>1", "operators.op(unknown).device_self_ns>1"},
      {"op('unknown')>1", "operators.op(\"unknown\").device_self_ns>1"},
      {"op('a b')>1", "operators.op(a b).device_self_ns>1"},
      {"op('\"x')>1", "operators.op(\"\\\"x\").device_self_ns>1"},
      {R"(op(a\)b[)(]\(x\))>1)", R"(operators.op(a\)b[)(]\(x\)).device_self_ns>1)"},
      {R"(op("\"a\"")>1)", R"(operators.op("\"a\"").device_self_ns>1)"},
  };
  for (const auto& [text, canonical] : kCases) {
    const GateExpression read = Read(text);
    EXPECT_EQ(read.Canonical(), canonical) << text;
    EXPECT_EQ(Read(read.Canonical()), read) << text;
    EXPECT_EQ(read.text, text);
  }
}

TEST(GateExpressionTest, TellsAChangeFromAValue) {
  EXPECT_TRUE(Read("total>+5%").change);
  EXPECT_TRUE(Read("total>+5%").of_base);
  EXPECT_TRUE(Read("gpu.busy_pct<-5").change);
  EXPECT_FALSE(Read("gpu.busy_pct<-5").of_base);
  EXPECT_FALSE(Read("gpu.busy_pct<5%").change);
  EXPECT_EQ(Read("gpu.busy_pct<5%").threshold, 5);
  EXPECT_EQ(Read("total>-2us").threshold, -2000);
}

TEST(GateExpressionTest, MarksThePlaceOfAnError) {
  const struct {
    std::string_view text;
    std::string_view what;
    size_t place;
  } kCases[] = {
      {"", "what is looked at is expected", 0},
      {"total", "one of > >= < <= is expected", 5},
      {"total=5", "one of > >= < <= is expected", 5},
      {"total>", "a threshold is expected", 6},
      {"total>+5GB", "'GB' is no unit of it", 6},
      {"total>5%", "'%' is no unit of it", 6},
      {"total>five", "'five' is no number", 6},
      {"total>+-5", "one sign is enough", 7},
      {"total>+inf", "is no number", 6},
      {"total>1e308T", "too large", 6},
      {"total>5 ms", "the end is expected", 8},
      {"any total>5", "'any' is of rows", 0},
      {"speed>5", "there is no view 'speed'", 0},
      {"gpu.fan>5", "there is no figure 'fan'", 4},
      {"gpu.busy>5", "'busy' may be busy_ns or busy_pct", 4},
      {"gpu>5", "which figure? those of gpu are busy_ns,busy_pct", 3},
      {"rank(0)>5", "which figure?", 7},
      {"gpu.op(mm)>5", "there is no key 'op'", 4},
      {"colour(x)>5", "there is no key 'colour'", 0},
      {"rank(0).op(mm)>5", "no view has all of these keys", 0},
      {"op(mm>5", "this '(' is never closed", 2},
      {"op('mm>5", "this quote is never closed", 3},
      {"op('mm'>5", "')' is expected behind the quote", 7},
      {"op()>5", "a pattern is expected", 3},
      {"op(*)>5", "is no pattern", 3},
      {"op(mm).>5", "a figure or a further key is expected", 7},
      {"overview(comm_ns>5", "')' is expected", 16},
  };
  for (const auto& [text, what, place] : kCases) {
    const std::string error = ErrorOf(text);
    EXPECT_THAT(error, testing::StartsWith("--fail-if: ")) << text;
    EXPECT_THAT(error, HasSubstr(what)) << text;
    const size_t last = error.rfind('\n');
    ASSERT_NE(last, std::string::npos) << text;
    EXPECT_EQ(error.substr(last + 1), "  " + std::string(place, ' ') + "^") << text;
  }
}

TEST(GateExpressionTest, RefusesWhatIsTooLong) {
  EXPECT_THAT(ErrorOf(std::string(kMaxGateLength + 1, ' ')), HasSubstr("longer than"));
  EXPECT_THAT(ErrorOf("op(" + std::string(5000, 'a') + ")>1"), HasSubstr("longer than"));
}

TEST(GateExpressionTest, MatchesWholeTexts) {
  const GateExpression read = Read("op(mm|add.*)>1");
  const GateExpression::Key& key = read.keys.front();
  EXPECT_TRUE(key.Matches("mm"));
  EXPECT_TRUE(key.Matches("add_"));
  EXPECT_FALSE(key.Matches("bmm"));
  EXPECT_FALSE(key.Matches("mm_"));
  EXPECT_FALSE(Read("op(.*)>1").keys.front().Matches(""));
  EXPECT_TRUE(Read("op(unknown)>1").keys.front().Matches(""));
  EXPECT_FALSE(Read("op(unknown)>1").keys.front().Matches("unknown"));
}

TEST(GateExpressionTest, EveryViewCanBeNamed) {
  ASSERT_GE(GateScopes().size(), 10u);
  EXPECT_EQ(GateScopes().front().view, "operators");
  EXPECT_EQ(ParseGateExpression("modules>+1").figure, "device_self_ns");
  for (const GateScope& scope : GateScopes()) {
    EXPECT_EQ(!scope.usual.empty(),
              std::ranges::count(scope.figures, scope.usual, &GateScope::Figure::key) == 1)
        << scope.view;
  }
  EXPECT_THAT(GateScopes().front().keys, testing::IsSupersetOf({"op", "layer", "shape"}));
  for (const GateScope& scope : GateScopes()) {
    for (const GateScope::Figure& figure : scope.figures) {
      const std::string text = scope.view + "." + figure.key + ">+1";
      EXPECT_EQ(ParseGateExpression(text).Canonical(), text);
    }
  }
}

/// What stands between `begin` and `end` in a file of the sources, each time.
std::vector<std::string> TextsIn(const std::string& file, const std::string& begin,
                                 const std::string& end) {
  std::stringstream text;
  text << std::ifstream(oplens::test::SourceDir() + "/" + file).rdbuf();
  std::vector<std::string> found;
  const std::string all = text.str();
  for (size_t at = all.find(begin); at != std::string::npos; at = all.find(begin, at)) {
    at += begin.size();
    found.push_back(all.substr(at, all.find(end, at) - at));
  }
  return found;
}

TEST(GateExpressionTest, ExamplesOfTheDocumentsCanBeRead) {
  std::vector<std::string> all;
  for (const std::string& table : TextsIn("docs/diff.md", "\n### Expressions\n", "\n```\n")) {
    const std::string begin = "\n| `";
    for (size_t at = table.find(begin); at != std::string::npos; at = table.find(begin, at)) {
      at += begin.size();
      all.push_back(table.substr(at, table.find("` |", at) - at));
    }
  }
  for (const char* file : {"docs/diff.md", "examples/ci/gpu_performance.yml"}) {
    for (std::string& text : TextsIn(file, "--fail-if '", "'")) all.push_back(std::move(text));
  }
  std::erase_if(all, [](const std::string& text) { return text == "EXPR"; });
  EXPECT_GE(all.size(), 15u);
  for (const std::string& text : all) EXPECT_NO_THROW(ParseGateExpression(text)) << text;
}

RC_GTEST_PROP(GateExpressionProperty, WrittenInFullReadsTheSame, ()) {
  const GateScope& scope = *rc::gen::elementOf(MadeScopes());
  GateExpression made;
  made.any = *rc::gen::arbitrary<bool>();
  made.view = scope.view;
  const GateScope::Figure figure = *rc::gen::elementOf(scope.figures);
  made.figure = figure.key;
  made.unit = figure.unit;
  const size_t keys = *rc::gen::inRange<size_t>(0, 3);
  for (size_t i = 0; i < keys; ++i) {
    GateExpression::Key key{.key = *rc::gen::elementOf(scope.keys), .pattern = {}};
    key.pattern = *rc::gen::nonEmpty(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab.\"' |_"))));
    made.keys.push_back(std::move(key));
  }
  made.relation = *rc::gen::element(Relation::kMore, Relation::kMoreOrEqual, Relation::kLess,
                                    Relation::kLessOrEqual);
  made.change = *rc::gen::arbitrary<bool>();
  made.of_base = made.change && *rc::gen::arbitrary<bool>();
  made.threshold = *rc::gen::inRange(-1'000'000, 1'000'000) / 64.0;
  if (!made.change) made.threshold = std::abs(made.threshold);
  RC_ASSERT(Read(made.Canonical()) == made);
}

RC_GTEST_PROP(GateExpressionProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  try {
    Read(text);
  } catch (const UsageError&) {
  }
}

}  // namespace
}  // namespace oplens::prof::expression_test
