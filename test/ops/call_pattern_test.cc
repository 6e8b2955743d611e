#include "ops/rules/call_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/ops/cases.h"

namespace oplens::ops::call_pattern_test {
namespace {

using test::MakeCall;

/// "B=2 S=3 | x=6 w=-": the values and the elements of tensors, "-" of an absent one; or the word
/// of the reason, and why.
std::string Match(std::vector<std::string> texts, std::string_view args) {
  CallPattern::Error error;
  const std::optional<CallPattern> pattern = CallPattern::Parse(texts, &error);
  if (!pattern) return error.what;
  CallPattern::Misfit misfit;
  const auto binding = pattern->Match(MakeCall("op", args), &misfit);
  if (!binding) return std::string(ReasonWord(misfit.reason)) + ": " + misfit.what;
  std::string text;
  for (size_t i = 0; i < binding->values.size(); ++i) {
    text += pattern->value_names()[i] + '=' + std::to_string(binding->values[i]) + ' ';
  }
  text += '|';
  for (size_t i = 0; i < binding->tensors.size(); ++i) {
    const FormulaTensor& tensor = binding->tensors[i];
    text += ' ' + pattern->tensor_names()[i] + '=' +
            (tensor.absent ? "-" : std::to_string(tensor.elements));
  }
  return text;
}

TEST(CallPattern, NamesExtents) {
  EXPECT_EQ(Match({"x[B,S,H]", "w[H,D]"}, "[2,3,4]fp32 [4,5]fp32"), "B=2 S=3 H=4 D=5 | x=24 w=20");
  EXPECT_EQ(Match({" x [ B , 3 , _ ] "}, "[2,3,4]fp32"), "B=2 | x=24");
  EXPECT_EQ(Match({"x[]"}, "[]fp32"), "| x=1");
  EXPECT_EQ(Match({"x[]"}, "0.5"), "| x=1");
  EXPECT_EQ(Match({"x[N]"}, "[0]fp32"), "N=0 | x=0");
}

TEST(CallPattern, StarsTakeAnyNumberOfDimensions) {
  const std::vector<std::string> pattern = {"x[*rows,H]"};
  EXPECT_EQ(Match(pattern, "[4]fp32"), "rows=1 H=4 | x=4");
  EXPECT_EQ(Match(pattern, "[3,4]fp32"), "rows=3 H=4 | x=12");
  EXPECT_EQ(Match(pattern, "[2,3,4]fp32"), "rows=6 H=4 | x=24");
  EXPECT_EQ(Match(pattern, "[]fp32"), "shape-mismatch: 'x' has 0 dimensions, not 1 or more");
  EXPECT_EQ(Match({"x[N,*space,C]"}, "[2,5,6,7,3]fp32"), "N=2 space=210 C=3 | x=1260");
  EXPECT_EQ(Match({"x[*n]", "y[*n]"}, "[2,6]fp32 [3,4]fp32"), "n=12 | x=12 y=12");
}

TEST(CallPattern, ExtentsThatContradictDoNotFit) {
  EXPECT_EQ(Match({"x[B,K]", "w[K]"}, "[2,3]fp32 [4]fp32"), "shape-mismatch: 'w' has K = 4, not 3");
  EXPECT_EQ(Match({"x[B,B]"}, "[2,3]fp32"), "shape-mismatch: 'x' has B = 3, not 2");
  EXPECT_EQ(Match({"x[B,64]"}, "[2,3]fp32"), "shape-mismatch: 'x' has the extent 3, not 64");
  EXPECT_EQ(Match({"x[B]"}, "[2,3]fp32"), "shape-mismatch: 'x' has 2 dimensions, not 1");
  EXPECT_EQ(Match({"x[B,C]"}, "[2]fp32"), "shape-mismatch: 'x' has 1 dimension, not 2");
  EXPECT_EQ(Match({"n", "x[n]"}, "4 [5]fp32"), "shape-mismatch: 'x' has n = 5, not 4");
}

TEST(CallPattern, NumbersAndWhatIsAbsent) {
  EXPECT_EQ(Match({"x[N]", "k", "causal=0"}, "[2]fp32 3 True"), "N=2 k=3 causal=1 | x=2");
  EXPECT_EQ(Match({"x[N]", "k=7"}, "[2]fp32"), "N=2 k=7 | x=2");
  EXPECT_EQ(Match({"x[N]", "k=-7"}, "[2]fp32 None"), "N=2 k=-7 | x=2");
  EXPECT_EQ(Match({"x[N]", "k=7"}, "[2]fp32 k=9"), "N=2 k=9 | x=2");
  EXPECT_EQ(Match({"x[N]", "k"}, "[2]fp32"), "unsupported-args: 'k' is missing");
  EXPECT_EQ(Match({"x[N]", "k"}, "[2]fp32 0.5"),
            "unsupported-args: 'k' is neither an integer nor a truth value");
  EXPECT_EQ(Match({"x[N]", "k"}, "[2]fp32 ?"),
            "unsupported-args: 'k' is neither an integer nor a truth value");
  EXPECT_EQ(Match({"x[N]", "b[N]?"}, "[2]fp32"), "N=2 | x=2 b=-");
  EXPECT_EQ(Match({"x[N]", "b[N]?"}, "[2]fp32 None"), "N=2 | x=2 b=-");
  EXPECT_EQ(Match({"x[N]", "b[N]?"}, "[2]fp32 [2]fp32"), "N=2 | x=2 b=2");
  EXPECT_EQ(Match({"x[N]", "b[N]?"}, "[2]fp32 [3]fp32"), "shape-mismatch: 'b' has N = 3, not 2");
  EXPECT_EQ(Match({"b[N]?", "x[N]"}, "None [3]fp32"), "N=3 | b=- x=3");
  EXPECT_EQ(Match({"x[N]"}, "None"), "unsupported-args: 'x' is missing");
}

TEST(CallPattern, PlacesArgumentsAsPythonDoes) {
  EXPECT_EQ(Match({"x[A]", "w[B]"}, "w=[3]fp32 x=[2]fp32"), "A=2 B=3 | x=2 w=3");
  EXPECT_EQ(Match({"x[A]", "_"}, "[2]fp32 'text'"), "A=2 | x=2");
  EXPECT_EQ(Match({"x[A]", "_"}, "[2]fp32"), "A=2 | x=2");
  EXPECT_EQ(Match({"x[A]"}, "[2]fp32 eps=0.5"), "A=2 | x=2");
  EXPECT_EQ(Match({"x[A]"}, "[2]fp32 0.5"),
            "unsupported-args: there are 2 positional arguments, more than 1");
  EXPECT_EQ(Match({"x[A]", "..."}, "[2]fp32 0.5 'text' (1,2)"), "A=2 | x=2");
}

TEST(CallPattern, HugeExtentsDoNotWrap) {
  EXPECT_EQ(Match({"x[*n]"}, "[4611686018427387904,4]fp32"), "cost-overflow: 'x' is too large");
  EXPECT_EQ(Match({"x[A,B]"}, "[4611686018427387904,4]fp32"), "cost-overflow: 'x' is too large");
  EXPECT_EQ(Match({"x[A,B]"}, "[9223372036854775807,1]fp32"),
            "A=9223372036854775807 B=1 | x=9223372036854775807");
  EXPECT_EQ(Match({"x[A]"}, "[-1]fp32"), "unsupported-args: 'x' is no tensor that can be used");
}

TEST(CallPattern, AWrongTextHasItsPlace) {
  struct WrongCase {
    std::vector<std::string> texts;
    size_t argument;
    size_t column;
    std::string_view what;
  };
  const WrongCase cases[] = {
      {{"x[A"}, 0, 4, "',' or ']' is expected"},
      {{"x[A]", "y[A,]"}, 1, 5, "an extent is a name, a number, _ or *name"},
      {{"x[A]]"}, 0, 5, "the end of the argument is expected"},
      {{"x[A+1]"}, 0, 4, "',' or ']' is expected"},
      {{"x[*a,*b]"}, 0, 6, "a tensor has one * only"},
      {{"x[-1]"}, 0, 3, "an extent is a name, a number, _ or *name"},
      {{"x[99999999999999999999]"}, 0, 3, "the number does not fit into 64 bits"},
      {{"x[A]", "x[B]"}, 1, 1, "the name 'x' stands for something else already"},
      {{"x[A]", "A"}, 1, 1, "the name 'A' stands for something else already"},
      {{"x[x]"}, 0, 3, "the name 'x' stands for a tensor already"},
      {{"n="}, 0, 3, "a whole number is expected"},
      {{"n=1.5"}, 0, 4, "the end of the argument is expected"},
      {{"n?"}, 0, 2, "the end of the argument is expected"},
      {{"_[A]"}, 0, 1, "a tensor needs a name"},
      {{"...", "x[A]"}, 1, 1, "'...' stands at the end"},
      {{"x[A]", "b[D]?"},
       1,
       1,
       "'D' has no value when b is absent: name it in an argument without '?'"},
      {{""},
       0,
       1,
       "write name[A,B] for a tensor, name for a number, _ for anything, ... for the rest"},
      {{"\xff"},
       0,
       1,
       "write name[A,B] for a tensor, name for a number, _ for anything, ... for the rest"},
      {{std::string(1 << 20, '[')}, 0, 1, "the text is too long"},
  };
  for (const WrongCase& c : cases) {
    CallPattern::Error error;
    EXPECT_FALSE(CallPattern::Parse(c.texts, &error)) << c.what;
    EXPECT_EQ(error.what, c.what);
    EXPECT_EQ(error.argument, c.argument) << c.what;
    EXPECT_EQ(error.column, c.column) << c.what;
  }
  CallPattern::Error error;
  EXPECT_FALSE(CallPattern::Parse(std::vector<std::string>(257, "_"), &error));
}

}  // namespace
}  // namespace oplens::ops::call_pattern_test
