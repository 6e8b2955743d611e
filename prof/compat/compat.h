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

/// The words of --compat: "tb", the TensorBoard plugin, torch_tb_profiler 0.4.3; "hta",
/// HolisticTraceAnalysis 0.6.0; "torch-1.13" and "torch-2.13", key_averages() of torch.profiler of
/// that PyTorch; "torch", that of the version which the profile shows; "torch-legacy",
/// torch.autograd.profiler of PyTorch 1.0.
std::span<const std::string_view> CompatWords();

/// The views by a word's rules, which replace ours of the same name (ViewRequest::instead). Empty
/// for an unknown word.
std::span<const View> CompatViews(std::string_view word);

/// Rules of a comparison; entries of kCompatDiffRules.
struct CompatDiffRules {
  std::string_view word;                     ///< Of --compat: "tb".
  const View& (*view)();                     ///< Applied to each side.
  std::span<const std::string_view> tables;  ///< Words of --view.
  std::span<const std::string_view> by;      ///< Words of --by.
  std::unique_ptr<OtherDiff> (*make)(const DiffInput& base, const DiffInput& now,
                                     const std::vector<std::string>& by);
};

struct CompatDiffPlan {
  const CompatDiffRules* rules = nullptr;  ///< Null: our rules.
  std::vector<std::string> tables;         ///< Without duplicates, in the requested order.
  std::vector<std::string> by;
  size_t top = 0;  ///< Rows of a table; 0: all.
};

/// The plan for a word of --compat and the words of --view and --by; an empty `list` means all
/// tables, or the first if `one_table`. Sets `sides` to the views of each side. Throws UsageError
/// for words that these rules do not know, and for several tables if `one_table`.
CompatDiffPlan PlanCompatDiff(std::string_view word, std::string_view list, std::string_view by,
                              bool one_table, std::vector<ViewPlan>* sides);

/// Prints the comparison's tables, as `diff_operators` and so on. The inputs are tables of `sides`
/// of PlanCompatDiff(). Returns notes for the reader.
std::vector<std::string> PrintCompatDiff(const CompatDiffPlan& plan, const DiffInput& base,
                                         const DiffInput& now, Destination* destination);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMPAT_COMPAT_H_
