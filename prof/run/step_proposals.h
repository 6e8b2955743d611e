#ifndef OPLENS_PROF_RUN_STEP_PROPOSALS_H_
#define OPLENS_PROF_RUN_STEP_PROPOSALS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace oplens::prof {

class Run;

/// Ranges that repeat, which --step could take as steps.
struct RepeatedRanges {
  std::string name;     ///< "token_*", "forward".
  std::string pattern;  ///< For --step: "^token_(\\d+)", "^forward$".
  int64_t count = 0;    ///< Of the steps that they would be.
  double work_pct = 0;  ///< Share of the GPU's work that was launched in them.
};

struct StepProposal {
  RepeatedRanges best;
  std::optional<RepeatedRanges> other;  ///< The next best with another count.
};

/// Of a run without marked steps, what its labels (no operators, collectives, frames, layers)
/// propose: labels with one number that ascends, with the same text, or of one server's steps
/// (ServedLabelsOf), of which the outermost are at least three, do not overlap and hold at least
/// half of the GPU's work. Best are those with most of the work (in twentieths); of equal ones the
/// fewest, then the longest, which are the outermost. O(n log n) for labels and work.
std::optional<StepProposal> ProposeSteps(const Run& run);

/// "ranges token_* repeat 16 times, with 93 % of the GPU's work: --step '^token_(\d+)' takes them
/// as steps; or layer (32 times, 90 %): --step '^layer$'".
std::string SentenceOf(const StepProposal& proposal);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_STEP_PROPOSALS_H_
