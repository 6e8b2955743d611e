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

struct TraceSurvey {
  int64_t kernel_ns = 0;  ///< Sum of durations; saturates.
  int64_t first_kernel_ns = 0;
  int64_t last_kernel_ns = 0;  ///< End of the last one; equal to the first if none is timed.
  int64_t graph_kernels = 0;
  int64_t placed_graph_kernels = 0;  ///< Those whose capture is in the file.
  int64_t collectives = 0;           ///< Communication kernels.
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

/// What a predicate of a column may inspect. The members beside the record are true if the kernel
/// has it itself or, for a kernel of the backward pass, if a forward op that may have made its node
/// has it; only pricing shows whether that op did.
struct KernelFacts {
  const KernelRecord& record;
  bool op = false;
  bool annotation = false;  ///< An annotated call,
  bool arguments = false;   ///< with arguments.
  bool layer = false;
  bool stack = false;
};

class FactFinder {
 public:
  /// Scans all kernels first: backward kernels may come before their forward op.
  explicit FactFinder(const Joined& joined);
  /// `record`: of the kernel with that index.
  KernelFacts FactsOf(size_t kernel, const KernelRecord& record);

 private:
  using Bits = uint8_t;

  /// Facts around its own launch, or around the forward op that launched nothing and made its node.
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
