#ifndef OPLENS_PROF_VIEWS_CALLS_STACKS_H_
#define OPLENS_PROF_VIEWS_CALLS_STACKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>

#include "base/sums.h"
#include "prof/run/path_tree.h"
#include "prof/run/run.h"
#include "prof/views/common/view.h"

namespace oplens::prof {

/// What calls cost that were reached in the same way.
struct StackSums {
  Sum host_ns;
  Sum device_ns;
  Sum launches;

  static constexpr std::tuple kMembers{&StackSums::host_ns, &StackSums::device_ns,
                                       &StackSums::launches};
  void Add(const StackSums& other) { MergeMembers(this, other); }
  bool any() const { return host_ns != 0 || device_ns != 0 || launches != 0; }
};
using TakeStack = std::function<void(uint32_t path, const StackSums& sums)>;
/// What is counted of a run, and how it is written.
struct StackRules {
  /// Gives what calls cost to `take`, by paths of `tree` behind `front`; false: no call has a
  /// stack, which notes then say. Null: as kStacksView.
  bool (*count)(const Run& run, uint32_t front, PathTree* tree, const TakeStack& take) = nullptr;
  int64_t unit_ns = 1;  ///< Of the values of the document.
};
/// The view `stacks` by other rules.
std::unique_ptr<Partial> MakeStacksOf(const ViewOptions& options, const StackRules& rules);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_CALLS_STACKS_H_
