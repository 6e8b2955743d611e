#include "record/inject/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/spool/zero_file.h"

namespace oplens::record::inject {
namespace {

/// Maps the file with all pages populated: one fault per page costs several times as much.
void* MapForWriting(int file, size_t bytes) noexcept {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE of Linux 5.14.
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED || madvise(mapped, bytes, kPopulateWrite) == 0) return mapped;
  // Older Linux: pages fault when touched. Any other error would become a signal then.
  if (errno == EINVAL) return mapped;
  const int error = errno;
  munmap(mapped, bytes);
  errno = error;
  return MAP_FAILED;
}

/// The lock belongs to the open file, which the mapping keeps open without a descriptor. (Not on
/// overlayfs, which maps a different file.)
void LockWhileOpen(int file) noexcept {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  fcntl(file, F_OFD_SETLK, &whole);
}

}  // namespace

void* MakeMappedFile(const char* path, size_t bytes, FileLock lock) noexcept {
  const int file = MakeEmptyFile(path, bytes);
  if (file < 0) return nullptr;
  if (lock == FileLock::kWhileMapped) LockWhileOpen(file);
  void* mapped = MAP_FAILED;
  if (FillWithZeros(file, bytes)) mapped = MapForWriting(file, bytes);
  const int error = errno;
  close(file);
  if (mapped != MAP_FAILED) return mapped;
  unlink(path);
  errno = error;
  return nullptr;
}

void* MapReadyFile(const char* path, size_t bytes) noexcept {
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return nullptr;
  struct stat facts;
  const bool fits = fstat(file, &facts) == 0 && facts.st_size == static_cast<off_t>(bytes);
  void* const mapped = fits ? MapForWriting(file, bytes) : MAP_FAILED;
  close(file);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

void* MakeMemory(size_t bytes) noexcept {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace oplens::record::inject
