#include "test/e2e/e2e.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

#include "test/support/dict_text.h"
#include "test/support/test_files.h"

namespace oplens::test {
namespace {

RunResult RunNamed(const std::string& name, const std::vector<std::string>& arguments,
                   const RunOptions& options) {
  std::vector<std::string> command{Program(name), "-v"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram(command, options);
}

std::vector<std::string> With(std::vector<std::string> options, const std::string& file) {
  options.push_back(file);
  return options;
}

std::vector<nlohmann::json> JsonLines(const RunResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<nlohmann::json> values;
  for (const std::string& line : Lines(result.out)) values.push_back(nlohmann::json::parse(line));
  return values;
}

}  // namespace

RunResult RunParse(const std::vector<std::string>& arguments, const RunOptions& options) {
  return RunNamed("parse", arguments, options);
}

RunResult RunProf(const std::vector<std::string>& arguments, const RunOptions& options) {
  return RunNamed("prof", arguments, options);
}

std::vector<nlohmann::json> Records(const std::filesystem::path& profile,
                                    const std::vector<std::string>& options) {
  std::vector<std::string> arguments = options;
  arguments.insert(arguments.begin(), {"--format", "jsonl"});
  return JsonLines(RunParse(With(arguments, profile.string())));
}

std::vector<std::string> DictLines(const std::filesystem::path& profile,
                                   const std::vector<std::string>& options) {
  const RunResult result = RunParse(With(options, profile.string()));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Lines(result.out);
}

std::vector<nlohmann::json> ProfRows(const std::filesystem::path& dict,
                                     const std::vector<std::string>& options) {
  std::vector<std::string> arguments = options;
  arguments.insert(arguments.begin(), "--json");
  return JsonLines(RunProf(With(arguments, dict.string())));
}

int64_t CountedReason(const RunResult& result, const std::string& word) {
  const size_t at = result.err.find("[" + word + "]");
  if (at == std::string::npos) return 0;
  const size_t line_start = result.err.rfind('\n', at) + 1;  // npos + 1 is 0.
  const std::string_view line = std::string_view(result.err).substr(line_start, at - line_start);
  const size_t digits = line.find_first_of("0123456789");
  int64_t count = 0;
  if (digits != std::string_view::npos) {
    std::from_chars(line.data() + digits, line.data() + line.size(), count);
  }
  return count;
}

int64_t LineCount(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

std::string OpText(const std::string& op) {
  return fmt::format(
      "{{'mod': 'Tensor', 'op': '{}', 'args': [{{'name': '', 'type': 'tensor', 'shape': (1024,), "
      "'dtype': 'float32'}}]}}",
      op);
}

int64_t SmallProfile::AnnotatedKernel(const std::string& op, int64_t seq,
                                      const std::string& kernel_name) {
  const ScriptRange trace(&thread, "{'traceMarker': ['train.py:10', 'model.py:20']}");
  const ScriptRange call(&thread, OpText(op));
  const ScriptRange aten(&thread, fmt::format("{}, seq = {}", op, seq));
  return thread.Launch({.name = kernel_name});
}

std::filesystem::path SmallProfile::Write(const NvprofOptions& options) const {
  const std::filesystem::path path = TestDir() / "profile.sql";
  builder.Write(path, options);
  return path;
}

}  // namespace oplens::test
