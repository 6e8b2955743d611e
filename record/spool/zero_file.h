#ifndef OPLENS_RECORD_SPOOL_ZERO_FILE_H_
#define OPLENS_RECORD_SPOOL_ZERO_FILE_H_

#include <cstddef>

// Zero-filled files of the spool with all their disk space allocated.

namespace oplens::record {

/// Creates the empty file `path`, which must not exist, for `bytes` bytes. Returns a descriptor; -1
/// on failure, with errno set and no file left.
int MakeEmptyFile(const char* path, size_t bytes) noexcept;

/// Writes the zeros; returns false with errno set on failure.
bool FillWithZeros(int file, size_t bytes) noexcept;

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_ZERO_FILE_H_
