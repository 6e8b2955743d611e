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

/// Two runs compared by the rules of another program.
class OtherDiff {
 public:
  virtual ~OtherDiff() = default;
  /// Begins and ends the sink. `table`: a word of --view.
  virtual void Write(std::string_view table, Sink* sink) const = 0;
  /// What a reader is told above the first table.
  virtual std::string Words() const = 0;
  /// Sentences for standard error.
  virtual std::vector<std::string> Notes() const { return {}; }
};

/// The name of the first rank of a side; adds to `notes` where there are several.
std::string_view FirstRank(const DiffInput& side, std::vector<std::string>* notes);

/// Says in front of each row by whose rules it is, as views do.
inline constexpr Field kDiffRulesField = {
    "rules", "Rules", "", FieldType::kText, 6, "whose rules the row is by: tb or hta", Fold::kKey};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_COMPARE_H_
