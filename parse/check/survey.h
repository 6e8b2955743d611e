#ifndef OPLENS_PARSE_CHECK_SURVEY_H_
#define OPLENS_PARSE_CHECK_SURVEY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parse/model/kernel_record.h"
#include "parse/model/trace.h"

namespace oplens::parse {

class Joined;
struct Surroundings;

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

/// What a predicate of a column may look at. The members beside the record are true of what the
/// kernel itself or, of a kernel of the backward pass, a forward op that may have made its node
/// has: whether it did, only pricing finds out.
struct KernelFacts {
  const KernelRecord& record;
  bool op = false;
  bool annotation = false;  ///< An annotated call,
  bool arguments = false;   ///< with arguments.
  bool layer = false;
  bool stack = false;
};

/// What is known of each kernel.
class FactFinder {
 public:
  /// Looks at every kernel once: backward kernels may come before their forward op.
  explicit FactFinder(const Joined& joined);
  /// Of a kernel by its number, with its record.
  KernelFacts FactsOf(size_t kernel, const KernelRecord& record);

 private:
  using Bits = uint8_t;

  /// What its own launch has around it, or the forward op that launched nothing and made its node.
  Bits OwnBits(size_t kernel);
  Bits BitsOf(const Surroundings& around);
  bool HasArguments(StringId call);

  const Joined& joined_;
  enum class Arguments : uint8_t { kUnread, kNone, kSome };
  std::vector<Arguments> arguments_;  // Of calls, by StringId.
  std::vector<Bits> forwards_;        // Of forward ops, by number.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHECK_SURVEY_H_
