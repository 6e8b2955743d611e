#ifndef OPLENS_PROF_RUN_FORWARD_CALLS_H_
#define OPLENS_PROF_RUN_FORWARD_CALLS_H_

#include <cstdint>

#include "parse/join/call_tree.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::prof {

/// Finds the forward op that work in the backward pass belongs to.
class ForwardCalls {
 public:
  /// Both must outlive this object.
  ForwardCalls(const parse::Joined& joined, const parse::CallTree& calls)
      : joined_(joined), calls_(calls) {}

  /// `context`: the innermost range that says something about the training step
  /// (parse::StepContexts), or parse::OpenRanges::kNone. Returns the forward op of its node as an
  /// index into CallTree::all(); kNone if it is not a node or the op is unknown. O(log C).
  uint32_t Of(uint32_t context) const;

 private:
  const parse::Joined& joined_;
  const parse::CallTree& calls_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_FORWARD_CALLS_H_
