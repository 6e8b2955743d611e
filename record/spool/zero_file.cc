#include "record/spool/zero_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace oplens::record {
namespace {

// Written in small pieces: a file system that keeps the data of one call in one large page of the
// cache would search all of it on the first touch of each small page.
constexpr size_t kZeroBytes = 64 * 1024;
// In the library's zero pages: takes no memory.
const unsigned char g_zeros[kZeroBytes] = {};

/// A write beyond the limit would kill the program.
bool WithinFileLimit(size_t bytes) noexcept {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

/// A copy-on-write file system would need new space when a page is touched. Other file systems do
/// not know the flag.
void ForbidCopyOnWrite(int file) noexcept {
  int flags = 0;
  if (ioctl(file, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_NOCOW_FL;
  ioctl(file, FS_IOC_SETFLAGS, &flags);
}

}  // namespace

int MakeEmptyFile(const char* path, size_t bytes) noexcept {
  if (!WithinFileLimit(bytes)) {
    errno = EFBIG;
    return -1;
  }
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file >= 0) ForbidCopyOnWrite(file);
  return file;
}

// Writes zeros instead of extending the file: touching a mapped page without disk space would kill
// the program.
bool FillWithZeros(int file, size_t bytes) noexcept {
  for (size_t done = 0; done < bytes;) {
    const size_t size = bytes - done < kZeroBytes ? bytes - done : kZeroBytes;
    const ssize_t written = pwrite(file, g_zeros, size, static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

}  // namespace oplens::record
