#ifndef OPLENS_RECORD_INJECT_MAPPED_FILE_H_
#define OPLENS_RECORD_INJECT_MAPPED_FILE_H_

#include <cstddef>

namespace oplens::record::inject {

/// Makes the file `path` of `bytes` zero bytes, with all its disk space, and maps it. Null, with
/// errno set and no file left, when that cannot be done. No descriptor stays open.
void* MakeMappedFile(const char* path, size_t bytes) noexcept;

/// Memory from the system, zero; null when there is none. What the program's allocator is asked
/// for shall be the program's own.
void* MakeMemory(size_t bytes) noexcept;

}  // namespace oplens::record::inject

#endif  // OPLENS_RECORD_INJECT_MAPPED_FILE_H_
