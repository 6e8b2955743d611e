#ifndef OPLENS_PARSE_CHECK_SURVEY_H_
#define OPLENS_PARSE_CHECK_SURVEY_H_

#include <cstdint>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parse/model/kernel_record.h"
#include "parse/model/trace.h"
#include "parse/records/correlate.h"

namespace oplens::parse {

/// Counts of what a trace holds.
struct TraceSurvey {
  int64_t kernel_ns = 0;  ///< Sum of durations; saturates.
  int64_t first_kernel_ns = 0;
  int64_t last_kernel_ns = 0;  ///< End of the last one; equal to the first where none is timed.
  int64_t graph_kernels = 0;
  int64_t placed_graph_kernels = 0;  ///< Of them, those whose capture is in the file.
  int64_t collectives = 0;           ///< Kernels of communication.
  int64_t open_ranges = 0;
  int64_t markers = 0;
  int64_t annotations = 0;
  int64_t ops = 0;  ///< Calls of operators and annotated calls.
  int64_t ops_with_arguments = 0;
  int64_t numbered = 0;  ///< Ranges with a sequence number.
  int64_t layers = 0;    ///< Modules and "layer:" ranges.
  int64_t stacks = 0;    ///< Call stacks recorded with ops.
  int64_t frames = 0;    ///< Calls of Python functions.
  int64_t steps = 0;
};

TraceSurvey SurveyTrace(const Trace& trace);

/// What a predicate of a column may look at.
struct KernelFacts {
  const KernelRecord& record;
  bool arguments = false;  ///< Of its op, or of the forward op of its backward node.
};

/// Finds out which kernels have an op with arguments. Texts of records must live as long as it
/// does, as those of a Correlation do.
class ArgumentFinder {
 public:
  /// Looks at every kernel once: backward kernels may come before their forward op.
  explicit ArgumentFinder(const Correlation& kernels);
  bool HasArguments(const KernelRecord& record);

 private:
  bool InMarkers(const KernelRecord& record);

  std::unordered_map<const char*, bool> texts_;  // Interned texts, by their place.
  std::set<int64_t> sequences_;                  // Of forward ops with arguments.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHECK_SURVEY_H_
