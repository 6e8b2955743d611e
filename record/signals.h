#ifndef OPLENS_RECORD_SIGNALS_H_
#define OPLENS_RECORD_SIGNALS_H_

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>

namespace oplens::record {

/// A process in this one's process group that only receives signals. A signal that both get was
/// sent to the whole group, by the terminal or by kill; nothing else reveals that. It ends with
/// this process.
class GroupProbe {
 public:
  /// Forks. If that fails, there is no witness.
  GroupProbe();
  ~GroupProbe();
  GroupProbe(const GroupProbe&) = delete;
  GroupProbe& operator=(const GroupProbe&) = delete;

  /// -1: none.
  pid_t process_id() const { return process_id_; }

  /// Whether the signal `info` was sent to the group. Without a witness: whether the system sent
  /// it, as the terminal does.
  bool Saw(const siginfo_t& info);

 private:
  bool Ask(int number, bool* saw);

  pid_t process_id_ = -1;
  int socket_ = -1;
};

/// Receives signals as events: while this object lives, SIGCHLD and all signals that end a process
/// by default have no other effect, except those for faults of this process, SIGPIPE and SIGXFSZ.
/// Create it before the first thread and child.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  struct Signal {
    int number;
    /// Sent to the whole process group, by the terminal (Ctrl-C) or by kill.
    bool of_group;
  };
  /// The next signal; nullopt if none comes within `timeout`.
  std::optional<Signal> Wait(std::chrono::milliseconds timeout);

  /// The witness, a child that is not the program's; -1: none.
  pid_t witness() const { return witness_->process_id(); }

 private:
  sigset_t taken_{};
  sigset_t before_{};
  struct sigaction child_before_ {};
  std::optional<GroupProbe> witness_;  // It inherits the signal mask.
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SIGNALS_H_
