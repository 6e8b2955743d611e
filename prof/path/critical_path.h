#ifndef OPLENS_PROF_PATH_CRITICAL_PATH_H_
#define OPLENS_PROF_PATH_CRITICAL_PATH_H_

#include <bitset>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/path/path_edge.h"

namespace oplens::prof {

/// Changed times: a list of "scale(WHAT,FACTOR)", all applied together. WHAT is a word of
/// PathCauseWord (or the former word of one: "cpu_op"), otherwise the name of an operator, API call
/// or kernel, in which '*' stands for any characters and '?' for one; a name changes the time that
/// it runs, not the time that it waits. An operator's name includes the kernels, copies and memsets
/// that it launched itself. FACTOR is a decimal number >= 0; 0 removes the time. If several match,
/// their product counts.
class WhatIf {
 public:
  WhatIf() = default;
  /// Throws UsageError, with what was expected.
  explicit WhatIf(std::span<const std::string> texts);

  bool empty() const { return changes_.empty(); }
  /// The factor for time with a cause and a name; `op`: for work, the operator that launched it.
  double FactorOf(PathCause cause, std::string_view name, std::string_view op = {});

  /// The changes that matched nothing so far, as written.
  std::vector<std::string> Unfitted() const;
  /// Adds the matches of `other`, which is made of the same texts.
  void MergeFitted(const WhatIf& other);

 private:
  struct Change {
    std::bitset<kPathCauseCount> causes;
    std::string pattern;  // If there are no causes.
    double factor = 1;
    std::string text;
    bool fitted = false;
  };

  static Change Parse(std::string_view text);

  std::vector<Change> changes_;
};

/// Whether a text matches a pattern of '*' and '?'. O(text times pattern).
bool MatchesPattern(std::string_view text, std::string_view pattern);

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
/// O(n log n) for n ranges, API calls and items of work; temporarily 120 bytes per item of the
/// largest step, besides Run::host_moments() and stream_order(), about 40 per item of work.
void FindCriticalPaths(const Run& run, WhatIf* what_if, PathTaker* taker);

/// The name of an edge's subject: the operator, API call or kernel (in full); "" for kNothing.
std::string PathNameOf(const Run& run, const PathSubject& subject);
/// The range of the operator that launched a subject's work; kNoItem: none did, or the subject is
/// no work.
uint32_t PathOpOf(const Run& run, const PathSubject& subject);
/// A number that is equal for subjects whose name comes from the same text; < 2^36.
int64_t PathNameKeyOf(const Run& run, const PathSubject& subject);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_PATH_CRITICAL_PATH_H_
