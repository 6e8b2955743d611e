#ifndef OPLENS_PARSE_SOURCE_NAMELESS_FILE_H_
#define OPLENS_PARSE_SOURCE_NAMELESS_FILE_H_

#include <cstdint>
#include <string>

#include "parse/source/byte_source.h"

namespace oplens::parse {

/// A temporary file without a name: the system frees it when it is closed, however the program
/// ends. In the folder that TMPDIR names, else in /var/tmp, else in /tmp. Only its owner may read
/// it.
class NamelessFile {
 public:
  /// Throws Error about `for_whom`, an input, when there is no place for one.
  explicit NamelessFile(std::string for_whom);
  ~NamelessFile();
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  void Write(const char* bytes, size_t size);
  int fd() const { return fd_; }
  int64_t bytes() const { return bytes_; }
  /// Bytes that the file system still takes; INT64_MAX where it does not tell.
  int64_t FreeBytes() const;
  const std::string& folder() const { return folder_; }

 private:
  std::string for_whom_;
  std::string folder_;
  int fd_ = -1;
  int64_t bytes_ = 0;
};

/// Writes the database that `from` holds into `to`. It takes no more bytes than the database's
/// header says there are, no more than the file system has room for, and no more than the variable
/// OPLENS_UNPACK_LIMIT says ("16G"); where that is not set, 256 MB or 200 times the packed size.
/// Throws Error when that is not enough, and when the packed data is damaged or ends early. Answers
/// how many bytes follow the database, 0 where they are padding.
int64_t CopyDatabase(InputBytes* from, NamelessFile* to);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_NAMELESS_FILE_H_
