#include "prof/gate/expression.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "prof/gate/grammar.h"

namespace oplens::prof {
namespace {

/// A pattern as it can stand between ( and ).
std::string WrittenPattern(const GateExpression::Key& key) {
  if (key.unknown) return std::string(kUnknownWord);
  const std::string& pattern = key.pattern;
  const bool quoted = pattern.empty() || pattern == kUnknownWord || pattern.front() == '"' ||
                      pattern.front() == '\'' ||
                      EndOfBarePattern(pattern + ")", 0) != pattern.size();
  if (!quoted) return pattern;
  std::string text = "\"";
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size() && pattern[i + 1] != '"') {
      text.push_back(pattern[i++]);
    } else if (pattern[i] == '"') {
      text.push_back('\\');
    } else if (pattern[i] == '\\') {
      continue;  // Before a quote, which stands for itself without it.
    }
    text.push_back(pattern[i]);
  }
  return text + "\"";
}

}  // namespace

size_t EndOfBarePattern(std::string_view text, size_t begin) {
  size_t open = 0;
  bool in_class = false;
  size_t i = begin;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
    } else if (c == '(') {
      ++open;
    } else if (c == ')' && open-- == 0) {
      return i;
    }
  }
  return std::min(i, text.size());
}

bool GateExpression::Key::Matches(std::string_view name) const {
  if (unknown || name.empty()) return unknown && name.empty();
  return RE2::FullMatch(re2::StringPiece(name.data(), name.size()), compiled->compiled());
}

bool GateExpression::Key::operator==(const Key& other) const {
  return key == other.key && pattern == other.pattern && unknown == other.unknown;
}

bool GateExpression::Breaks(double value) const {
  switch (relation) {
    case Relation::kMore:
      return value > threshold;
    case Relation::kMoreOrEqual:
      return value >= threshold;
    case Relation::kLess:
      return value < threshold;
    default:
      return value <= threshold;
  }
}

std::string GateExpression::Canonical() const {
  std::string full = any ? "any " : "";
  full += IsTotal() ? kTotalWord : std::string_view(view);
  for (const Key& key : keys) full += fmt::format(".{}({})", key.key, WrittenPattern(key));
  if (!IsTotal()) full += "." + figure;
  full += std::ranges::find(kGateSigns, relation, &GateSign::relation)->text;
  return full + (change ? fmt::format("{:+}{}", threshold, of_base ? "%" : "")
                        : fmt::format("{}", threshold));
}

bool GateExpression::operator==(const GateExpression& other) const {
  return any == other.any && view == other.view && keys == other.keys && figure == other.figure &&
         unit == other.unit && relation == other.relation && change == other.change &&
         of_base == other.of_base && threshold == other.threshold;
}

}  // namespace oplens::prof
