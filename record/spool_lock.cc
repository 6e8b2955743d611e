#include "record/spool_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

constexpr char kLockFile[] = "lock";

bool IsSameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether the open file still has its name: removing a spool deletes the lock last.
bool HasName(int descriptor, int folder) {
  struct stat open_file {};
  struct stat named {};
  return ::fstat(descriptor, &open_file) == 0 &&
         ::fstatat(folder, kLockFile, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         IsSameFile(open_file, named);
}

bool IsImageName(const std::string& name) {
  const size_t dot = name.find('.');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  };
  return dot != name.npos && is_number(std::string_view(name).substr(0, dot)) &&
         is_number(std::string_view(name).substr(dot + 1));
}

}  // namespace

bool IsOfSpool(const std::string& name) {
  constexpr std::string_view kParts[] = {".part", ".part-journal", ".part-wal", ".part-shm"};
  return name == kLockFile || name == "session" || name == "session.new" ||
         name.starts_with("temporary.") || IsImageName(name) ||
         std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return name.ends_with(part); });
}

SpoolLock::SpoolLock(const fs::path& spool)
    : path_(spool),
      folder_(::open(spool.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
  if (folder_ >= 0) {
    descriptor_ = ::openat(folder_, kLockFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  }
  if (descriptor_ < 0) {
    const int error_number = errno;
    if (folder_ >= 0) ::close(folder_);
    throw Error(spool.string(), fmt::format("cannot be locked: {}", std::strerror(error_number)),
                "check its permissions");
  }
  const bool busy = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!busy && HasName(descriptor_, folder_)) return;
  ::close(descriptor_);
  ::close(folder_);
  throw Error(spool.string(), "belongs to a recording that still runs",
              "wait for its end, or choose another name with -o");
}

SpoolLock::~SpoolLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (folder_ >= 0) ::close(folder_);
}

SpoolLock::SpoolLock(SpoolLock&& other) noexcept
    : path_(std::move(other.path_)),
      folder_(std::exchange(other.folder_, -1)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

void SpoolLock::Remove() const {
  // By descriptor: another folder or a link may have taken its name.
  const fs::path folder = fmt::format("/proc/self/fd/{}", folder_);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != kLockFile && IsOfSpool(name)) fs::remove_all(entry.path());
  }
  fs::remove(folder / kLockFile);
  struct stat locked {};
  struct stat named {};
  const bool is_it = ::fstat(folder_, &locked) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
                     IsSameFile(locked, named);
  if (is_it) fs::remove(path_);
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
