#ifndef OPLENS_PROF_INPUT_LINE_SOURCE_H_
#define OPLENS_PROF_INPUT_LINE_SOURCE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parse/source/byte_source.h"

namespace oplens::prof {

/// Lines of an input, unpacked, read once from front to back.
class LineSource {
 public:
  explicit LineSource(std::shared_ptr<parse::InputBytes> bytes);
  /// `path` "-": standard input. Throws Error if the file cannot be opened.
  explicit LineSource(const std::string& path)
      : LineSource(std::make_shared<parse::InputBytes>(path)) {}
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  /// The next line without its end ("\n", "\r\n") and UTF-8 byte order mark; the last may be
  /// unended. False at the end. Valid until the next call. Throws Error on read errors (e.g. a
  /// directory).
  bool Next(std::string_view* line);

  /// Whether the last line exceeded kMaxLineBytes and was cut there.
  bool cut() const { return cut_; }
  /// Whether it is a regular file, not standard input, a pipe or a device.
  bool is_file() const { return bytes_->is_file(); }
  /// The file as the user wrote it, or "standard input".
  const std::string& name() const { return bytes_->name(); }
  /// The first bytes of the unpacked input.
  std::string_view head() const { return bytes_->head(); }
  /// At the end: the error in packed data, or "".
  std::string damage() const { return bytes_->damage(); }
  /// At the end: bytes after packed data (ByteSource).
  int64_t trailing_bytes() const { return bytes_->trailing_bytes(); }

  /// Makes an endless line (/dev/zero) end as a bad line.
  static constexpr size_t kMaxLineBytes = size_t{64} << 20;

 private:
  /// Appends more data; false at the end of the input.
  bool Fill();
  bool SkipToNewline();

  std::shared_ptr<parse::InputBytes> bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // Start of the unread bytes.
  size_t end_ = 0;
  bool at_start_ = true;
  bool cut_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_LINE_SOURCE_H_
