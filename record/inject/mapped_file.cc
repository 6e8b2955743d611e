#include "record/inject/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace oplens::record::inject {
namespace {

// One write a piece: a file system that keeps what one call wrote in one large page of the cache
// would else look through all of it at the first touch of each of its small ones.
constexpr size_t kZeroBytes = 64 * 1024;
// In the library's zero pages: takes no memory.
const unsigned char g_zeros[kZeroBytes] = {};

/// A write beyond the limit would kill the program.
bool WithinFileLimit(size_t bytes) noexcept {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

/// Writes zeros rather than making the file longer: a page of a mapped file for which the disk has
/// no room would kill the program when it is touched.
bool WriteZeros(int file, size_t bytes) noexcept {
  for (size_t done = 0; done < bytes;) {
    const size_t size = bytes - done < kZeroBytes ? bytes - done : kZeroBytes;
    const ssize_t written = pwrite(file, g_zeros, size, static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

/// Maps the file so that no page of it faults when it is written to: a fault a page costs several
/// times as much as all of them at once.
void* MapForWriting(int file, size_t bytes) noexcept {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE of Linux 5.14.
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED || madvise(mapped, bytes, kPopulateWrite) == 0) return mapped;
  // An older system: each page is touched when it comes to it. Any other error would be a signal
  // then.
  if (errno == EINVAL) return mapped;
  const int error = errno;
  munmap(mapped, bytes);
  errno = error;
  return MAP_FAILED;
}

/// Keeps the pages where they are: a file system that writes copies instead would need room again
/// when a page is touched. Others do not know the flag.
void ForbidCopyOnWrite(int file) noexcept {
  int flags = 0;
  if (ioctl(file, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_NOCOW_FL;
  ioctl(file, FS_IOC_SETFLAGS, &flags);
}

/// The lock belongs to the open file, which the mapping keeps open without a descriptor. (Not so on
/// overlayfs, whose mappings are of another file.)
void LockWhileOpen(int file) noexcept {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  fcntl(file, F_OFD_SETLK, &whole);
}

}  // namespace

void* MakeMappedFile(const char* path, size_t bytes, FileLock lock) noexcept {
  if (!WithinFileLimit(bytes)) {
    errno = EFBIG;
    return nullptr;
  }
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  ForbidCopyOnWrite(file);
  if (lock == FileLock::kWhileMapped) LockWhileOpen(file);
  void* mapped = MAP_FAILED;
  if (WriteZeros(file, bytes)) mapped = MapForWriting(file, bytes);
  const int error = errno;
  close(file);
  if (mapped != MAP_FAILED) return mapped;
  unlink(path);
  errno = error;
  return nullptr;
}

void* MakeMemory(size_t bytes) noexcept {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace oplens::record::inject
