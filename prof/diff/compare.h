#ifndef OPLENS_PROF_DIFF_COMPARE_H_
#define OPLENS_PROF_DIFF_COMPARE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/diff.h"
#include "prof/table/field.h"
#include "prof/table/kept_rows.h"
#include "prof/table/sink.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {

/// The views of each side that a comparison needs, and where their tables are.
struct DiffPlan {
  struct Of {
    std::string view;
    std::optional<size_t> plain;    ///< Index in `plans`.
    std::optional<size_t> by_step;  ///< Likewise, by rank and step.
  };

  std::vector<ViewPlan> plans;  ///< The first three are needed by every comparison.
  std::vector<Of> views;        ///< Compared views, in the requested order.

  enum Needed : size_t { kOverview, kPlaces, kSetup };
};

/// The plan for a list such as "operators,overview" and the words of --by. `operators` is made from
/// the view `places`; `all` means all that can be compared. Throws UsageError for a view that
/// cannot be compared, because it has no groups, such as kernels.
DiffPlan PlanDiff(std::string_view list, std::string_view by);

/// One side: its name, and a table for each of DiffPlan::plans.
struct DiffInput {
  std::string name;
  const KeptTables* tables = nullptr;
};

/// The tables must outlive the result.
Diff Compare(const DiffPlan& plan, const DiffInput& base, const DiffInput& now);

/// Two runs compared by another program's rules.
class OtherDiff {
 public:
  virtual ~OtherDiff() = default;
  /// Begins and ends the sink. `table`: a word of --view.
  virtual void Write(std::string_view table, Sink* sink) const = 0;
  /// Text above the first table, for a reader.
  virtual std::string Words() const = 0;
  virtual std::vector<std::string> Notes() const { return {}; }
};

/// The name of the first rank of a side; adds to `notes` if there are several.
std::string_view FirstRank(const DiffInput& side, std::vector<std::string>* notes);

/// Prepended to each row: whose rules it follows, as in views.
inline constexpr Field kDiffRulesField = {
    "rules", "Rules", "", FieldType::kText, 6, "whose rules the row is by: tb or hta", Fold::kKey};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_COMPARE_H_
