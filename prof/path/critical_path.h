#ifndef OPLENS_PROF_PATH_CRITICAL_PATH_H_
#define OPLENS_PROF_PATH_CRITICAL_PATH_H_

#include <string>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/path/path_edge.h"
#include "prof/path/what_if.h"

namespace oplens::prof {

class Run;

/// What a trace must hold for it.
inline constexpr TraceNeeds kCriticalPathNeeds = {TracePart::kWaitEvents, TracePart::kLongCalls};

/// Takes paths as they are found.
class PathTaker {
 public:
  virtual ~PathTaker() = default;
  /// The next edge of the step at hand.
  virtual void TakeEdge(const PathEdge& edge) = 0;
  /// All edges of a step came.
  virtual void TakeStep(const StepPath& path) = 0;
};

/// Finds the critical path of each step of a run (docs/views_critical_path.md), in the order of the
/// steps: the longest path through what the moments of the step depend on (StepGraph), from the
/// beginning of the step to its end. What of `what_if` fits something is noted in it.
///
/// O(n log n) for n ranges, API calls and pieces of work; some 40 bytes a piece of work and 120
/// more of the largest step, until it returns.
void FindCriticalPaths(const Run& run, WhatIf* what_if, PathTaker* taker);

/// All of them at once: there may be ten edges a piece of work.
std::vector<StepPathEdges> CriticalPathsOf(const Run& run, WhatIf what_if = {});

/// What an edge's subject is called: the operator, API call or kernel (in full); "" of nothing.
std::string PathNameOf(const Run& run, const PathSubject& subject);
/// The range of the operator that launched the work which a subject is; kNoItem: none did, or it is
/// no work.
uint32_t PathOpOf(const Run& run, const PathSubject& subject);
/// The same number for subjects that have one name because they have one text; less than 2^36.
int64_t PathNameKeyOf(const Run& run, const PathSubject& subject);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_CRITICAL_PATH_H_
