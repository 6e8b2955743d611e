#ifndef OPLENS_PROF_RANK_OPTIONS_H_
#define OPLENS_PROF_RANK_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "prof/many_inputs.h"
#include "prof/views/view_plan.h"

namespace cxxopts {
class OptionAdder;
class ParseResult;
}  // namespace cxxopts

namespace oplens::prof {

inline constexpr char kRankOptions[] = "Of many inputs";

struct RankSummaryOptions {
  std::string folder;  ///< --summary-dir; "": next to each input.
  /// Hash of all options except the views that change the results.
  std::string made_with;
};

/// Declares --summary, --summary-views, --summary-dir, --salt, --jobs and --allow-missing.
void AddRankOptions(cxxopts::OptionAdder add);

/// Reads --jobs, --allow-missing and --salt. Throws UsageError.
ManyOptions ReadManyOptions(const cxxopts::ParseResult& given);
/// Reads --summary and --summary-dir. Throws UsageError.
RankSummaryOptions ReadRankSummary(const cxxopts::ParseResult& given);

/// The views of a summary: those of --summary-views (`list`; "": those useful for merging ranks),
/// `groups` by op and layer, then those of --view with words of --by. Throws UsageError.
std::vector<ViewPlan> PlanRankSummary(std::string_view list, std::string_view views,
                                      std::string_view by);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RANK_OPTIONS_H_
