#include "test/support/python_literal.h"

#include "test/support/program.h"

namespace oplens::test {
namespace {

constexpr const char* kScript = R"(
import ast, sys
with open(sys.argv[1], encoding='utf-8', errors='surrogateescape', newline='\n') as lines:
    for number, line in enumerate(lines, 1):
        try:
            value = ast.literal_eval(line)
        except Exception as error:
            sys.exit(f'line {number}: {error!r}')
        if type(value) is not dict or not all(type(key) is str for key in value):
            sys.exit(f'line {number}: not a dict with string keys')
)";

}  // namespace

bool HavePython() { return *OPLENS_PYTHON != '\0'; }

std::string CheckPythonDictLines(const std::filesystem::path& path) {
  const RunResult result = RunProgram({OPLENS_PYTHON, "-c", kScript, path.string()});
  if (result.exit_code == 0 && result.err.empty()) return {};
  return result.err.empty() ? "python3 failed" : result.err;
}

}  // namespace oplens::test
