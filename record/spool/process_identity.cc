#include "record/spool/process_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): as C has it, without a C++ runtime
#include <sys/stat.h>
#include <unistd.h>

namespace oplens::record {
namespace {

/// From /proc/PID/stat.
struct Status {
  uint64_t start_ticks = 0;
  bool has_ended = true;
};

/// Reads the beginning of a file, zero-terminated. False: it cannot be read.
bool ReadText(const char* path, char* out, size_t size) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = 0;
  do {
    got = read(file, out, size - 1);
  } while (got < 0 && errno == EINTR);
  close(file);
  if (got < 0) return false;
  out[got] = '\0';
  return true;
}

/// False: no such process, or no /proc.
bool ReadStatus(const char* folder, Status* status) noexcept {
  char path[64];
  char text[1024];
  snprintf(path, sizeof path, "%s/stat", folder);
  if (!ReadText(path, text, sizeof text)) return false;
  // The program's name is in brackets and may contain any byte.
  const char* at = strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return false;
  constexpr int kStateField = 3;
  constexpr int kThreadsField = 20;
  constexpr int kStartField = 22;
  constexpr int kMemoryField = 23;
  at += 2;
  const char state = *at;
  uint64_t threads = 0;
  uint64_t memory_bytes = 0;
  for (int field = kStateField; field <= kMemoryField; ++field) {
    if (field == kThreadsField) threads = strtoull(at, nullptr, 10);
    if (field == kStartField) status->start_ticks = strtoull(at, nullptr, 10);
    if (field == kMemoryField) memory_bytes = strtoull(at, nullptr, 10);
    at = strchr(at, ' ');
    if (at == nullptr) break;
    ++at;
  }
  // An ending process frees its memory before it becomes a zombie. A process whose first thread has
  // ended looks the same.
  const bool first_ended = state == 'Z' || state == 'X' || memory_bytes == 0;
  status->has_ended = first_ended && threads <= 1;
  return true;
}

uint64_t NamespaceOf(const char* folder) noexcept {
  char path[64];
  snprintf(path, sizeof path, "%s/ns/pid", folder);
  struct stat facts = {};
  return stat(path, &facts) == 0 ? static_cast<uint64_t>(facts.st_ino) : 0;
}

}  // namespace

bool IsSameProcess(const ProcessIdentity& a, const ProcessIdentity& b) noexcept {
  const auto agree = [](uint64_t x, uint64_t y) { return x == 0 || y == 0 || x == y; };
  return a.process_id == b.process_id && agree(a.pid_namespace, b.pid_namespace) &&
         agree(a.start_ticks, b.start_ticks);
}

ProcessIdentity OwnIdentity() noexcept {
  Status status;
  ReadStatus("/proc/self", &status);
  return {getpid(), NamespaceOf("/proc/self"), status.start_ticks};
}

ProcessIdentity IdentityOf(int32_t process_id) noexcept {
  char folder[32];
  snprintf(folder, sizeof folder, "/proc/%d", process_id);
  Status status;
  if (!ReadStatus(folder, &status) || status.has_ended) return {};
  return {process_id, NamespaceOf(folder), status.start_ticks};
}

void FormatIdentity(const ProcessIdentity& identity, char* out, size_t size) noexcept {
  snprintf(out, size, "%d %llu %llu", identity.process_id,
           static_cast<unsigned long long>(identity.pid_namespace),
           static_cast<unsigned long long>(identity.start_ticks));
}

ProcessIdentity ParseIdentity(const char* text) noexcept {
  char* end = nullptr;
  ProcessIdentity identity;
  identity.process_id = static_cast<int32_t>(strtol(text, &end, 10));
  identity.pid_namespace = strtoull(end, &end, 10);
  identity.start_ticks = strtoull(end, &end, 10);
  return identity;
}

}  // namespace oplens::record
