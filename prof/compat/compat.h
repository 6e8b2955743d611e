#ifndef OPLENS_PROF_COMPAT_COMPAT_H_
#define OPLENS_PROF_COMPAT_COMPAT_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/diff/compare.h"
#include "prof/table/sink.h"
#include "prof/views/common/view.h"
#include "prof/views/view_plan.h"

namespace oplens::prof {

/// What --compat takes: "tb", the TensorBoard plugin, torch_tb_profiler 0.4.3; "hta",
/// HolisticTraceAnalysis 0.6.0; "torch", key_averages() of torch.profiler, PyTorch 1.13;
/// "torch-legacy", torch.autograd.profiler of PyTorch 1.0.
std::span<const std::string_view> CompatWords();

/// The views by these rules, each for the place of ours of that name (ViewRequest::instead). Empty
/// for another word.
std::span<const View> CompatViews(std::string_view word);

/// Whose rules, and what they need. Entries of kCompatDiffRules.
struct CompatDiffRules {
  std::string_view word;                     ///< Of --compat: "tb".
  const View& (*view)();                     ///< What is made of each side.
  std::span<const std::string_view> tables;  ///< What --view takes.
  std::span<const std::string_view> by;      ///< What --by takes.
  std::unique_ptr<OtherDiff> (*make)(const DiffInput& base, const DiffInput& now,
                                     const std::vector<std::string>& by);
};

/// Such a comparison, as it is asked for.
struct CompatDiffPlan {
  const CompatDiffRules* rules = nullptr;  ///< Null: by ours.
  std::vector<std::string> tables;         ///< In the order asked for, each once.
  std::vector<std::string> by;
  size_t top = 0;  ///< Rows of a table; 0: all.
};

/// The plan for a word of --compat, and those of --view and --by; an empty `list` stands for all
/// tables, or with `one_table` for the first. `sides` becomes what is made of each side. Throws
/// UsageError for words that these rules do not know, and for several tables where one fits.
CompatDiffPlan PlanCompatDiff(std::string_view word, std::string_view list, std::string_view by,
                              bool one_table, std::vector<ViewPlan>* sides);

/// Makes the comparison and prints its tables, as `diff_operators` and so on. The tables of both
/// sides are those of `sides` above. Answers what a reader must know.
std::vector<std::string> PrintCompatDiff(const CompatDiffPlan& plan, const DiffInput& base,
                                         const DiffInput& now, Destination* destination);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_COMPAT_H_
