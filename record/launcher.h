#ifndef OPLENS_RECORD_LAUNCHER_H_
#define OPLENS_RECORD_LAUNCHER_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/inherited.h"

namespace oplens::record {

/// Names and values.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// The program that is recorded, a child process. It starts in two steps: its process id is known
/// before it runs, since names of files depend on it.
class Launcher {
 public:
  /// Forks; the child waits. Throws Error when there is no process to be had.
  Launcher(const std::vector<std::string>& command, const Inherited& inherited);
  /// A child that was not started ends.
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  pid_t process_id() const { return process_id_; }

  /// Executes the program with `variables` added to the environment. It is found as a shell finds
  /// it and has the streams, process group, signal mask and ignored signals that `record` was
  /// given. Returns 0, or the errno of the failed start: the child has ended then.
  int Start(const Environment& variables);

 private:
  pid_t process_id_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  bool started_ = false;
};

/// Exit code of a shell for a program that could not be started: 127 not found, else 126.
int ExitCodeOfFailedStart(int error_number);

/// Exit code for a status of waitpid: the program's own, or 128 + the signal that killed it.
int ExitCodeOf(int wait_status);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_LAUNCHER_H_
