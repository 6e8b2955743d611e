#include "record/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/write_all.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Throw(const fs::path& file, int error_number) {
  throw Error(file.string(), fmt::format("cannot be written: {}", std::strerror(error_number)),
              "free some space or choose another place with -o");
}

[[noreturn]] void ThrowIsThere(const fs::path& name) {
  throw Error(name.string(), "is there already",
              "move it away, or replace it with `record -f --recover`");
}

/// Fails with EEXIST if the name exists. On file systems without RENAME_NOREPLACE, creates an empty
/// file exclusively and replaces it.
int RenameToNew(const char* complete, const char* name) {
  if (::renameat2(AT_FDCWD, complete, AT_FDCWD, name, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  const int claim = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (claim < 0) return -1;
  ::close(claim);
  if (::rename(complete, name) == 0) return 0;
  const int error_number = errno;
  ::unlink(name);
  errno = error_number;
  return -1;
}

}  // namespace

void SyncPath(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) Throw(path, errno);
  const int result = ::fsync(fd);
  const int error_number = errno;
  ::close(fd);
  // Some file systems cannot sync folders.
  if (result != 0 && error_number != EINVAL) Throw(path, error_number);
}

void WriteDurably(const fs::path& file, std::string_view bytes) {
  const fs::path partial = file.string() + ".new";
  ::unlink(partial.c_str());
  const int fd = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) Throw(file, errno);
  const bool written = WriteAll(fd, bytes) && ::fsync(fd) == 0;
  const int error_number = errno;
  ::close(fd);
  if (!written) {
    ::unlink(partial.c_str());
    Throw(file, error_number);
  }
  if (::rename(partial.c_str(), file.c_str()) != 0) Throw(file, errno);
  SyncPath(file.parent_path());
}

void CheckPlace(const fs::path& name, Replace replace) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(name, error);
  if (!fs::exists(status)) return;
  if (!fs::is_symlink(status) && !fs::is_regular_file(status)) {
    throw Error(name.string(), "is not a regular file, so no database can take its place",
                "move it away, or choose another name");
  }
  if (replace == Replace::kNothing) ThrowIsThere(name);
}

void PutInPlace(const fs::path& complete, const fs::path& name, Replace replace) {
  const int result = replace == Replace::kFile ? ::rename(complete.c_str(), name.c_str())
                                               : RenameToNew(complete.c_str(), name.c_str());
  if (result != 0 && errno == EEXIST) ThrowIsThere(name);
  if (result != 0) {
    throw Error(name.string(), fmt::format("cannot be written: {}", std::strerror(errno)),
                "check the permissions of its folder");
  }
  SyncPath(name.parent_path());
}

}  // namespace oplens::record
