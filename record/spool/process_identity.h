#ifndef OPLENS_RECORD_SPOOL_PROCESS_IDENTITY_H_
#define OPLENS_RECORD_SPOOL_PROCESS_IDENTITY_H_

#include <compare>
#include <cstddef>
#include <cstdint>

// Used by the program `record` and inside recorded programs: nothing here allocates or throws, and
// no C++ runtime library is needed.

namespace oplens::record {

/// What tells a process from every other: its number may be another's too, in another namespace of
/// processes (a container), or later.
struct ProcessIdentity {
  int32_t process_id = 0;      ///< As the process itself sees it; 0: there is none.
  uint64_t pid_namespace = 0;  ///< Inode of /proc/PID/ns/pid; 0: not known.
  uint64_t start_ticks = 0;    ///< Start, in clock ticks since the machine's; 0: not known.

  auto operator<=>(const ProcessIdentity&) const = default;
};

/// What is not known of one is taken to be as in the other.
bool IsSameProcess(const ProcessIdentity& a, const ProcessIdentity& b) noexcept;

/// Of the calling process.
ProcessIdentity OwnIdentity() noexcept;

/// Of the process that has this number here. Process id 0: none has, or it has ended, be it still
/// in the system's table.
ProcessIdentity IdentityOf(int32_t process_id) noexcept;

/// "PROCESS NAMESPACE TICKS", for a variable of the environment; 64 bytes are enough.
void FormatIdentity(const ProcessIdentity& identity, char* out, size_t size) noexcept;
/// Of such a text; what is missing is 0.
ProcessIdentity ParseIdentity(const char* text) noexcept;

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_PROCESS_IDENTITY_H_
