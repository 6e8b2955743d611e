#ifndef OPLENS_PARSE_SOURCE_NAMELESS_FILE_H_
#define OPLENS_PARSE_SOURCE_NAMELESS_FILE_H_

#include <cstdint>
#include <string>

#include "parse/source/byte_source.h"

namespace oplens::parse {

/// A temporary file without a name, readable only by its owner, in TMPDIR, else /var/tmp, else
/// /tmp. The system frees it when it is closed, however the program ends.
class NamelessFile {
 public:
  /// Throws Error about `for_whom`, an input, if no folder accepts one.
  explicit NamelessFile(std::string for_whom);
  ~NamelessFile();
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  void Write(const char* bytes, size_t size);
  int fd() const { return fd_; }
  int64_t bytes() const { return bytes_; }
  /// Free bytes of the file system; INT64_MAX if unknown.
  int64_t FreeBytes() const;
  const std::string& folder() const { return folder_; }

 private:
  std::string for_whom_;
  std::string folder_;
  int fd_ = -1;
  int64_t bytes_ = 0;
};

/// Copies the database in `from` into `to`: at most the bytes that its header states, the file
/// system has free, and OPLENS_UNPACK_LIMIT ("16G"; else 256 MB or 200 times the packed size,
/// whichever is more) allows. Throws Error if that is not enough, or the packed data is damaged or
/// ends early. Returns how many bytes follow the database, 0 if they are padding.
int64_t CopyDatabase(InputBytes* from, NamelessFile* to);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_NAMELESS_FILE_H_
