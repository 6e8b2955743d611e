// libfull_disk.so, for LD_PRELOAD: pwrite says that the disk is full, from the call numbered
// FULL_DISK_FROM (the first is 0) to the one before FULL_DISK_TO. There are no rings, which
// `record` makes at its own time: what fails would hang on that.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

long Variable(const char* name, long otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atol(value);
}

std::atomic<long> g_calls{0};

}  // namespace

extern "C" ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  using Function = ssize_t (*)(int, const void*, size_t, off_t);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pwrite"));
  const long call = g_calls++;
  if (call >= Variable("FULL_DISK_FROM", 0) && call < Variable("FULL_DISK_TO", 1L << 60)) {
    errno = ENOSPC;
    return -1;
  }
  return next(file, bytes, count, offset);
}

extern "C" int open(const char* path, int flags, ...) {
  using Function = int (*)(const char*, int, ...);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "open"));
  if (std::strstr(path, "/ring.") != nullptr) {
    errno = ENOENT;
    return -1;
  }
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  return next(path, flags, mode);
}
