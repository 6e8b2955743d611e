#ifndef OPLENS_RECORD_INJECT_MAPPED_FILE_H_
#define OPLENS_RECORD_INJECT_MAPPED_FILE_H_

#include <cstddef>

namespace oplens::record::inject {

enum class FileLock {
  kNone,
  kWhileMapped,  ///< Others see the file locked until it is unmapped, be it by the process's end.
};

/// Makes the file `path` of `bytes` zero bytes, with all its disk space, and maps it. Null, with
/// errno set and no file left, when that cannot be done. No descriptor stays open. A file system
/// without locks leaves it unlocked.
void* MakeMappedFile(const char* path, size_t bytes, FileLock lock = FileLock::kNone) noexcept;

/// Maps such a file that another process has made. Null where it is not as it should be.
void* MapReadyFile(const char* path, size_t bytes) noexcept;

/// Memory from the system, zero; null when there is none. What the program's allocator is asked
/// for shall be the program's own.
void* MakeMemory(size_t bytes) noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_MAPPED_FILE_H_
