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
  /// `path` "-": standard input. Throws Error when the file cannot be opened.
  explicit LineSource(const std::string& path)
      : LineSource(std::make_shared<parse::InputBytes>(path)) {}
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  /// The next line without its "\n" or "\r\n", and without the byte order mark of UTF-8; the last
  /// one may lack the newline. False at the end. The view lives until the next call. Throws Error
  /// when reading fails (a directory, for one).
  bool Next(std::string_view* line);

  /// Whether the line just read was longer than kMaxLineBytes, and is cut there.
  bool cut() const { return cut_; }
  /// Whether it is a file in a folder: no standard input, pipe or device.
  bool is_file() const { return bytes_->is_file(); }
  /// The file as the user wrote it, or "standard input".
  const std::string& name() const { return bytes_->name(); }
  /// The first bytes of the input, unpacked.
  std::string_view head() const { return bytes_->head(); }
  /// At the end: what is wrong with packed data, or "".
  std::string damage() const { return bytes_->damage(); }
  /// At the end: bytes behind packed data (ByteSource).
  int64_t trailing_bytes() const { return bytes_->trailing_bytes(); }

  /// So that an endless line (/dev/zero) ends as a bad line.
  static constexpr size_t kMaxLineBytes = size_t{64} << 20;

 private:
  /// Reads more behind end_; false at the end of the input.
  bool Fill();
  bool SkipToNewline();

  std::shared_ptr<parse::InputBytes> bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // Of the bytes not handed out yet.
  size_t end_ = 0;
  bool at_start_ = true;
  bool cut_ = false;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_LINE_SOURCE_H_
