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

/// The group of these options.
inline constexpr char kRankOptions[] = "Of many inputs";

/// What --summary writes.
struct RankSummaryOptions {
  std::string folder;  ///< Of --summary-dir; "": beside each input.
  /// Tells apart what summaries were made with, but for their views: a hash of the options that
  /// change what is found.
  std::string made_with;
};

/// Declares --summary, --summary-views, --summary-dir, --salt, --jobs and --allow-missing.
void AddRankOptions(cxxopts::OptionAdder add);

/// Of --jobs, --allow-missing and --salt. Throws UsageError.
ManyOptions ReadManyOptions(const cxxopts::ParseResult& given);
/// Of --summary. Throws UsageError.
RankSummaryOptions ReadRankSummary(const cxxopts::ParseResult& given);

/// The views of a summary: of --summary-views (`list`; "": those that merging ranks is for),
/// `groups` by op and layer, and behind them those of --view with words of --by. Throws UsageError.
std::vector<ViewPlan> PlanRankSummary(std::string_view list, std::string_view views,
                                      std::string_view by);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RANK_OPTIONS_H_
