#include "prof/run/forward_calls.h"

#include <algorithm>

#include "parse/join/forward_backward.h"
#include "parse/join/joined.h"
#include "parse/join/range_roles.h"
#include "parse/join/range_sweep.h"
#include "parse/join/step_contexts.h"

namespace oplens::prof {

using parse::CallTree;
using parse::StepContext;

uint32_t ForwardCalls::Of(uint32_t context) const {
  if (context == parse::OpenRanges::kNone) return CallTree::kNone;
  uint32_t node = context;
  const StepContext said = joined_.contexts().ContextOf(context);
  if (said == StepContext::kEvaluate || said == StepContext::kAccumulate) {
    node = joined_.contexts().NodeServedBy(context);
  } else if (said != StepContext::kNode) {
    return CallTree::kNone;
  }
  const uint32_t number = node == parse::kNoRange ? 0 : joined_.links().RunOf(node).node;
  if (number == 0) return CallTree::kNone;
  const uint32_t forward = joined_.links().ForwardOf(number);
  const auto all = calls_.all();
  const auto at = std::lower_bound(
      all.begin(), all.end(), forward,
      [](const CallTree::Call& call, uint32_t range) { return call.range < range; });
  return at != all.end() && at->range == forward ? static_cast<uint32_t>(at - all.begin())
                                                 : CallTree::kNone;
}

}  // namespace oplens::prof
