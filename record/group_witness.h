#ifndef OPLENS_RECORD_GROUP_WITNESS_H_
#define OPLENS_RECORD_GROUP_WITNESS_H_

#include <sys/types.h>

#include <csignal>

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

}  // namespace oplens::record

#endif  // OPLENS_RECORD_GROUP_WITNESS_H_
