#ifndef OPLENS_PROF_VIEWS_CALLS_STACKS_H_
#define OPLENS_PROF_VIEWS_CALLS_STACKS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "base/sums.h"
#include "prof/run/path_tree.h"
#include "prof/run/run.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

/// Cost of calls of one stack.
struct StackSums {
  Sum host_ns;
  Sum device_ns;
  Sum launches;

  void Add(const StackSums& other) { MergeMembers(this, other); }
  bool any() const { return host_ns != 0 || device_ns != 0 || launches != 0; }
};
using TakeStack = std::function<void(uint32_t path, const StackSums& sums)>;
/// What is counted of a run, and how it is written.
struct StackRules {
  /// Calls `take` with the cost of calls, by paths of `tree` under `front`; returns false if no
  /// call has a stack, which notes then report. Null: as kStacksView.
  bool (*count)(const Run& run, uint32_t front, PathTree* tree, const TakeStack& take) = nullptr;
  int64_t unit_ns = 1;  ///< Of the document's values.
};
/// The view `stacks` by other rules.
std::unique_ptr<Partial> MakeStacksOf(const ViewOptions& options, const StackRules& rules);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_STACKS_H_
