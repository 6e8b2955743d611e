#ifndef OPLENS_RECORD_INHERITED_H_
#define OPLENS_RECORD_INHERITED_H_

#include <array>
#include <csignal>

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

}  // namespace oplens::record

#endif  // OPLENS_RECORD_INHERITED_H_
