// libfull_disk.so, for LD_PRELOAD: pwrite says that the disk is full, from the call numbered
// FULL_DISK_FROM (the first is 0) to the one before FULL_DISK_TO. Files that another process made
// cannot be taken over: what fails would hang on when there are some.

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

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

extern "C" int rename(const char*, const char*) noexcept {
  errno = ENOSPC;
  return -1;
}
