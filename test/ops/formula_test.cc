#include "ops/rules/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oplens::ops::formula_test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kValues = {"B", "S", "big", "neg_one"};
const std::vector<int64_t> kNumbers = {3, 10, INT64_MAX, -1};
const std::vector<std::string> kTensors = {"x", "packed", "untyped", "none"};
const std::vector<FormulaTensor> kTensorFacts = {{60, DType::kFloat16, false},
                                                 {7, DType::kInt4, false},
                                                 {8, DType::kUnknown, false},
                                                 {0, DType::kUnknown, true}};
const Formula::Names kNames = {kValues, kTensors};

/// The value or the fault as text; the error of a text that is no formula.
std::string Result(std::string_view text) {
  Formula::Error error;
  const std::optional<Formula> formula = Formula::Parse(text, kNames, &error);
  if (!formula) return std::to_string(error.column) + ": " + error.what;
  FormulaFault fault;
  const std::optional<int64_t> value = formula->Compute(kNumbers, kTensorFacts, &fault);
  return value ? std::to_string(*value) : std::string(FormulaFaultText(fault));
}

TEST(Formula, ComputesWithTheUsualPrecedence) {
  EXPECT_EQ(Result("2*B*S"), "60");
  EXPECT_EQ(Result("1 + 2 * 3 - 4"), "3");
  EXPECT_EQ(Result("(1 + 2) * 3"), "9");
  EXPECT_EQ(Result("10 - 4 - 3"), "3");
  EXPECT_EQ(Result("100 / 10 / 5"), "2");
  EXPECT_EQ(Result("100 / 10 * 5"), "50");
  EXPECT_EQ(Result("--B"), "3");
  EXPECT_EQ(Result("S - -B"), "13");
  EXPECT_EQ(Result("-B + S"), "7");
  EXPECT_EQ(Result("\t 7\n"), "7");
  EXPECT_EQ(Result("007"), "7");
}

TEST(Formula, Functions) {
  EXPECT_EQ(Result("ceil_div(S, B)"), "4");
  EXPECT_EQ(Result("floor_div(S, B)"), "3");
  EXPECT_EQ(Result("ceil_div(9, 3)"), "3");
  EXPECT_EQ(Result("min(S, B, 5)"), "3");
  EXPECT_EQ(Result("max(B, S)"), "10");
  EXPECT_EQ(Result("max(1, 2, 3, min(9, 8))"), "8");
  const std::pair<std::string_view, std::string_view> logarithms[] = {
      {"1", "0"}, {"2", "1"},    {"3", "2"},         {"4", "2"},
      {"5", "3"}, {"big", "63"}, {"big*big", "126"}, {"big*big*2", "127"}};
  for (const auto& [operand, logarithm] : logarithms) {
    EXPECT_EQ(Result("log2ceil(" + std::string(operand) + ")"), logarithm) << operand;
  }
}

TEST(Formula, OfTensors) {
  EXPECT_EQ(Result("elements(x)"), "60");
  EXPECT_EQ(Result("size(x)"), "2");
  EXPECT_EQ(Result("bytes(x)"), "120");
  EXPECT_EQ(Result("bits(packed)"), "4");
  EXPECT_EQ(Result("bytes(packed)"), "4");
  EXPECT_EQ(Result("size(packed)"), FormulaFaultText(FormulaFault::kInexact));
  EXPECT_EQ(Result("elements(untyped)"), "8");
  EXPECT_EQ(Result("bytes(untyped)"), FormulaFaultText(FormulaFault::kUnknownDType));
  EXPECT_EQ(Result("elements(none) + bytes(none) + size(none)"), "0");
}

TEST(Formula, IntermediatesHave128Bits) {
  EXPECT_EQ(Result("big * big / big"), std::to_string(INT64_MAX));
  EXPECT_EQ(Result("big * big - big * big + 1"), "1");
  EXPECT_EQ(Result("big"), std::to_string(INT64_MAX));
}

TEST(Formula, WithoutAValueThereIsAFaultAndNoNumber) {
  const std::string_view overflow = FormulaFaultText(FormulaFault::kOverflow);
  EXPECT_EQ(Result("big + 1"), overflow);
  EXPECT_EQ(Result("big * big * big"), overflow);
  EXPECT_EQ(Result("big * big * big * 0"), overflow);
  EXPECT_EQ(Result("-big * big * 2 - 2 * big * big"), overflow);
  const std::string_view zero = FormulaFaultText(FormulaFault::kZeroDivisor);
  EXPECT_EQ(Result("1 / 0"), zero);
  EXPECT_EQ(Result("ceil_div(1, B - 3)"), zero);
  EXPECT_EQ(Result("S / B"), FormulaFaultText(FormulaFault::kInexact));
  const std::string_view negative = FormulaFaultText(FormulaFault::kNegative);
  EXPECT_EQ(Result("B - S"), negative);
  EXPECT_EQ(Result("log2ceil(0)"), negative);
  EXPECT_EQ(Result("log2ceil(neg_one)"), negative);
  EXPECT_EQ(Result("ceil_div(neg_one, 2) + 5"), negative);
  EXPECT_EQ(Result("floor_div(2, neg_one) + 5"), negative);
  EXPECT_EQ(Result("S / neg_one + 20"), "10");
}

TEST(Formula, AWrongTextHasItsColumn) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "1: a number, a name or '(' is expected"},
      {"B +", "4: a number, a name or '(' is expected"},
      {"B S", "3: an operator or the end is expected"},
      {"(B", "3: ')' is expected"},
      {"B)", "2: an operator or the end is expected"},
      {"1.5", "1: a whole number is expected"},
      {"1e3", "1: a whole number is expected"},
      {"2B", "1: a whole number is expected"},
      {"9223372036854775808", "1: the number does not fit into 64 bits"},
      {"B % 2", "3: an operator or the end is expected"},
      {"B ** 2", "4: a number, a name or '(' is expected"},
      {"B = 2", "3: an operator or the end is expected"},
      {"S * T", "5: nothing is named 'T'; known are: B, S, big, neg_one, x, packed, untyped, none"},
      {"x * 2", "1: 'x' is a tensor: write elements(x) or bytes(x)"},
      {"size(B)", "6: size() takes the name of a tensor argument"},
      {"size(x", "7: ')' is expected"},
      {"max(B)", "1: max takes 2 arguments or more"},
      {"ceil_div(B, S, 2)", "1: ceil_div takes 2 arguments"},
      {"log2ceil(B, S)", "1: log2ceil takes 1 argument"},
      {"max()", "5: a number, a name or '(' is expected"},
      {"min(1,)", "7: a number, a name or '(' is expected"},
      {"B(2)",
       "1: there is no function 'B'; there are: ceil_div, floor_div, min, max, log2ceil, "
       "size, bits, elements, bytes"},
      {"\xff", "1: a number, a name or '(' is expected"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(Result(text), error) << text;
  EXPECT_THAT(Result(std::string_view("1\0+2", 4)), HasSubstr("2: an operator"));
}

TEST(Formula, DepthAndLengthAreLimited) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '(') + "1" + std::string(depth, ')');
  };
  EXPECT_EQ(Result(nested(Formula::kMaxDepth - 1)), "1");
  EXPECT_EQ(Result(nested(Formula::kMaxDepth)),
            std::to_string(Formula::kMaxDepth + 1) + ": the formula is nested deeper than 64");
  EXPECT_THAT(Result(std::string(4000, '-') + "1"), HasSubstr("nested deeper"));
  EXPECT_THAT(Result(std::string(4000, '(')), HasSubstr("nested deeper"));
  EXPECT_THAT(Result(std::string(1 << 20, '(')), HasSubstr("longer than 4096"));
  std::string sum = "1";
  while (sum.size() + 2 <= Formula::kMaxLength) sum += "+1";
  EXPECT_EQ(Result(sum), "2048");
}

TEST(Formula, ZeroIsKnownFromTheText) {
  Formula::Error error;
  EXPECT_FALSE(Formula::Parse("0", kNames, &error)->MayBeMoreThanZero());
  EXPECT_TRUE(Formula::Parse("1", kNames, &error)->MayBeMoreThanZero());
  EXPECT_TRUE(Formula::Parse("B", kNames, &error)->MayBeMoreThanZero());
}

}  // namespace
}  // namespace oplens::ops::formula_test
