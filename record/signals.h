#ifndef OPLENS_RECORD_SIGNALS_H_
#define OPLENS_RECORD_SIGNALS_H_

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>

namespace oplens::record {

/// A process beside this one in its process group that does nothing but take signals. What it gets
/// too was sent to the whole group, be it by the terminal or by kill; nothing else tells that. It
/// ends with this process.
class GroupWitness {
 public:
  /// Forks. Where that fails there is no witness.
  GroupWitness();
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;

  /// -1: there is none.
  pid_t process_id() const { return process_id_; }

  /// Whether the signal that just came, `info`, was sent to the group. Without a witness it counts
  /// as that when the system sent it, which is the terminal's way.
  bool Saw(const siginfo_t& info);

 private:
  bool Ask(int number, bool* saw);

  pid_t process_id_ = -1;
  int socket_ = -1;
};

/// Signals as events: while one lives, SIGCHLD and all signals that by default end a process do
/// nothing to this one by themselves, but for those that tell of a fault of its own, SIGPIPE and
/// SIGXFSZ. Make it before the first thread and child.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  struct Signal {
    int number;
    /// It was sent to the whole process group, by the terminal (Ctrl-C) or by kill.
    bool of_group;
  };
  /// The next signal, or none within `timeout`.
  std::optional<Signal> Wait(std::chrono::milliseconds timeout);

  /// A child of this process which is none of the program's; -1: there is none.
  pid_t witness() const { return witness_->process_id(); }

 private:
  sigset_t taken_{};
  sigset_t before_{};
  struct sigaction child_before_ {};
  std::optional<GroupWitness> witness_;  // It inherits the mask.
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SIGNALS_H_
