#ifndef OPLENS_PROF_RANK_SUMMARIES_H_
#define OPLENS_PROF_RANK_SUMMARIES_H_

#include <string>
#include <vector>

#include "prof/many_inputs.h"
#include "prof/rank_options.h"

namespace oplens::prof {

/// What is written of each input.
struct RankSummaryPlan {
  FindOptions find;  ///< With SummaryTexts::kOfInput.
  RankSummaryOptions options;
  std::string output;  ///< Of the one input; "": files of their own.
};

/// The file for each input that waits: NAME.oplens, beside it or in the folder; of a file with
/// several ranks NAME.0.oplens and so on. Throws UsageError where two get the same.
std::vector<std::string> SummaryPathsOf(const Inputs& inputs, const RankSummaryPlan& plan);

/// Whether the file at `path` is what SummarizeInput() would write of an input.
bool HasSummary(const std::string& path, const std::string& input, const RankSummaryPlan& plan);

/// Finds what is to be found in an input that waits and writes it. Throws Error.
std::unique_ptr<Findings> SummarizeInput(Inputs* inputs, size_t place, const std::string& path,
                                         const RankSummaryPlan& plan);

/// How many files were written, and how many were there.
struct WrittenSummaries {
  size_t written = 0;
  size_t kept = 0;  ///< IsUpToDate().
  /// "wrote 7 summaries, 1 is as it was", without those left out.
  std::string Sentence() const;
};

/// Writes the summaries of all inputs that wait but for those that are up to date. What there is to
/// say of the inputs goes to `merger`, whose runner is not asked.
WrittenSummaries WriteRankSummaries(Inputs* inputs, const RankSummaryPlan& plan, ManyInputs* many,
                                    FindingsMerger* merger);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RANK_SUMMARIES_H_
