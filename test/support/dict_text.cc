#include "test/support/dict_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>

namespace oplens::test {
namespace {

[[noreturn]] void Fail(std::string_view line, size_t at, const char* what) {
  throw std::runtime_error(
      fmt::format("not a dict line: {} at {}: {}", what, at, line.substr(0, 200)));
}

// The position after the string that starts at `at`.
size_t SkipString(std::string_view line, size_t at) {
  const char quote = line[at];
  for (size_t i = at + 1; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == quote) {
      return i + 1;
    }
  }
  Fail(line, at, "string without end");
}

// The position after the value that starts at `at`: of the "," or "}" that ends it.
size_t SkipValue(std::string_view line, size_t at) {
  int depth = 0;
  while (at < line.size()) {
    const char c = line[at];
    if (c == '\'' || c == '"') {
      at = SkipString(line, at);
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}')) return at;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    ++at;
  }
  Fail(line, at, "value without end");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> SplitDictLine(std::string_view line) {
  std::vector<std::pair<std::string, std::string>> fields;
  if (line.empty() || line.front() != '{') Fail(line, 0, "no {");
  size_t at = 1;
  while (at < line.size() && line[at] != '}') {
    if (line[at] != '\'') Fail(line, at, "no key");
    const size_t key_end = SkipString(line, at);
    const std::string key(line.substr(at + 1, key_end - at - 2));
    if (line.substr(key_end, 2) != ": ") Fail(line, key_end, "no ': '");
    const size_t value_end = SkipValue(line, key_end + 2);
    fields.emplace_back(key, line.substr(key_end + 2, value_end - key_end - 2));
    at = value_end;
    if (line.substr(at, 2) == ", ") at += 2;
  }
  if (at + 1 != line.size()) Fail(line, at, "text after the dict");
  return fields;
}

std::string DictValue(std::string_view line, std::string_view key) {
  for (auto& [name, value] : SplitDictLine(line)) {
    if (name == key) return value;
  }
  throw std::runtime_error(fmt::format("no key {} in {}", key, line.substr(0, 200)));
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) throw std::runtime_error("the last line has no newline");
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace oplens::test
