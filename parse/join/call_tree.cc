#include "parse/join/call_tree.h"

#include <algorithm>

#include "base/saturating.h"
#include "parse/join/joined.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/marker_text.h"

namespace oplens::parse {
namespace {

/// 0 if it ends before it starts.
int64_t Duration(int64_t start_ns, int64_t end_ns) {
  return std::max<int64_t>(SaturatingDifference(end_ns, start_ns), 0);
}

}  // namespace

bool IsHostCall(const Joined& joined, uint32_t index) {
  const Range& range = joined.trace().ranges[index];
  if (range.open() || joined.leaks().Has(index) || joined.contexts().Repeats(index)) return false;
  if (range.kind == RangeKind::kOperator) return true;
  if (range.kind != RangeKind::kMarker) return false;
  const MarkerKind kind = joined.texts().Of(range.text).kind;
  return kind == MarkerKind::kOp || kind == MarkerKind::kSeq || kind == MarkerKind::kOperator ||
         kind == MarkerKind::kNode;
}

CallTree::CallTree(const Joined& joined) {
  const Trace& trace = joined.trace();
  const ThreadRanges& threads = joined.threads();
  // Possible parents of later calls, innermost last. Their ends descend: of two, the earlier one
  // that ends no later encloses no later call that the other does not.
  struct Open {
    uint32_t call;
    int64_t end_ns;
    int64_t covered_until_ns;  // By children so far.
  };
  std::vector<Open> open;
  // Unwritten memory is free, while growing would copy.
  calls_.reserve(trace.ranges.size());
  bounds_.push_back(0);
  for (size_t thread = 0; thread < threads.thread_count(); ++thread) {
    open.clear();
    const size_t first = calls_.size();
    for (size_t i = threads.BeginOf(thread); i < threads.EndOf(thread); ++i) {
      if (!IsHostCall(joined, static_cast<uint32_t>(i))) continue;
      const Range& range = trace.ranges[i];
      const auto index = static_cast<uint32_t>(calls_.size() - first);
      const int64_t total_ns = Duration(range.start_ns, range.end_ns);
      while (!open.empty() && open.back().end_ns < range.end_ns) open.pop_back();
      uint32_t parent = kNone;
      if (!open.empty()) {
        Open& around = open.back();
        parent = around.call;
        const int64_t from_ns = std::max(range.start_ns, around.covered_until_ns);
        calls_[first + parent].self_ns -= Duration(from_ns, range.end_ns);
        around.covered_until_ns = std::max(around.covered_until_ns, range.end_ns);
      }
      // A later call inside both is a child of the new one.
      if (!open.empty() && open.back().end_ns == range.end_ns) open.pop_back();
      calls_.push_back({static_cast<uint32_t>(i), parent, total_ns, total_ns});
      open.push_back({index, range.end_ns, range.start_ns});
    }
    bounds_.push_back(calls_.size());
  }
}

}  // namespace oplens::parse
