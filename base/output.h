#ifndef OPLENS_BASE_OUTPUT_H_
#define OPLENS_BASE_OUTPUT_H_

#include <memory>
#include <string>
#include <string_view>

namespace oplens {

/// Thrown when the reader of standard output has gone away (closed pipe). Not an error: main exits
/// quietly with code 0.
struct ClosedPipe {};

/// The compression of an output.
enum class Packing {
  kNone,
  kGzip,
  kZstd,
};

/// The compression by file name: "x.gz" gzip, "x.zst" zstd, otherwise none.
Packing PackingOf(std::string_view path);

/// Buffered output to a file or to standard output.
///
/// A file is written whole or not at all: bytes go to a temporary file beside it, which Commit()
/// renames and the destructor otherwise removes. Devices and pipes named with -o (such as
/// /dev/null) are written in place. Every write failure (such as a full disk) throws Error with the
/// file name and the cause.
class Output {
 public:
  /// `path`: empty or "-" is standard output. Compression is deterministic.
  explicit Output(std::string path, Packing packing = Packing::kNone);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Appends; may write to the file.
  void Write(std::string_view bytes);
  /// The buffer itself, for writers that append many small pieces. Call FlushIfLarge() regularly.
  std::string* buffer() { return &buffer_; }
  void FlushIfLarge() {
    if (buffer_.size() >= kFlushBytes) Flush();
  }
  /// Writes everything, closes the file and moves it into place.
  void Commit();

  /// The file, open for reading and writing at any position; -1 if it is written in place or is
  /// standard output.
  int descriptor() const { return named_temp_path_.empty() ? -1 : fd_; }

  static constexpr size_t kFlushBytes = size_t{256} << 10;

 private:
  class Packer;

  void Flush();
  /// Packs, if asked to, and writes.
  void Pass(std::string_view bytes);
  void WriteOut(std::string_view bytes);
  [[noreturn]] void Fail(int error_number);

  std::string path_;             // As the user gave it; "" for standard output.
  std::string named_temp_path_;  // The temporary file's name; "" if written in place.
  std::string temp_path_;        // The same while the file must be removed on failure.
  int fd_ = -1;
  std::string buffer_;
  std::unique_ptr<Packer> packer_;  // Null without compression.
};

void PrintText(std::string_view text);

}  // namespace oplens

#endif  // OPLENS_BASE_OUTPUT_H_
