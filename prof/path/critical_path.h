#ifndef OPLENS_PROF_PATH_CRITICAL_PATH_H_
#define OPLENS_PROF_PATH_CRITICAL_PATH_H_

#include <string>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/path/path_edge.h"
#include "prof/path/what_if.h"

namespace oplens::prof {

class Run;

inline constexpr TraceNeeds kCriticalPathNeeds = {TracePart::kWaitEvents, TracePart::kLongCalls};

class PathTaker {
 public:
  virtual ~PathTaker() = default;
  virtual void TakeEdge(const PathEdge& edge) = 0;
  /// All edges of a step have been passed.
  virtual void TakeStep(const StepPath& path) = 0;
};

/// Finds the critical path of each step of a run (docs/views_critical_path.md), in order: the
/// longest path through the dependencies of the step's moments (StepGraph), from its start to its
/// end. Records in `what_if` which of its changes matched.
///
/// O(n log n) for n ranges, API calls and items of work; temporarily about 40 bytes per item of
/// work and 120 more per item of the largest step.
void FindCriticalPaths(const Run& run, WhatIf* what_if, PathTaker* taker);

/// All paths at once: there may be ten edges per item of work.
std::vector<StepPathEdges> CriticalPathsOf(const Run& run, WhatIf what_if = {});

/// The name of an edge's subject: the operator, API call or kernel (in full); "" for kNothing.
std::string PathNameOf(const Run& run, const PathSubject& subject);
/// The range of the operator that launched a subject's work; kNoItem: none did, or the subject is
/// no work.
uint32_t PathOpOf(const Run& run, const PathSubject& subject);
/// A number that is equal for subjects whose name comes from the same text; < 2^36.
int64_t PathNameKeyOf(const Run& run, const PathSubject& subject);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_CRITICAL_PATH_H_
