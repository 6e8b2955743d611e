#ifndef OPLENS_PROF_PATH_CRITICAL_PATH_H_
#define OPLENS_PROF_PATH_CRITICAL_PATH_H_

#include <functional>
#include <string>
#include <string_view>

#include "parse/model/trace_needs.h"
#include "prof/path/path_edge.h"
#include "prof/path/what_if.h"
#include "prof/run/run.h"

namespace oplens::prof {

/// What a trace must hold for it.
inline constexpr TraceNeeds kCriticalPathNeeds = {TracePart::kWaitEvents, TracePart::kLongCalls};

/// Finds the critical path of each step of a run (docs/views_critical_path.md) and calls `take`
/// with it, in the order of the steps; what it gets is gone with the next. The longest path through
/// what the moments of the step depend on (StepGraph), from the beginning of the step to its end.
///
/// O(n log n) for n ranges, API calls and pieces of work; some 100 bytes a piece of work of the
/// largest step and 40 of any, until it returns.
void ForEachCriticalPath(const Run& run, const WhatIf& what_if,
                         const std::function<void(const StepPath&)>& take);

/// What an edge's subject is called: the operator, API call or kernel (in full); "" of nothing.
std::string PathNameOf(const Run& run, const PathSubject& subject);
/// The same number for subjects that have one name because they have one text; less than 2^36.
int64_t PathNameKeyOf(const Run& run, const PathSubject& subject);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_CRITICAL_PATH_H_
