#ifndef OPLENS_RECORD_INJECT_MAPPED_FILE_H_
#define OPLENS_RECORD_INJECT_MAPPED_FILE_H_

#include <cstddef>

namespace oplens::record::inject {

enum class FileLock {
  kNone,
  kWhileMapped,  ///< Locked for others until it is unmapped, at the latest by the end of the
                 ///< process.
};

/// Creates the file `path` with `bytes` zero bytes and all its disk space, and maps it. Returns
/// null on failure, with errno set and no file left. Keeps no descriptor open. File systems without
/// locks leave it unlocked.
void* MakeMappedFile(const char* path, size_t bytes, FileLock lock = FileLock::kNone) noexcept;

/// Maps such a file made by another process; null if there is none, or it is not as expected.
void* MapReadyFile(const char* path, size_t bytes) noexcept;

/// Zeroed memory from the system; null if there is none. Leaves the program's allocator alone.
void* MakeMemory(size_t bytes) noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_MAPPED_FILE_H_
