#ifndef OPLENS_RECORD_SIGNALS_H_
#define OPLENS_RECORD_SIGNALS_H_

#include <chrono>
#include <csignal>
#include <optional>

namespace oplens::record {

/// Signals as events: while one lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and
/// SIGCHLD do nothing to this process by themselves. Make it before the first thread and child.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  struct Signal {
    int number;
    /// The terminal sent it (Ctrl-C), and so to the program too: they are of one process group.
    bool of_terminal;
  };
  /// The next signal, or none within `timeout`.
  std::optional<Signal> Wait(std::chrono::milliseconds timeout);

 private:
  sigset_t taken_{};
  sigset_t before_{};
  struct sigaction child_before_ {};
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SIGNALS_H_
