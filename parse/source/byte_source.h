#ifndef OPLENS_PARSE_SOURCE_BYTE_SOURCE_H_
#define OPLENS_PARSE_SOURCE_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status_line.h"

namespace oplens::parse {

/// The bytes of a file from front to back, unpacked if compressed.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `to` with up to `size` bytes. Returns fewer only at the end, 0 there. A truncated or
  /// damaged compressed file ends where its good bytes end; see damage(). Throws Error if the file
  /// cannot be read.
  virtual size_t Read(char* to, size_t size) = 0;
  /// What is wrong with compressed data, once read to the end: "", or "the gzip data ends early".
  virtual std::string damage() const { return {}; }
  /// Bytes behind the compressed data, which are not unpacked, once Read() reached its end. 0 if
  /// all of them are 0, i.e. padding.
  virtual int64_t trailing_bytes() const { return 0; }
};

bool IsPadding(std::string_view bytes);
/// The message about a file with `bytes` bytes behind its end.
std::string TrailingSentence(const std::string& path, int64_t bytes);

/// Opens a file; gzip and zstd are recognised by their first bytes and unpacked on a separate
/// thread, in parallel with parsing. Throws Error if it cannot be opened.
std::unique_ptr<ByteSource> OpenBytes(const std::string& path);

class PlainSource;

/// The unpacked content of an input, which can be inspected before it is read: a file, standard
/// input ("-"), or a pipe or device, which can be opened only once.
class InputBytes : public ByteSource {
 public:
  /// `meter`, which may be null, counts the bytes of the input itself, and is read on another
  /// thread. Throws Error if the input cannot be opened.
  explicit InputBytes(const std::string& path, WorkMeter* meter = nullptr);
  ~InputBytes() override;

  size_t Read(char* to, size_t size) override;
  std::string damage() const override { return bytes_->damage(); }
  int64_t trailing_bytes() const override { return bytes_->trailing_bytes(); }

  /// The first bytes, unpacked, at most kHeadBytes, whether read or not.
  std::string_view head() const { return head_; }
  std::string_view packing() const { return packing_; }  ///< "gzip", "zstd", or "" if not packed.
  /// Whether it is a regular file, which can be opened again.
  bool is_file() const { return is_file_; }
  /// The packed size of a file; for other inputs, how much was read.
  int64_t packed_bytes() const;
  /// The name in messages: the path, or "standard input".
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  bool is_file_ = false;
  std::string_view packing_;
  std::unique_ptr<ByteSource> bytes_;
  std::string head_;
  size_t head_used_ = 0;
  const PlainSource* plain_ = nullptr;  // Inside `bytes_`.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_BYTE_SOURCE_H_
