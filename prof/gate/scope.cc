#include "prof/gate/scope.h"

#include <algorithm>

#include "prof/table/row_kind.h"
#include "prof/views/view.h"
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

}  // namespace oplens::prof
