#ifndef OPLENS_PROF_DIFF_COMPAT_DIFF_H_
#define OPLENS_PROF_DIFF_COMPAT_DIFF_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/compare.h"
#include "prof/table/kept_rows.h"
#include "prof/table/sink.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {

/// Two runs compared by the rules of another program.
class CompatDiff {
 public:
  virtual ~CompatDiff() = default;
  /// Begins and ends the sink. `table`: one of CompatDiffRules::tables.
  virtual void Write(std::string_view table, Sink* sink) const = 0;
  /// What a reader is told above the first table.
  virtual std::string Words() const = 0;
  /// Sentences for standard error.
  virtual std::vector<std::string> Notes() const { return {}; }
};

/// Whose rules, and what they need. Entries of one table (compat_diff.cc).
struct CompatDiffRules {
  Compat compat;
  std::string_view word;                     ///< Of --compat: "tb".
  const View& (*view)();                     ///< What is made of each side.
  std::span<const std::string_view> tables;  ///< What --view takes.
  std::span<const std::string_view> by;      ///< What --by takes.
  std::unique_ptr<CompatDiff> (*make)(const DiffInput& base, const DiffInput& now,
                                      const std::vector<std::string>& by);
};

/// Such a comparison, as it is asked for.
struct CompatDiffPlan {
  const CompatDiffRules* rules = nullptr;  ///< Null: by ours.
  std::vector<std::string> tables;         ///< In the order asked for, each once.
  std::vector<std::string> by;
  size_t top = 0;  ///< Rows of a table; 0: all.
};

/// The plan for the words of --view and --by; an empty `list` stands for all tables, or with
/// `one_table` for the first. `sides` becomes what is made of each side. Throws UsageError for
/// words that these rules do not know, and for several tables where one fits.
CompatDiffPlan PlanCompatDiff(Compat compat, std::string_view list, std::string_view by,
                              bool one_table, std::vector<ViewPlan>* sides);

/// Makes the comparison and prints its tables, as `diff_operators` and so on. The tables of both
/// sides are those of `sides` above. Answers what a reader must know.
std::vector<std::string> PrintCompatDiff(const CompatDiffPlan& plan, const DiffInput& base,
                                         const DiffInput& now, Destination* destination);

/// The name of the first rank of a side; adds to `notes` where there are several.
std::string_view FirstRank(const DiffInput& side, std::vector<std::string>* notes);

/// Says in front of each row by whose rules it is, as views do.
inline constexpr Field kDiffRulesField = {
    "rules", "Rules", "", FieldType::kText, 6, "whose rules the row is by: tb or hta", Fold::kKey};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_DIFF_COMPAT_DIFF_H_
