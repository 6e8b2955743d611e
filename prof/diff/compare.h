#ifndef OPLENS_PROF_DIFF_COMPARE_H_
#define OPLENS_PROF_DIFF_COMPARE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "prof/diff/diff.h"
#include "prof/table/kept_rows.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {

/// Which views a comparison makes of each side, and where their tables are.
struct DiffPlan {
  struct Of {
    std::string view;
    std::optional<size_t> plain;    ///< Place in `plans`.
    std::optional<size_t> by_step;  ///< The same, by rank and step.
  };

  std::vector<ViewPlan> plans;  ///< The first three are what every comparison needs.
  std::vector<Of> views;        ///< That are compared, in the order asked for.

  enum Needed : size_t { kOverview, kPlaces, kSetup };
};

/// The plan for a list such as "operators,overview" and the words of --by. `operators` is told by
/// the view `places`; `all` stands for all that can be compared. Throws UsageError for a view that
/// cannot be compared: one of no groups, such as kernels.
DiffPlan PlanDiff(std::string_view list, std::string_view by);

/// One side: its name, and a table for each of DiffPlan::plans.
struct DiffInput {
  std::string name;
  const KeptTables* tables = nullptr;
};

/// The tables must outlive what it answers.
Diff Compare(const DiffPlan& plan, const DiffInput& base, const DiffInput& now);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_COMPARE_H_
