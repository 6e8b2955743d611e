#ifndef OPLENS_PARSE_SOURCE_BYTE_SOURCE_H_
#define OPLENS_PARSE_SOURCE_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status_line.h"

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
  /// Bytes behind the compressed data that belong to none, once Read() came to its end: they are
  /// not unpacked. 0 where all of them are 0, which is padding.
  virtual int64_t trailing_bytes() const { return 0; }
};

/// Whether there is nothing in them but bytes 0.
bool IsPadding(std::string_view bytes);
/// What is said of a file with so many bytes behind its end.
std::string TrailingSentence(const std::string& path, int64_t bytes);

/// Opens a file; gzip and zstd are recognised by their first bytes and unpacked on a thread of
/// their own, so that unpacking and parsing overlap. Throws Error when it cannot be opened.
std::unique_ptr<ByteSource> OpenBytes(const std::string& path);

class PlainSource;

/// The unpacked content of an input, which may be looked at before it is read: of a file, of
/// standard input ("-"), or of a pipe or device, which can be opened only once.
class InputBytes : public ByteSource {
 public:
  /// `meter`, which may be null, counts the bytes as they lie in the input; it is read on another
  /// thread. Throws Error when the input cannot be opened.
  explicit InputBytes(const std::string& path, WorkMeter* meter = nullptr);
  ~InputBytes() override;

  size_t Read(char* to, size_t size) override;
  std::string damage() const override { return bytes_->damage(); }
  int64_t trailing_bytes() const override { return bytes_->trailing_bytes(); }

  /// The first bytes, at most kHeadBytes, unpacked; read or not.
  std::string_view head() const { return head_; }
  /// "gzip", "zstd", or "" where it is not packed.
  std::string_view packing() const { return packing_; }
  /// Whether it is a file in a folder, which can be opened again.
  bool is_file() const { return is_file_; }
  /// The size of a file as it lies there; of what is none, how much of it was read.
  int64_t packed_bytes() const;
  /// How messages name it: the path, or "standard input".
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  bool is_file_ = false;
  std::string_view packing_;
  std::unique_ptr<ByteSource> bytes_;
  std::string head_;
  size_t head_used_ = 0;
  const PlainSource* plain_ = nullptr;  // Inside of `bytes_`.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_BYTE_SOURCE_H_
