#ifndef OPLENS_PARSE_SOURCE_BYTE_SOURCE_H_
#define OPLENS_PARSE_SOURCE_BYTE_SOURCE_H_

#include <cstddef>
#include <memory>
#include <string>

namespace oplens::parse {

/// The bytes of a file from front to back, unpacked when it is compressed.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `to` with up to `size` bytes. Fewer than asked for only at the end; 0: the end. A
  /// compressed file that is cut or damaged ends where its good bytes end; see damage(). Throws
  /// Error when the file cannot be read.
  virtual size_t Read(char* to, size_t size) = 0;
  /// What is wrong with the compressed data, once Read() came to its end: "" for nothing, else a
  /// phrase such as "the gzip data ends early".
  virtual std::string damage() const { return {}; }
};

/// Opens a file; gzip and zstd are recognised by their first bytes and unpacked on a thread of
/// their own, so that unpacking and parsing overlap. Throws Error when it cannot be opened.
std::unique_ptr<ByteSource> OpenBytes(const std::string& path);

/// Whether the file begins like gzip or zstd data. False when it cannot be read.
bool IsCompressed(const std::string& path);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_BYTE_SOURCE_H_
