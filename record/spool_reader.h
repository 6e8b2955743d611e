#ifndef OPLENS_RECORD_SPOOL_READER_H_
#define OPLENS_RECORD_SPOOL_READER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/spool/spool_format.h"

// Reads what lies in a spool, while it is written or after. Nothing here believes a number that it
// reads: what does not fit the file is told as damage.

namespace oplens::record {

/// A file mapped read-only; empty when it could not be. Not to be used any more once another
/// program has made the file shorter.
class MappedFile {
 public:
  MappedFile() = default;
  /// Maps the first `limit` bytes at most.
  MappedFile(const std::filesystem::path& path, size_t limit);
  ~MappedFile() { Close(); }
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;

  void Close();
  const unsigned char* data() const { return data_; }
  size_t size() const { return size_; }
  /// Why there is nothing: errno, 0 for an empty file.
  int error() const { return error_; }

 private:
  const unsigned char* data_ = nullptr;
  size_t size_ = 0;
  int error_ = 0;
};

/// A folder PID.N of a spool.
struct ImageFolder {
  int64_t process_id = 0;
  int64_t image = 0;
  std::filesystem::path path;

  auto operator<=>(const ImageFolder&) const = default;
};

/// All images in the spool, ordered by process and image.
std::vector<ImageFolder> ListImages(const std::filesystem::path& spool);

/// The chunks in an image's folder: stream -> last sequence.
std::map<uint32_t, uint32_t> ListStreams(const std::filesystem::path& folder);

/// The records of one stream, in order, as they come. Maps one chunk at a time.
class StreamReader {
 public:
  struct Record {
    spool::RecordHead head{};
    const unsigned char* body = nullptr;  ///< What follows the head.
    size_t body_size = 0;
  };

  StreamReader(std::filesystem::path folder, uint32_t stream);

  /// The next record, until Next(); null: none has come yet, or the stream is damaged. Where it
  /// answers null it has looked at the files, else only at memory.
  const Record* Peek() {
    if (have_record_ || (position_ < limit_ && ReadRecord())) return &record_;
    return Refill() ? &record_ : nullptr;
  }
  void Next() {
    position_ += record_.head.size;
    have_record_ = false;
  }

  uint32_t stream() const { return stream_; }
  /// Of the chunk of the last record; the thread of a chunk is that of its first record.
  uint32_t sequence() const { return sequence_; }
  uint32_t thread_id() const { return thread_id_; }
  uint32_t os_thread_id() const { return os_thread_id_; }
  /// Bytes of the chunks up to the next record.
  uint64_t bytes_read() const { return bytes_closed_ + position_; }

  /// Nothing more will be written: what cannot be read is damage from now on.
  void End() { ended_ = true; }
  /// After the last record and End(): finds that chunks up to `last_sequence` are missing.
  void CheckLast(uint32_t last_sequence);
  /// What ended the stream too early: a sentence with the file's name; "": nothing.
  const std::string& damage() const { return damage_; }

 private:
  std::filesystem::path PathOf(uint32_t sequence) const;
  bool Refill();
  bool ReadRecord();
  bool TakeUsed();
  bool OpenChunk(uint32_t sequence);
  bool CheckHead(const MappedFile& file, uint32_t sequence);
  bool Damage(uint32_t sequence, const std::string& what);

  const std::filesystem::path folder_;
  const uint32_t stream_;
  uint32_t sequence_ = 0;
  uint32_t thread_id_ = 0;
  uint32_t os_thread_id_ = 0;
  bool ended_ = false;
  bool have_record_ = false;
  MappedFile chunk_;
  size_t position_ = 0;  // Of the next record in chunk_.
  size_t limit_ = 0;     // Up to here chunk_ is whole.
  uint64_t bytes_closed_ = 0;
  Record record_;
  std::string damage_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_READER_H_
