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

constexpr const char* kStringsScript = R"(
import ast, sys
place = compile('value' + sys.argv[2], 'place', 'eval')
with open(sys.argv[1], encoding='ascii', newline='\n') as lines:
    for number, line in enumerate(lines, 1):
        try:
            literal, expected = line.rstrip('\n').split('\t')
            found = eval(place, {'value': ast.literal_eval(literal)})
            found = found.encode('utf-8', 'surrogateescape').hex()
        except Exception as error:
            sys.exit(f'line {number}: {error!r}')
        if found != expected:
            sys.exit(f'line {number}: {found}, not {expected}')
)";

std::string RunScript(const std::vector<std::string>& command) {
  const RunResult result = RunProgram(command);
  if (result.exit_code == 0 && result.err.empty()) return {};
  return result.err.empty() ? "python3 failed" : result.err;
}

}  // namespace

bool HavePython() { return *OPLENS_PYTHON != '\0'; }

std::string CheckPythonDictLines(const std::filesystem::path& path) {
  return RunScript({OPLENS_PYTHON, "-c", kScript, path.string()});
}

std::string CheckPythonStrings(const std::filesystem::path& path, const std::string& place) {
  return RunScript({OPLENS_PYTHON, "-c", kStringsScript, path.string(), place});
}

}  // namespace oplens::test
