#ifndef OPLENS_RECORD_LAUNCHER_H_
#define OPLENS_RECORD_LAUNCHER_H_

#include <sys/types.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace oplens::record {

/// What a process inherits and `record` changes for itself, kept to be given to the program
/// unchanged: the signal mask, the signals that are ignored, closed standard streams.
class Inherited {
 public:
  /// Takes note of the state of this process. Call it first of all in main.
  Inherited();
  /// Puts the state back. Called between fork and exec: does nothing that is unsafe there.
  void Restore() const noexcept;

 private:
  /// Those that `record` sets for itself.
  static constexpr std::array<int, 3> kSignals = {SIGPIPE, SIGXFSZ, SIGCHLD};

  sigset_t mask_{};
  std::array<struct sigaction, kSignals.size()> actions_{};
  std::array<bool, 3> closed_{};  // Standard input, output, error.
};

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
