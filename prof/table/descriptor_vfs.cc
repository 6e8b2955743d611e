#include "prof/table/descriptor_vfs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace oplens::prof {
namespace {

/// What SQLite keeps of the open file. Its first member is SQLite's, as in all of its file systems.
struct DescriptorFile {
  sqlite3_file base;
  int fd;
};

int FdOf(sqlite3_file* file) { return reinterpret_cast<DescriptorFile*>(file)->fd; }

int CloseNothing(sqlite3_file*) { return SQLITE_OK; }

int ReadFd(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t n = ::pread(FdOf(file), bytes, static_cast<size_t>(size), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SQLITE_IOERR_READ;
    if (n == 0) {
      std::memset(bytes, 0, static_cast<size_t>(size));  // SQLite asks for that.
      return SQLITE_IOERR_SHORT_READ;
    }
    bytes += n;
    offset += n;
    size -= static_cast<int>(n);
  }
  return SQLITE_OK;
}

int WriteFd(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  const auto* bytes = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t n = ::pwrite(FdOf(file), bytes, static_cast<size_t>(size), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    bytes += n;
    offset += n;
    size -= static_cast<int>(n);
  }
  return SQLITE_OK;
}

int TruncateFd(sqlite3_file* file, sqlite3_int64 size) {
  return ::ftruncate(FdOf(file), size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

int SyncNothing(sqlite3_file*, int) { return SQLITE_OK; }

int SizeOfFd(sqlite3_file* file, sqlite3_int64* size) {
  struct stat info {};
  if (::fstat(FdOf(file), &info) != 0) return SQLITE_IOERR_FSTAT;
  *size = info.st_size;
  return SQLITE_OK;
}

// Nobody else can open a file without a name.
int LockNothing(sqlite3_file*, int) { return SQLITE_OK; }

int SayUnlocked(sqlite3_file*, int* locked) {
  *locked = 0;
  return SQLITE_OK;
}

int KnowNoControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }

int SectorBytes(sqlite3_file*) { return 4096; }

int NoCharacteristics(sqlite3_file*) { return 0; }

constexpr sqlite3_io_methods kFdMethods = {
    .iVersion = 1,
    .xClose = CloseNothing,
    .xRead = ReadFd,
    .xWrite = WriteFd,
    .xTruncate = TruncateFd,
    .xSync = SyncNothing,
    .xFileSize = SizeOfFd,
    .xLock = LockNothing,
    .xUnlock = LockNothing,
    .xCheckReservedLock = SayUnlocked,
    .xFileControl = KnowNoControl,
    .xSectorSize = SectorBytes,
    .xDeviceCharacteristics = NoCharacteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int KeepPath(sqlite3_vfs*, const char* path, int size, char* full) {
  if (std::strlen(path) >= static_cast<size_t>(size)) return SQLITE_CANTOPEN;
  std::strcpy(full, path);  // NOLINT: it fits.
  return SQLITE_OK;
}

/// No journal lies beside it.
int FindNothing(sqlite3_vfs*, const char*, int, int* found) {
  *found = 0;
  return SQLITE_OK;
}

}  // namespace

/// Begins with SQLite's part, by which SQLite names it.
struct DescriptorVfs::System {
  sqlite3_vfs base;
  sqlite3_vfs* others;  // For files that are not the database.
  int fd;
};

DescriptorVfs::DescriptorVfs(int fd) : name_(fmt::format("oplens-fd-{}", fd)) {
  sqlite3_vfs* const others = sqlite3_vfs_find(nullptr);
  system_ = std::make_unique<System>(System{*others, others, fd});
  sqlite3_vfs& own = system_->base;
  own.iVersion = 1;
  own.szOsFile = std::max(others->szOsFile, static_cast<int>(sizeof(DescriptorFile)));
  own.zName = name_.c_str();
  own.pNext = nullptr;
  own.xOpen = Open;
  own.xAccess = FindNothing;
  own.xFullPathname = KeepPath;
  sqlite3_vfs_register(&own, 0);
}

DescriptorVfs::~DescriptorVfs() { sqlite3_vfs_unregister(&system_->base); }

int DescriptorVfs::Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                        int* flags_out) {
  const auto* system = reinterpret_cast<System*>(vfs);
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) {
    return system->others->xOpen(system->others, path, file, flags, flags_out);
  }
  auto* own = reinterpret_cast<DescriptorFile*>(file);
  own->base.pMethods = &kFdMethods;
  own->fd = system->fd;
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

}  // namespace oplens::prof
