#include "ops/kernels/template_arguments.h"

#include <charconv>
#include <cstddef>

namespace oplens::ops {
namespace {

std::string_view TrimmedArgument(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool IsPartOfWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Where the '<' after a use of `function` stands; npos: nowhere.
size_t OpeningOf(std::string_view name, std::string_view function) {
  for (size_t at = name.find(function); at != std::string_view::npos;
       at = name.find(function, at + 1)) {
    const size_t end = at + function.size();
    const bool is_word = at == 0 || !IsPartOfWord(name[at - 1]);
    if (is_word && end < name.size() && name[end] == '<') return end;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> TemplateArguments(std::string_view name, std::string_view function) {
  const size_t open = function.empty() ? std::string_view::npos : OpeningOf(name, function);
  if (open == std::string_view::npos) return {};
  std::vector<std::string_view> arguments;
  int depth = 0;
  size_t begin = open + 1;
  for (size_t i = begin; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_arrow = c == '>' && name[i - 1] == '-';
    const bool closes = (c == '>' && !is_arrow) || c == ')' || c == '}';
    if (depth == 0 && (c == ',' || closes)) {
      arguments.push_back(TrimmedArgument(name.substr(begin, i - begin)));
      begin = i + 1;
      if (c == '>') return arguments;
      if (closes) return {};
    } else if (c == '<' || c == '(' || c == '{') {
      ++depth;
    } else if (closes) {
      --depth;
    }
  }
  return {};
}

std::optional<int64_t> TemplateNumber(std::string_view argument) {
  if (argument.starts_with('(')) {
    const size_t close = argument.find(')');
    if (close == std::string_view::npos) return std::nullopt;
    argument.remove_prefix(close + 1);
  }
  int64_t number = 0;
  const char* end = argument.data() + argument.size();
  const auto [stop, error] = std::from_chars(argument.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view rest(stop, static_cast<size_t>(end - stop));
  return rest.find_first_not_of("uUlL") == std::string_view::npos ? std::optional(number)
                                                                  : std::nullopt;
}

}  // namespace oplens::ops
