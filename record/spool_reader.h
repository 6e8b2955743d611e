#ifndef OPLENS_RECORD_SPOOL_READER_H_
#define OPLENS_RECORD_SPOOL_READER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/spool/spool_format.h"

// Reads a spool during or after its recording. Does not trust any number in it: what does not fit
// the file is reported as damage.

namespace oplens::record {

/// A file mapped read-only; empty if that failed. Must not be used after another program has
/// shortened the file.
class MappedFile {
 public:
  MappedFile() = default;
  /// Maps at most the first `limit` bytes.
  MappedFile(const std::filesystem::path& path, size_t limit);
  ~MappedFile() { Close(); }
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;

  void Close();
  const unsigned char* data() const { return data_; }
  size_t size() const { return size_; }
  /// Why it is empty: errno, or 0 for an empty file.
  int error() const { return error_; }

 private:
  const unsigned char* data_ = nullptr;
  size_t size_ = 0;
  int error_ = 0;
};

struct ImageFolder {
  int64_t process_id = 0;
  int64_t image = 0;
  std::filesystem::path path;

  auto operator<=>(const ImageFolder&) const = default;
};

/// All images in the spool, by process and image.
std::vector<ImageFolder> ListImages(const std::filesystem::path& spool);

/// The streams in an image's folder -> last chunk number.
std::map<uint32_t, uint32_t> ListStreams(const std::filesystem::path& folder);

/// Gives the chunks that are left in the rings of an image's folder their names, and removes the
/// free places: only when nobody empties the rings any more. A process that still runs goes on
/// without them. Returns sentences about what stays where it is, with the file's name.
std::vector<std::string> NameRingChunks(const std::filesystem::path& folder);

/// The records of a stream, in order, as they arrive. Maps one chunk at a time.
class StreamReader {
 public:
  struct Record {
    spool::RecordHead head{};
    const unsigned char* body = nullptr;  ///< The bytes after the head.
    size_t body_size = 0;
  };

  StreamReader(std::filesystem::path folder, uint32_t stream);

  /// The next record, valid until Next(); null: none yet, or the stream is damaged. Accesses files
  /// only at the end of the known part of the chunk.
  const Record* Peek() {
    if (have_record_ || (position_ < limit_ && ReadRecord())) return &record_;
    return Refill() ? &record_ : nullptr;
  }
  void Next() {
    position_ += record_.head.size;
    have_record_ = false;
  }

  uint32_t stream() const { return stream_; }
  /// Of the chunk of the last record; the thread is that of the chunk's first record.
  uint32_t sequence() const { return sequence_; }
  uint32_t thread_id() const { return thread_id_; }
  uint32_t os_thread_id() const { return os_thread_id_; }
  /// Bytes of the chunks before the next record.
  uint64_t bytes_read() const { return bytes_closed_ + position_; }

  /// Call when nothing more will be written: from now on, what cannot be read is damage.
  void End() { ended_ = true; }
  /// Call after the last record and End(): reports missing chunks up to `last_sequence`.
  void CheckLast(uint32_t last_sequence);
  /// What ended the stream early, a sentence with the file name; "": nothing.
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
  size_t limit_ = 0;     // End of the complete part of chunk_.
  uint64_t bytes_closed_ = 0;
  Record record_;
  std::string damage_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_READER_H_
