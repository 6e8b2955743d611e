#ifndef OPLENS_PROF_RANK_SUMMARIES_H_
#define OPLENS_PROF_RANK_SUMMARIES_H_

#include <string>
#include <vector>

#include "prof/many_inputs.h"
#include "prof/rank_options.h"

namespace oplens::prof {

struct RankSummaryPlan {
  FindOptions find;  ///< With SummaryTexts::kOfInput.
  RankSummaryOptions options;
  std::string output;  ///< For a single input; "": a file per input.
};

/// The file of each waiting input: NAME.oplens, next to it or in the folder; for a file with
/// several ranks NAME.0.oplens and so on. Throws UsageError if two inputs get the same file.
std::vector<std::string> SummaryPathsOf(const Inputs& inputs, const RankSummaryPlan& plan);

/// Whether the file at `path` is what SummarizeInput() would write for an input.
bool HasSummary(const std::string& path, const std::string& input, const RankSummaryPlan& plan);

/// Writes the summary of a waiting input. Throws Error.
std::unique_ptr<Findings> SummarizeInput(Inputs* inputs, size_t place, const std::string& path,
                                         const RankSummaryPlan& plan);

struct WrittenSummaries {
  size_t written = 0;
  size_t kept = 0;  ///< Up to date (IsUpToDate()).
  /// "wrote 7 summaries, 1 is as it was"; not counting inputs left out.
  std::string Sentence() const;
};

/// Writes the summaries of all waiting inputs that are not up to date. Passes what to report about
/// the inputs to `merger`, whose runner is not used.
WrittenSummaries WriteRankSummaries(Inputs* inputs, const RankSummaryPlan& plan, ManyInputs* many,
                                    FindingsMerger* merger);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RANK_SUMMARIES_H_
