#include "record/inject/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

namespace oplens::record::inject {
namespace {

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
  constexpr size_t kPieces = 16;
  for (size_t done = 0; done < bytes;) {
    iovec pieces[kPieces];
    int count = 0;
    for (size_t at = done; at < bytes && count < static_cast<int>(kPieces); ++count) {
      const size_t size = bytes - at < kZeroBytes ? bytes - at : kZeroBytes;
      pieces[count] = {const_cast<unsigned char*>(g_zeros), size};
      at += size;
    }
    const ssize_t written = pwritev(file, pieces, count, static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
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
  if (WriteZeros(file, bytes)) {
    mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  }
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
