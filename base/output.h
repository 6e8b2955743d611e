#ifndef OPLENS_BASE_OUTPUT_H_
#define OPLENS_BASE_OUTPUT_H_

#include <memory>
#include <string>
#include <string_view>

namespace oplens {

/// Thrown when the reader of our standard output has gone away (a closed pipe). Not an error: main
/// ends quietly with exit code 0.
struct ClosedPipe {};

/// How an output is compressed.
enum class Packing {
  kNone,
  kGzip,
  kZstd,
};

/// What the name of an output file asks for: "x.gz" gzip, "x.zst" zstd, anything else nothing.
Packing PackingOf(std::string_view path);

/// Buffered output to a file or to standard output.
///
/// A file is written whole or not at all: bytes go to a temporary file beside it, and Commit()
/// renames it. Without Commit() the destructor removes the temporary file. Devices and pipes named
/// with -o (such as /dev/null) are written in place. Every write failure (a full disk, for one)
/// throws Error with the file's name and the cause.
class Output {
 public:
  /// `path` empty or "-": standard output. The same bytes give the same compressed file.
  explicit Output(std::string path, Packing packing = Packing::kNone);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Appends; may write to the file.
  void Write(std::string_view bytes);
  /// The buffer itself, for writers that append many small pieces. Call FlushIfLarge() now and
  /// then.
  std::string* buffer() { return &buffer_; }
  /// Writes the buffer out once it is larger than kFlushBytes.
  void FlushIfLarge() {
    if (buffer_.size() >= kFlushBytes) Flush();
  }
  /// Writes out everything, closes, and puts the file in its place.
  void Commit();

  /// The file itself, open for reading and writing, for who writes at places of their own instead;
  /// -1 where it is written in place, or is standard output.
  int descriptor() const { return named_temp_path_.empty() ? -1 : fd_; }

  static constexpr size_t kFlushBytes = size_t{256} << 10;

 private:
  class Packer;

  void Flush();
  void WriteOut(std::string_view bytes);
  [[noreturn]] void Fail(int error_number);

  std::string path_;             // As the user wrote it; "" for standard output.
  std::string named_temp_path_;  // Where it goes before it gets its name; "" when written in place.
  std::string temp_path_;        // The same, as long as there is something to remove.
  int fd_ = -1;
  std::string buffer_;
  std::unique_ptr<Packer> packer_;  // Null when nothing is compressed.
};

/// Writes a text to standard output, all of it.
void PrintText(std::string_view text);

}  // namespace oplens

#endif  // OPLENS_BASE_OUTPUT_H_
