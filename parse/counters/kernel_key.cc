#include "parse/counters/kernel_key.h"

#include <algorithm>
#include <cctype>

#include "parse/model/demangle.h"

namespace oplens::parse {
namespace {

/// Stands for a lambda, before its number.
constexpr std::string_view kLambda = "@";

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void ReplaceWords(std::string_view from, std::string_view to, std::string* text) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at)) {
    text->replace(at, from.size(), to);
    at += to.size();
  }
}

/// Behind the bracket that closes the one at `open`, or the end.
size_t BehindBracket(std::string_view text, size_t open, char opens, char closes) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == opens) ++depth;
    if (text[i] == closes && --depth == 0) return i + 1;
  }
  return text.size();
}

/// The number of a lambda: "{lambda(int)#2}", "[lambda(int) (instance 2)]".
std::string LambdaNumber(std::string_view lambda) {
  const size_t end = lambda.find_last_of("0123456789");
  if (end == std::string_view::npos) return {};
  size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(lambda[begin - 1])) != 0) --begin;
  return std::string(lambda.substr(begin, end + 1 - begin));
}

/// Lambdas as words, without their parameters.
std::string WithoutLambdas(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const bool braces = text.substr(i).starts_with("{lambda");
    if (!braces && !text.substr(i).starts_with("[lambda")) {
      result.push_back(text[i++]);
      continue;
    }
    const size_t end = braces ? BehindBracket(text, i, '{', '}') : BehindBracket(text, i, '[', ']');
    result += kLambda;
    result += LambdaNumber(text.substr(i, end - i));
    i = end;
  }
  return result;
}

/// Without what stands in parentheses: parameters and casts.
std::string WithoutParentheses(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '(') {
      result.push_back(text[i++]);
      continue;
    }
    i = BehindBracket(text, i, '(', ')');
  }
  return result;
}

/// Without the return type: what stands before the last blank outside of brackets.
std::string_view WithoutReturnType(std::string_view text) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (text[i] == ' ' && depth == 0 && i + 1 < text.size()) begin = i + 1;
  }
  return text.substr(begin);
}

/// A word as all demanglers agree on it: "2ul" to "2", "true" to "1", "const" to none.
std::string_view PlainWord(std::string_view word) {
  if (word == "true") return "1";
  if (word == "false") return "0";
  if (word == "const") return {};
  if (std::isdigit(static_cast<unsigned char>(word.front())) == 0) return word;
  while (word.ends_with('u') || word.ends_with('l') || word.ends_with('U') || word.ends_with('L')) {
    word.remove_suffix(1);
  }
  return word;
}

/// Words in one spelling; no blanks but between words, no empty last argument, no return types, and
/// no namespaces, which some demanglers leave out: of "f::lambda" f stays, which is a function.
std::string Tidied(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("::")) {
      const bool lambda = rest.substr(2).starts_with(kLambda);
      while (!lambda && !result.empty() && IsWordChar(result.back())) result.pop_back();
      i += 2;
      continue;
    }
    if (rest.starts_with("void ") && rest.size() > 5 && IsWordChar(rest[5]) &&
        (result.empty() || !IsWordChar(result.back()))) {
      i += 5;
      continue;
    }
    if (!IsWordChar(text[i])) {
      if (text[i] == '>' && result.ends_with(',')) result.pop_back();
      const bool between = text[i] == ' ' && !result.empty() && IsWordChar(result.back()) &&
                           i + 1 < text.size() && IsWordChar(text[i + 1]);
      if (text[i] != ' ' || between) result.push_back(text[i]);
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && IsWordChar(text[end])) ++end;
    const std::string_view word = PlainWord(text.substr(i, end - i));
    if (word.empty() && result.ends_with(' ')) result.pop_back();
    result += word;
    i = end;
  }
  return result;
}

}  // namespace

std::string KernelKey(std::string_view name) {
  std::string text = Demangle(name);
  ReplaceWords("(anonymous namespace)", "_anon_", &text);
  ReplaceWords("<unnamed>", "_anon_", &text);
  ReplaceWords("operator()", "operator_", &text);
  ReplaceWords("operator ()", "operator_", &text);
  text = WithoutParentheses(WithoutLambdas(text));
  while (text.ends_with(' ')) text.pop_back();
  return Tidied(WithoutReturnType(text));
}

bool IsBareName(std::string_view name) {
  return name.find_first_of("<(: ") == std::string_view::npos && !name.starts_with("_Z");
}

std::string_view BareNameOf(std::string_view key) {
  key = key.substr(0, key.find('<'));
  const size_t colon = key.rfind("::");
  return colon == std::string_view::npos ? key : key.substr(colon + 2);
}

}  // namespace oplens::parse
