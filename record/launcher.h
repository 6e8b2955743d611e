#ifndef OPLENS_RECORD_LAUNCHER_H_
#define OPLENS_RECORD_LAUNCHER_H_

#include <sys/types.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace oplens::record {

/// Inherited process state that `record` changes and the program must get unchanged: signal mask,
/// ignored signals, closed standard streams.
class Inherited {
 public:
  /// Captures the state. Call first in main.
  Inherited();
  /// Restores the state. Async-signal-safe: called between fork and exec.
  void Restore() const noexcept;

 private:
  /// Signals that `record` sets for itself.
  static constexpr std::array<int, 3> kSignals = {SIGPIPE, SIGXFSZ, SIGCHLD};

  sigset_t mask_{};
  std::array<struct sigaction, kSignals.size()> actions_{};
  std::array<bool, 3> closed_{};  // Standard input, output, error.
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// The recorded program, a child process. It is forked first and executed later, because file names
/// depend on its process id.
class Launcher {
 public:
  /// Forks; the child waits. Throws Error if no process can be created.
  Launcher(const std::vector<std::string>& command, const Inherited& inherited);
  /// Ends a child that was not started.
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  pid_t process_id() const { return process_id_; }

  /// Executes the program with `variables` added to the environment. Looks it up as a shell does,
  /// and restores the inherited state. Returns 0, or the errno of the failed start, after which the
  /// child has ended.
  int Start(const Environment& variables);

 private:
  pid_t process_id_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  bool started_ = false;
};

/// A shell's exit code for a program that could not be started: 127 not found, else 126.
int ExitCodeOfFailedStart(int error_number);

/// The exit code for a waitpid status: the program's own, or 128 + signal.
int ExitCodeOf(int wait_status);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_LAUNCHER_H_
