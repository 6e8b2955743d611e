#ifndef OPLENS_PARSE_EXECUTION_EXECUTION_TRACES_H_
#define OPLENS_PARSE_EXECUTION_EXECUTION_TRACES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parse/model/reason.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// Execution traces of PyTorch, one a process: what emit_nvtx does not tell of the ops in a
/// profile.
class ExecutionTraces {
 public:
  /// Looks at the beginning of each file. Throws Error where one cannot be read, or is no execution
  /// trace. `profile_count`: of the run.
  ExecutionTraces(const std::vector<std::string>& paths, size_t profile_count);

  /// Completes a profile that was read and not yet correlated. A range whose text tells the number
  /// of its call (", op_id = 17") becomes that of an operator, with data types, shapes, values and
  /// the forward thread, if the file of its process has that number and agrees in name, sequence
  /// number and sizes. Others stay as they are, and are counted.
  void Complete(Trace* trace, Diagnostics* diagnostics);

  /// After the last profile: a sentence for each file of which no profile had a range.
  std::vector<std::string> Unused() const;

 private:
  struct File {
    std::string path;
    int64_t process_id = kUnknownId;
    int64_t nodes = 0;        ///< With a number, of the last time that it was read.
    bool of_process = false;  ///< A profile has ranges of its process.
    bool used = false;        ///< A range was completed.
  };

  std::vector<File> files_;
  size_t profile_count_;
  bool any_ranges_ = false;  // Some profile had ranges with numbers.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_EXECUTION_EXECUTION_TRACES_H_
