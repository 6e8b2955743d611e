#ifndef OPLENS_PROF_RUN_STEP_PROPOSALS_H_
#define OPLENS_PROF_RUN_STEP_PROPOSALS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace oplens::prof {

class Run;

/// Ranges that repeat and are numbered, as "token_3", which --step could take as steps.
struct StepProposal {
  std::string name;     ///< "token_*".
  std::string pattern;  ///< For --step: "^token_(\\d+)".
  int64_t count = 0;
  double work_pct = 0;  ///< Share of the GPU's work that was launched in them.
};

/// Of a run without marked steps, the best proposal: of labels (no operators, frames, modules) with
/// one number, at least three on one thread, which ascend with time and do not overlap, the ones
/// with most of the work (in twentieths), at least half; of equal ones the fewest, which are the
/// outermost. O(n log n) for labels and work.
std::optional<StepProposal> ProposeSteps(const Run& run);

/// "ranges token_* repeat 16 times, with 93 % of the GPU's work: --step '^token_(\d+)' takes them".
std::string SentenceOf(const StepProposal& proposal);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEP_PROPOSALS_H_
