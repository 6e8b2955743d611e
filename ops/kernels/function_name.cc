#include "ops/kernels/function_name.h"

#include <cstddef>

#include "base/ascii.h"
#include "parse/model/demangle.h"

namespace oplens::ops {
namespace {

/// "_ZN5aiter9norm_kernIDF16bEEvPT_" -> "aiter::norm_kern", by the length before each name.
std::string NamesIn(std::string_view mangled) {
  std::string names;
  size_t i = mangled.starts_with("_ZN") ? 3 : 2;
  if (i < mangled.size() && mangled[i] == 'L') ++i;  // Internal linkage
  while (i < mangled.size() && IsDigit(mangled[i])) {
    size_t length = 0;
    for (; i < mangled.size() && IsDigit(mangled[i]) && length < mangled.size(); ++i) {
      length = length * 10 + static_cast<size_t>(mangled[i] - '0');
    }
    if (!names.empty()) names += "::";
    names += mangled.substr(i, length);
    i += length;
  }
  return names.empty() ? std::string(mangled) : names;
}

std::string FunctionIn(std::string_view signature) {
  constexpr std::string_view kUnnamed[] = {"(anonymous namespace)", "<unnamed>", "{anonymous}"};
  std::string function;
  // A computed type may contain comparison signs, which are not brackets.
  if (signature.starts_with("std::enable_if<")) {
    constexpr std::string_view kEnd = ">::type ";
    const size_t end = signature.find(kEnd);
    if (end != std::string_view::npos) signature.remove_prefix(end + kEnd.size());
  }
  int depth = 0;
  for (size_t i = 0; i < signature.size();) {
    size_t unnamed = 0;
    if (signature[i] == '(' || signature[i] == '<' || signature[i] == '{') {
      for (const std::string_view word : kUnnamed) {
        unnamed += signature.substr(i).starts_with(word) ? word.size() : 0;
      }
    }
    if (unnamed > 0) {
      i += unnamed;
      if (depth == 0) function += '_';
      continue;
    }
    const char c = signature[i++];
    if (c == '(' && depth == 0) break;
    if (c == '<') ++depth;
    if (depth == 0) function += c;
    if (c == '>' && depth > 0) --depth;
  }
  const size_t blank = function.find_last_of(' ');
  return blank == std::string::npos || blank + 1 == function.size() ? function
                                                                    : function.substr(blank + 1);
}

}  // namespace

std::string FunctionOf(std::string_view kernel_name) {
  if (!kernel_name.starts_with("_Z")) return FunctionIn(kernel_name);
  const std::string signature = parse::Demangle(kernel_name);
  return signature.starts_with("_Z") ? NamesIn(kernel_name) : FunctionIn(signature);
}

std::string AsWords(std::string_view name) {
  std::string words = "_";
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const char before = i > 0 ? name[i - 1] : '_';
    const char after = i + 1 < name.size() ? name[i + 1] : '_';
    if (!IsUpper(c) && !IsLower(c) && !IsDigit(c)) {
      if (words.back() != '_') words += '_';
      continue;
    }
    // "RMSNorm" splits before its N; "2D" and "1C11" do not split.
    const bool begins_word = IsLower(before) || (IsLower(after) && !IsLower(before));
    if (IsUpper(c) && begins_word && words.back() != '_') words += '_';
    words += ToLower(c);
  }
  if (words.back() != '_') words += '_';
  return words;
}

}  // namespace oplens::ops
