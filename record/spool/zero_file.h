#ifndef OPLENS_RECORD_SPOOL_ZERO_FILE_H_
#define OPLENS_RECORD_SPOOL_ZERO_FILE_H_

#include <cstddef>

// Files of the spool as they are before something is in them: of zeros, with all their disk space.

namespace oplens::record {

/// Makes the empty file `path`, which must not be there, for `bytes` bytes. A descriptor; -1 with
/// errno set, and no file left.
int MakeEmptyFile(const char* path, size_t bytes) noexcept;

/// Writes the zeros; false with errno set.
bool FillWithZeros(int file, size_t bytes) noexcept;

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_ZERO_FILE_H_
