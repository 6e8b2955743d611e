// docs/costs.md is a promise: it names every op that has a model, and its weights are the models'.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ops/op_model.h"
#include "ops/pricing.h"
#include "test/ops/cases.h"
#include "test/support/test_files.h"

namespace oplens::ops::test::documented_costs_test {
namespace {

std::string CostsText() {
  return oplens::test::ReadFile(oplens::test::SourceDir() + "/docs/costs.md");
}

// The names between backquotes.
std::vector<std::string> QuotedNames(const std::string& text) {
  std::vector<std::string> names;
  for (size_t at = text.find('`'); at != std::string::npos;) {
    const size_t end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    names.push_back(text.substr(at + 1, end - at - 1));
    at = text.find('`', end + 1);
  }
  return names;
}

// The rows of the table under a heading, as cells.
std::vector<std::vector<std::string>> TableUnder(const std::string& heading) {
  std::istringstream in(CostsText());
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    if (!inside || !line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
    rows.push_back(std::move(cells));
  }
  return rows;
}

int64_t LeadingNumber(const std::string& cell) {
  size_t at = 0;
  while (at < cell.size() && cell[at] == ' ') ++at;
  return at < cell.size() && std::isdigit(static_cast<unsigned char>(cell[at])) != 0
             ? std::stoll(cell.substr(at))
             : -1;
}

TEST(DocumentedCostsTest, NamesEveryModel) {
  const std::vector<std::string> quoted = QuotedNames(CostsText());
  const std::set<std::string> names(quoted.begin(), quoted.end());
  for (const std::string_view name : OpNames()) {
    EXPECT_TRUE(names.count(std::string(name)) > 0) << name;
  }
}

TEST(DocumentedCostsTest, ElementwiseWeights) {
  int checked = 0;
  for (const auto& cells : TableUnder("Elementwise")) {
    ASSERT_EQ(cells.size(), 3u) << cells[0];
    for (const std::string& name : QuotedNames(cells[0])) {
      SCOPED_TRACE(name);
      // An op of one, two or three operands of 10 elements; ops that halve theirs have 20.
      PriceResult result;
      for (const char* args : {"[20]float32", "[10]float32 [10]float32",
                               "[10]float32 [10]float32 [10]float32", "[10]float32 [1]float32"}) {
        result = PriceCall(MakeCall("torch." + name, args));
        if (result.price) break;
      }
      ASSERT_TRUE(result.price.has_value());
      const std::string& params = result.price->params;
      const bool halves = name.ends_with("glu") || name.find("and_mul") != std::string::npos ||
                          name == "mul_and_silu";
      const int64_t n = params.starts_with("[20]") && !halves ? 20 : 10;
      EXPECT_EQ(result.price->forward[0].work.vec.Value(), LeadingNumber(cells[1]) * n);
      const bool differentiable = LeadingNumber(cells[2]) >= 0;
      EXPECT_EQ(result.price->backward.empty(), !differentiable);
      ++checked;
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(DocumentedCostsTest, ReductionWeights) {
  int checked = 0;
  for (const auto& cells : TableUnder("Reductions")) {
    ASSERT_EQ(cells.size(), 4u) << cells[0];
    for (const std::string& name : QuotedNames(cells[0])) {
      SCOPED_TRACE(name);
      PriceResult result = PriceCall(MakeCall("torch." + name, "[10]float32"));
      int64_t outputs = 1;
      if (!result.price) {  // A scan wants a dimension, equal a second tensor.
        outputs = 10;
        result = PriceCall(MakeCall("torch." + name, "[10]float32 0"));
      }
      if (!result.price) {
        result = PriceCall(MakeCall("torch." + name, "[10]float32 [10]float32"));
      }
      ASSERT_TRUE(result.price.has_value());
      EXPECT_EQ(result.price->forward[0].work.vec.Value(),
                LeadingNumber(cells[1]) * 10 + LeadingNumber(cells[2]) * outputs);
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
}

}  // namespace
}  // namespace oplens::ops::test::documented_costs_test
