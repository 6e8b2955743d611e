#include "prof/run/module_names.h"

#include <algorithm>
#include <array>

#include "parse/join/joined.h"
#include "parse/join/range_roles.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_contexts.h"
#include "parse/join/vocabulary_ranges.h"
#include "parse/model/marker_text.h"
#include "parse/model/range_vocabulary.h"
#include "parse/model/trace.h"

namespace oplens::prof {
namespace {

/// Labels set by frameworks that are no parts of a network.
constexpr std::array<std::string_view, 6> kNoScopes = {
    "enumerate(Data", "Optimizer.", "nccl:", "gloo:", "phase:", "ProfilerStep#"};

}  // namespace

ModuleNames::ModuleNames(const parse::Joined& joined)
    : joined_(joined), trace_(joined.trace()), known_(2 * trace_.strings.size(), Known::kUnasked) {
  for (size_t i = 0; i < trace_.ranges.size(); ++i) {
    const Known kind = KindOf(trace_.ranges[i]);
    if (kind == Known::kModule) {
      source_ = ModuleSource::kModules;
      return;
    }
    if (kind == Known::kScope && IsScope(i)) source_ = ModuleSource::kScopes;
  }
}

ModuleNames::Known ModuleNames::KindOf(const Range& range) {
  if (range.kind == RangeKind::kModule) return Known::kModule;
  if (range.kind != RangeKind::kMarker && range.kind != RangeKind::kAnnotation) return Known::kNone;
  Known& known = known_[2 * size_t{range.text} + (range.kind == RangeKind::kAnnotation ? 1 : 0)];
  if (known == Known::kUnasked) known = AskKind(range);
  return known;
}

ModuleNames::Known ModuleNames::AskKind(const Range& range) const {
  const std::string_view text = trace_.strings.View(range.text);
  if (LightningModule(text) || HookedModule(range)) return Known::kModule;
  if (range.kind == RangeKind::kMarker) {
    const MarkerKind kind = joined_.texts().Of(range.text).kind;
    if (kind == MarkerKind::kLayer) return Known::kModule;
    if (kind != MarkerKind::kFree) return Known::kNone;
  }
  const bool scope = !text.empty() && std::none_of(kNoScopes.begin(), kNoScopes.end(),
                                                   [&](auto no) { return text.starts_with(no); });
  return scope ? Known::kScope : Known::kNone;
}

std::optional<std::string_view> ModuleNames::NameOf(size_t index) {
  const Range& range = trace_.ranges[index];
  const Known kind = KindOf(range);
  if (kind == Known::kModule) {
    const auto lightning = range.kind == RangeKind::kModule
                               ? std::nullopt
                               : LightningModule(trace_.strings.View(range.text));
    return lightning ? lightning
                     : trace_.strings.View(joined_.LayerOf(static_cast<uint32_t>(index)));
  }
  const bool scope = kind == Known::kScope && source_ == ModuleSource::kScopes && IsScope(index);
  return scope ? std::optional(trace_.strings.View(range.text)) : std::nullopt;
}

bool ModuleNames::HookedModule(const Range& range) const {
  const parse::VocabularyRanges::Words* words = joined_.vocabulary().Of(range);
  return words != nullptr && words->module;
}

bool ModuleNames::IsScope(size_t index) const {
  const Range& range = trace_.ranges[index];
  // An unclosed range encloses all that follows; one with a start call may end on another thread.
  const Label* const label = trace_.LabelOf(range);
  const bool start_end =
      range.kind == RangeKind::kAnnotation && label != nullptr && label->start_end;
  return !range.open() && !start_end &&
         joined_.contexts().ContextOf(index) == parse::StepContext::kNone;
}

}  // namespace oplens::prof
