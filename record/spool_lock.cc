#include "record/spool_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

constexpr char kLockFile[] = "lock";

/// Whether the open file still has its name: a spool that is removed gives its lock up last.
bool HasName(int descriptor, const fs::path& path) {
  struct stat open_file {};
  struct stat named {};
  return ::fstat(descriptor, &open_file) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

}  // namespace

SpoolLock::SpoolLock(const fs::path& spool)
    : descriptor_(
          ::open((spool / kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  if (descriptor_ < 0) {
    throw Error(spool.string(), fmt::format("cannot be locked: {}", std::strerror(errno)),
                "check its permissions");
  }
  const bool busy = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!busy && HasName(descriptor_, spool / kLockFile)) return;
  ::close(descriptor_);
  throw Error(spool.string(), "belongs to a recording that still runs",
              "wait for its end, or choose another name with -o");
}

SpoolLock::~SpoolLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

SpoolLock::SpoolLock(SpoolLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

void SpoolLock::RemoveLocked(const fs::path& spool) {
  for (const fs::directory_entry& entry : fs::directory_iterator(spool)) {
    if (entry.path().filename() != kLockFile) fs::remove_all(entry.path());
  }
  fs::remove(spool / kLockFile);
  fs::remove(spool);
}

bool IsLocked(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  const bool locked = ::fcntl(descriptor, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  ::close(descriptor);
  return locked;
}

}  // namespace oplens::record
