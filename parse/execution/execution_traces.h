#ifndef OPLENS_PARSE_EXECUTION_EXECUTION_TRACES_H_
#define OPLENS_PARSE_EXECUTION_EXECUTION_TRACES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// PyTorch's execution traces, one per process: what emit_nvtx does not record about ops.
class ExecutionTraces {
 public:
  /// Reads the beginning of each file. Throws Error if one cannot be read, or is no execution
  /// trace. `profile_count`: number of profiles in the run.
  ExecutionTraces(const std::vector<std::string>& paths, size_t profile_count);

  /// Completes a profile that was read and not yet correlated. A range with a call number in its
  /// text (", op_id = 17") becomes an operator's, with data types, shapes, values and the forward
  /// thread, if the file of its process has that number and agrees in name, sequence number and
  /// sizes. Counts the other ranges and leaves them unchanged.
  void Complete(Trace* trace, Diagnostics* diagnostics);

  /// Call after the last profile. Returns a sentence per file that completed no range.
  std::vector<std::string> Unused() const;

 private:
  struct File {
    std::string path;
    int64_t process_id = kUnknownId;
    int64_t nodes = 0;        ///< With a number, when it was read last.
    bool of_process = false;  ///< A profile has ranges of its process.
    bool used = false;        ///< A range was completed.
  };

  std::vector<File> files_;
  size_t profile_count_;
  bool any_ranges_ = false;  // A profile had ranges with call numbers.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_EXECUTION_EXECUTION_TRACES_H_
