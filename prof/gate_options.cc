#include "prof/gate_options.h"

#include <vector>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/shown_text.h"

namespace oplens::prof {

void AddGateOptions(cxxopts::OptionAdder add) {
  add("fail-if",
      "Exit with 5 if EXPR holds, such as 'total>+5%' or 'op(mm).tc_self_pct<90', with 4 if data "
      "for it is lost or missing (docs/diff.md); may be given several times",
      cxxopts::value<std::vector<std::string>>(), "EXPR");
  add("require-comparable",
      "With --diff: exit with 4 if the runs differ in what determines their times, such as the "
      "GPU");
  add("junit", "With --fail-if: write a JUnit report of the expressions, whole or not at all",
      cxxopts::value<std::string>(), "FILE");
}

GateOptions ReadGateOptions(const cxxopts::ParseResult& given, bool has_base) {
  std::vector<std::string> expressions;
  if (given.count("fail-if") > 0) {
    expressions = given["fail-if"].as<std::vector<std::string>>();
  }
  const bool comparable = given.count("require-comparable") > 0;
  if (comparable && !has_base) throw UsageError("--require-comparable needs --diff BASE");
  GateOptions options{Gate::Parse(expressions, comparable), {}};
  for (const GateExpression& expression : options.gate.expressions()) {
    if (expression.change && !has_base) {
      throw UsageError("--fail-if: '" + ShownText(expression.text) +
                       "' is about a change, which needs --diff BASE; for one run, give a "
                       "threshold without a sign");
    }
  }
  if (given.count("junit") == 0) return options;
  options.junit = given["junit"].as<std::string>();
  if (options.junit.empty()) throw UsageError("--junit: the name of the file is empty");
  if (options.gate.empty()) throw UsageError("--junit needs --fail-if or --require-comparable");
  return options;
}

}  // namespace oplens::prof
