#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/error.h"
#include "base/near_words.h"
#include "base/text_scanner.h"
#include "prof/gate/expression.h"
#include "prof/where/marked_error.h"
#include "prof/where/quantity.h"

namespace oplens::prof {
namespace {

constexpr std::string_view kOption = "--fail-if";

bool IsGateNameCharacter(char c) { return IsNameCharacter(c) || c == '-'; }

std::vector<std::string_view> KeysOfScope(const GateScope& scope) {
  return {scope.keys.begin(), scope.keys.end()};
}

std::vector<std::string_view> FiguresOfScope(const GateScope& scope) {
  std::vector<std::string_view> keys;
  for (const GateScope::Figure& figure : scope.figures) keys.push_back(figure.key);
  return keys;
}

/// The figure of a view that a word names.
struct FoundFigure {
  const GateScope::Figure* figure = nullptr;
  const GateScope::Figure* other = nullptr;  ///< Another figure that it may name.
};

FoundFigure FindFigure(const GateScope& scope, std::string_view word) {
  const std::vector<std::string_view> keys = FiguresOfScope(scope);
  const size_t exact = FindName(word, keys);
  if (exact < keys.size()) return {&scope.figures[exact]};
  FoundFigure found;
  for (const GateScope::Figure& figure : scope.figures) {
    if (WithoutUnit(figure.key) != word) continue;
    (found.figure == nullptr ? found.figure : found.other) = &figure;
  }
  return found;
}

/// Recursive descent parser.
class GateParser {
 public:
  GateParser(std::string_view text, std::span<const GateScope> scopes)
      : scan_(text), text_(text), scopes_(scopes) {}

  GateExpression ParseAll() {
    if (text_.size() > kMaxGateLength) {
      FailAt(kOption, fmt::format("the expression is longer than {} characters", kMaxGateLength),
             text_, kMaxGateLength);
    }
    read_.text = std::string(text_);
    ParseAny();
    ParseSubject();
    Resolve();
    ParseSign();
    ParseThreshold();
    return std::move(read_);
  }

 private:
  /// A name as typed, and its position.
  struct Word {
    std::string_view text;
    size_t place = 0;
  };

  [[noreturn]] void FailHere(std::string_view what) const {
    FailAt(kOption, what, text_, scan_.place());
  }

  Word ParseName(std::string_view expected) {
    const size_t begin = scan_.place();
    const std::string_view name = scan_.TakeWhile(IsGateNameCharacter);
    if (name.empty()) FailHere(expected);
    return {name, begin};
  }

  void ParseAny() {
    constexpr std::string_view kAny = "any";
    scan_.SkipBlanks();
    const std::string_view rest = scan_.rest();
    if (!rest.starts_with(kAny) || rest.size() == kAny.size() || !IsBlank(rest[kAny.size()]))
      return;
    read_.any = true;
    scan_.Take(kAny);
    scan_.SkipBlanks();
  }

  const GateScope* FindView(std::string_view word) const {
    std::string name(word);
    std::ranges::replace(name, '_', '-');
    const auto at = std::ranges::find(scopes_, name, &GateScope::view);
    return at == scopes_.end() ? nullptr : &*at;
  }

  void ParseSubject() {
    constexpr std::string_view kExpected =
        "what is looked at is expected, such as total, op(mm) or gpu.busy_pct";
    const Word first = ParseName(kExpected);
    scope_ = FindView(first.text);
    if (scan_.Peek() == '(') {
      if (scope_ == nullptr) return ParseKeys(first);
      scan_.Next();
      figure_ = ParseName("a figure of the view is expected");
      if (!scan_.Take(')')) FailHere("')' is expected behind the figure");
      return;
    }
    if (first.text == kTotalWord) {
      total_ = true;
      return;
    }
    if (scope_ == nullptr) FailToFindView(first);
    if (!scan_.Take('.')) return;
    const Word second = ParseName("a figure or a key of the view is expected");
    if (scan_.Peek() == '(') return ParseKeys(second);
    figure_ = second;
  }

  /// KEY(PATTERN){.KEY(PATTERN)}[.FIGURE], after the first name.
  void ParseKeys(Word name) {
    while (true) {
      scan_.Next();
      keys_.push_back(name);
      read_.keys.push_back(ParsePattern());
      if (!scan_.Take('.')) return;
      name = ParseName("a figure or a further key is expected");
      if (scan_.Peek() != '(') break;
    }
    figure_ = name;
  }

  GateExpression::Key ParsePattern() {
    GateExpression::Key key;
    const size_t begin = scan_.place();
    bool quoted = false;
    if (scan_.Peek() == '"' || scan_.Peek() == '\'') {
      quoted = true;
      key.pattern = ParseQuoted();
    } else {
      scan_.MoveTo(EndOfBarePattern(text_, begin));
      key.pattern = std::string(text_.substr(begin, scan_.place() - begin));
    }
    if (!scan_.Take(')')) {
      if (quoted) FailHere("')' is expected behind the quote");
      FailAt(kOption, "this '(' is never closed: a pattern with a single ( or ) stands in quotes",
             text_, begin - 1);
    }
    if (!quoted && key.pattern == kUnknownWord) {
      key.unknown = true;
      key.pattern.clear();
      return key;
    }
    if (key.pattern.empty()) {
      FailAt(kOption, "a pattern is expected; rows whose key is not known are (unknown)", text_,
             begin);
    }
    try {
      key.compiled = std::make_shared<const Pattern>(key.pattern, kOption);
    } catch (const UsageError& error) {
      FailAt(kOption, WithoutOption(error.what()), text_, begin);
    }
    return key;
  }

  /// A backslash escapes the quote; before other characters it belongs to the pattern.
  std::string ParseQuoted() {
    const size_t begin = scan_.place();
    const char quote = scan_.Next();
    std::string value;
    while (!scan_.Take(quote)) {
      if (scan_.AtEnd()) FailAt(kOption, "this quote is never closed", text_, begin);
      if (scan_.rest().size() > 1 && scan_.Take('\\') && scan_.Peek() != quote) {
        value.push_back('\\');
      }
      value.push_back(scan_.Next());
    }
    return value;
  }

  static std::string WithoutOption(std::string_view what) {
    const std::string prefix = fmt::format("{}: ", kOption);
    if (what.starts_with(prefix)) what.remove_prefix(prefix.size());
    return std::string(what);
  }

  [[noreturn]] void FailToFindView(const Word& word) const {
    std::vector<std::string_view> names = {kTotalWord};
    for (const GateScope& scope : scopes_) names.push_back(scope.view);
    FailAt(kOption, NoSuchName("view", word.text, names, "the views are"), text_, word.place);
  }

  /// Determines the view, its keys and its figure.
  void Resolve() {
    if (total_) {
      if (read_.any) FailAt(kOption, "'any' is of rows: the total has none", text_, 0);
      read_.figure = kTotalWord;
      read_.unit = "ns";
      return;
    }
    if (scope_ == nullptr) scope_ = FindScope();
    read_.view = scope_->view;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const std::vector<std::string_view> names = KeysOfScope(*scope_);
      const size_t at = FindName(keys_[i].text, names);
      if (at == names.size()) FailToFindKey(keys_[i], names);
      read_.keys[i].key = names[at];
    }
    const GateScope::Figure* figure = Figure();
    read_.figure = figure->key;
    read_.unit = figure->unit;
  }

  [[noreturn]] void FailToFindKey(const Word& word,
                                  const std::vector<std::string_view>& names) const {
    FailAt(kOption, NoSuchName("key", word.text, names, "the keys are"), text_, word.place);
  }

  bool HasKeys(const GateScope& scope) const {
    const std::vector<std::string_view> names = KeysOfScope(scope);
    return std::ranges::all_of(
        keys_, [&](const Word& key) { return FindName(key.text, names) < names.size(); });
  }

  /// The first view that has the keys, preferably one that also has the figure.
  const GateScope* FindScope() const {
    const GateScope* first = nullptr;
    for (const GateScope& scope : scopes_) {
      if (!HasKeys(scope)) continue;
      if (figure_.text.empty() || FindFigure(scope, figure_.text).figure != nullptr) return &scope;
      if (first == nullptr) first = &scope;
    }
    if (first != nullptr) return first;
    std::vector<std::string_view> all;
    for (const GateScope& scope : scopes_) {
      for (const std::string& key : scope.keys) {
        if (std::ranges::find(all, key) == all.end()) all.push_back(key);
      }
    }
    for (const Word& key : keys_) {
      if (FindName(key.text, all) == all.size()) FailToFindKey(key, all);
    }
    FailAt(kOption, "no view has all of these keys", text_, keys_.front().place);
  }

  const GateScope::Figure* Figure() const {
    if (figure_.text.empty()) {
      const auto usual = std::ranges::find(scope_->figures, scope_->usual, &GateScope::Figure::key);
      if (usual != scope_->figures.end()) return &*usual;
      FailHere(fmt::format("which figure? those of {} are {}", scope_->view,
                           fmt::join(FiguresOfScope(*scope_), ",")));
    }
    const FoundFigure found = FindFigure(*scope_, figure_.text);
    if (found.other != nullptr) {
      FailAt(kOption,
             fmt::format("'{}' may be {} or {}: say which", figure_.text, found.figure->key,
                         found.other->key),
             text_, figure_.place);
    }
    if (found.figure != nullptr) return found.figure;
    FailAt(kOption,
           NoSuchName("figure", figure_.text, FiguresOfScope(*scope_),
                      fmt::format("those of {} are", scope_->view)),
           text_, figure_.place);
  }

  void ParseSign() {
    scan_.SkipBlanks();
    for (const GateSign& sign : kGateSigns) {
      if (!scan_.Take(sign.text)) continue;
      read_.relation = sign.relation;
      scan_.SkipBlanks();
      return;
    }
    FailHere("one of > >= < <= is expected");
  }

  void ParseThreshold() {
    const size_t begin = scan_.place();
    std::string_view value = scan_.TakeWhile([](char c) { return !IsBlank(c); });
    scan_.SkipBlanks();
    if (!scan_.AtEnd()) FailHere("the end is expected: give --fail-if once an expression");
    if (value.empty()) FailHere("a threshold is expected, such as +5% or 90");
    double sign = 1;
    if (value.front() == '+' || value.front() == '-') {
      read_.change = true;
      sign = value.front() == '-' ? -1 : 1;
      value.remove_prefix(1);
      read_.of_base = value.ends_with('%');
      if (value.starts_with('-')) FailAt(kOption, "one sign is enough", text_, begin + 1);
    }
    std::string wrong;
    const std::optional<Quantity> number =
        ReadQuantity(value, read_.of_base ? "%" : std::string_view(read_.unit), &wrong);
    if (!number) FailAt(kOption, wrong, text_, begin);
    if (!std::isfinite(number->value)) FailAt(kOption, "the number is too large", text_, begin);
    read_.threshold = sign * number->value;
  }

  TextScanner scan_;
  std::string_view text_;
  std::span<const GateScope> scopes_;
  GateExpression read_;
  bool total_ = false;
  const GateScope* scope_ = nullptr;
  std::vector<Word> keys_;
  Word figure_;
};

}  // namespace

GateExpression ParseGateExpression(std::string_view text, std::span<const GateScope> scopes) {
  return GateParser(text, scopes).ParseAll();
}

}  // namespace oplens::prof
