#include "prof/gate/expression.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "prof/table/row_kind.h"
#include "prof/views/common/view.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {
namespace {

/// What is known of views besides their fields. Those come first, in this order, that a name
/// without a view is first looked for in.
struct ScopeKnown {
  std::string_view view;
  std::string_view usual;            ///< The figure that is meant where none is named.
  std::vector<std::string> by = {};  ///< Words of --by that its diff has.
};

const std::vector<ScopeKnown>& KnownViews() {
  static const std::vector<ScopeKnown> views = {{"operators", "device_self_ns", {"layer", "shape"}},
                                                {"modules", "device_self_ns"},
                                                {"groups", "total"},
                                                {"overview", "total_ns"},
                                                {"stacks", "device_self_ns"},
                                                {"kernel-types", "sum_ns"},
                                                {"memory", "peak_bytes"},
                                                {"idle", "idle_ns"},
                                                {"bandwidth", "time_ns"},
                                                {"critical-path", "time_ns"},
                                                {"roofline", "time_ns"}};
  return views;
}

size_t RankOf(std::string_view view) {
  const auto at = std::ranges::find(KnownViews(), view, &ScopeKnown::view);
  return static_cast<size_t>(at - KnownViews().begin());
}

std::vector<GateScope> MakeScopes() {
  std::vector<GateScope> scopes;
  for (const View& view : Views()) {
    if (view.make == nullptr) continue;  // A row a kernel or copy has no counterpart.
    GateScope scope{.view = std::string(view.name), .keys = {}, .figures = {}};
    ViewOptions options;
    const size_t rank = RankOf(view.name);
    if (rank < KnownViews().size()) {
      options.by = KnownViews()[rank].by;
      scope.usual = KnownViews()[rank].usual;
    }
    for (const Field& field : FieldsOf(view, options)) {
      if (field.key == kRowKindField.key) continue;
      if (field.fold == Fold::kKey) {
        scope.keys.emplace_back(field.key);
      } else if (IsNumber(field)) {
        scope.figures.push_back({std::string(field.key), std::string(field.unit)});
      }
    }
    if (!scope.keys.empty() && !scope.figures.empty()) scopes.push_back(std::move(scope));
  }
  std::ranges::stable_sort(scopes, {}, [](const GateScope& scope) { return RankOf(scope.view); });
  return scopes;
}

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

std::span<const GateScope> GateScopes() {
  static const std::vector<GateScope> scopes = MakeScopes();
  return scopes;
}

std::string_view WithoutUnit(std::string_view key) {
  constexpr std::string_view kEndings[] = {"_ns", "_pct", "_bytes", "_gbps", "_tflops"};
  for (const std::string_view ending : kEndings) {
    if (key.size() > ending.size() && key.ends_with(ending)) {
      return key.substr(0, key.size() - ending.size());
    }
  }
  return key;
}

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
