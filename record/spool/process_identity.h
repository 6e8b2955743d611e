#ifndef OPLENS_RECORD_SPOOL_PROCESS_IDENTITY_H_
#define OPLENS_RECORD_SPOOL_PROCESS_IDENTITY_H_

#include <compare>
#include <cstddef>
#include <cstdint>

// Also used inside recorded programs: nothing here allocates, throws, or needs the C++ runtime.

namespace oplens::record {

/// Identifies a process uniquely: its process id alone may be reused, or exist in another PID
/// namespace (a container).
struct ProcessIdentity {
  int32_t process_id = 0;      ///< As the process itself sees it; 0: none.
  uint64_t pid_namespace = 0;  ///< Inode of /proc/PID/ns/pid; 0: unknown.
  uint64_t start_ticks = 0;    ///< Start in clock ticks since boot; 0: unknown.

  auto operator<=>(const ProcessIdentity&) const = default;
};

/// Unknown fields match anything.
bool IsSameProcess(const ProcessIdentity& a, const ProcessIdentity& b) noexcept;

ProcessIdentity OwnIdentity() noexcept;

/// The identity of the process with this id here; process id 0 if there is none or it has ended,
/// even as a zombie.
ProcessIdentity IdentityOf(int32_t process_id) noexcept;

/// "PROCESS NAMESPACE TICKS", for an environment variable; 64 bytes suffice.
void FormatIdentity(const ProcessIdentity& identity, char* out, size_t size) noexcept;
/// Parses such a text; missing fields become 0.
ProcessIdentity ParseIdentity(const char* text) noexcept;

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_PROCESS_IDENTITY_H_
