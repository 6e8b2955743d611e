#include "prof/run/gradient_hooks.h"

#include <string_view>

#include "parse/join/joined.h"
#include "parse/join/range_roles.h"
#include "parse/join/range_sweep.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_contexts.h"
#include "parse/model/gradient_hooks.h"
#include "parse/model/marker_text.h"
#include "parse/model/node_name.h"

namespace oplens::prof {
namespace {

std::string_view NodeName(const parse::Joined& joined, uint32_t node) {
  const Range& range = joined.trace().ranges[node];
  if (range.kind == RangeKind::kMarker) {
    const auto& text = joined.texts().Of(range.text);
    if (text.kind == MarkerKind::kNode) return joined.trace().strings.View(text.op);
  }
  return joined.trace().strings.View(range.text);
}

}  // namespace

bool IsOfGradientHooks(const parse::Joined& joined, uint32_t context) {
  if (context == parse::OpenRanges::kNone) return false;
  return oplens::IsOfGradientHooks(parse::PhaseOf(joined.contexts().ContextOf(context)),
                                   [&] { return IsOperatorNode(NodeName(joined, context)); });
}

bool IsCallOfGradientHooks(const parse::Joined& joined, uint32_t context, const Range& call) {
  const std::string_view name = joined.trace().strings.View(call.text);
  return (name.starts_with("c10d::") || name.starts_with("record_param_comms")) &&
         IsOfGradientHooks(joined, context);
}

}  // namespace oplens::prof
