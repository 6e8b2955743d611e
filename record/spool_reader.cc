#include "record/spool_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

/// "A.B", both decimal without leading zeros.
template <typename T>
std::optional<std::pair<T, T>> ParsePair(std::string_view name) {
  std::pair<T, T> pair;
  const char* const end = name.data() + name.size();
  const auto [dot, first] = std::from_chars(name.data(), end, pair.first);
  if (first != std::errc() || dot == end || *dot != '.') return std::nullopt;
  const auto [rest, second] = std::from_chars(dot + 1, end, pair.second);
  if (second != std::errc() || rest != end) return std::nullopt;
  if (fmt::format("{}.{}", pair.first, pair.second) != name) return std::nullopt;
  return pair;
}

template <typename F>
void ForEachName(const fs::path& folder, F f) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    f(*it);
  }
}

uint64_t LoadUsed(const MappedFile& chunk) {
  const void* const used = chunk.data() + offsetof(spool::ChunkHead, used);
  return static_cast<const std::atomic<uint64_t>*>(used)->load(std::memory_order_acquire);
}

bool AllZero(const MappedFile& file, size_t size) {
  const auto is_zero = [](unsigned char byte) { return byte == 0; };
  return std::all_of(file.data(), file.data() + std::min(size, file.size()), is_zero);
}

constexpr size_t kHeadBytes = sizeof(spool::ChunkHead);

/// Returns why it stays; "" if it does not.
std::string NameRingChunk(uint32_t stream, const fs::path& place) {
  const MappedFile file(place, kHeadBytes);
  if (file.error() != 0) return std::strerror(file.error());
  if (file.size() < kHeadBytes) return fmt::format("ends at byte {}, within its head", file.size());
  std::error_code error;
  if (LoadUsed(file) != 0) {
    spool::ChunkHead head;
    std::memcpy(static_cast<void*>(&head), file.data(), kHeadBytes);
    const fs::path chunk = place.parent_path() / fmt::format("{}.{}", stream, head.sequence);
    // One that is there was copied and not freed.
    if (!fs::exists(chunk, error)) {
      fs::rename(place, chunk, error);
      return error ? error.message() : "";
    }
  }
  fs::remove(place, error);
  return "";
}

}  // namespace

MappedFile::MappedFile(const fs::path& path, size_t limit) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) {
    error_ = errno;
  } else if (!S_ISREG(status.st_mode)) {
    error_ = EINVAL;
  } else if (status.st_size > 0) {
    const size_t size = std::min(limit, static_cast<size_t>(status.st_size));
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) {
      error_ = errno;
    } else {
      data_ = static_cast<const unsigned char*>(data);
      size_ = size;
    }
  }
  if (file >= 0) ::close(file);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this == &other) return *this;
  Close();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  error_ = other.error_;
  return *this;
}

void MappedFile::Close() {
  if (data_ != nullptr) ::munmap(const_cast<unsigned char*>(data_), size_);
  data_ = nullptr;
  size_ = 0;
}

std::vector<ImageFolder> ListImages(const fs::path& spool) {
  std::vector<ImageFolder> images;
  ForEachName(spool, [&](const fs::directory_entry& entry) {
    const auto pair = ParsePair<int64_t>(entry.path().filename().native());
    std::error_code error;
    if (!pair || !entry.is_directory(error)) return;
    images.push_back({pair->first, pair->second, entry.path()});
  });
  std::sort(images.begin(), images.end());
  return images;
}

std::map<uint32_t, uint32_t> ListStreams(const fs::path& folder) {
  std::map<uint32_t, uint32_t> streams;
  ForEachName(folder, [&](const fs::directory_entry& entry) {
    const auto pair = ParsePair<uint32_t>(entry.path().filename().native());
    if (!pair) return;
    uint32_t& last = streams[pair->first];
    last = std::max(last, pair->second);
  });
  return streams;
}

std::vector<std::string> NameRingChunks(const fs::path& folder) {
  std::vector<std::pair<uint32_t, fs::path>> places;
  ForEachName(folder, [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().native();
    if (!name.starts_with(spool::kRingPrefix)) return;
    const std::string_view rest(name.data() + std::strlen(spool::kRingPrefix));
    if (const auto pair = ParsePair<uint32_t>(rest)) places.emplace_back(pair->first, entry.path());
  });
  std::vector<std::string> faults;
  for (const auto& [stream, place] : places) {
    if (std::string fault = NameRingChunk(stream, place); !fault.empty()) {
      faults.push_back(fmt::format("{}: {}", place.string(), fault));
    }
  }
  return faults;
}

StreamReader::StreamReader(fs::path folder, uint32_t stream)
    : folder_(std::move(folder)), stream_(stream) {}

fs::path StreamReader::PathOf(uint32_t sequence) const {
  return folder_ / fmt::format("{}.{}", stream_, sequence);
}

bool StreamReader::Damage(uint32_t sequence, const std::string& what) {
  damage_ = fmt::format("{}: {}", PathOf(sequence).string(), what);
  bytes_closed_ += position_;
  chunk_.Close();
  position_ = limit_ = 0;
  have_record_ = false;
  return false;
}

bool StreamReader::ReadRecord() {
  spool::RecordHead& head = record_.head;
  const size_t left = limit_ - position_;
  if (left < sizeof head) {
    return Damage(sequence_, fmt::format("ends within the record at byte {}", position_));
  }
  std::memcpy(&head, chunk_.data() + position_, sizeof head);
  if (head.size < sizeof head || head.size % 8 != 0 || head.size > left) {
    return Damage(sequence_,
                  fmt::format("the record at byte {} says that it has {} bytes, where {} are left",
                              position_, head.size, left));
  }
  record_.body = chunk_.data() + position_ + sizeof head;
  record_.body_size = head.size - sizeof head;
  have_record_ = true;
  return true;
}

bool StreamReader::TakeUsed() {
  // A truncated chunk must not be accessed.
  struct stat status {};
  const fs::path path = PathOf(sequence_);
  if (::stat(path.c_str(), &status) != 0 || static_cast<size_t>(status.st_size) < chunk_.size()) {
    return Damage(sequence_, "has become shorter");
  }
  const uint64_t used = LoadUsed(chunk_);
  if (used > position_) limit_ = static_cast<size_t>(std::min<uint64_t>(used, chunk_.size()));
  if (position_ < limit_) return ReadRecord();
  if (used > chunk_.size()) {
    return Damage(sequence_, fmt::format("ends at byte {} of {}", chunk_.size(), used));
  }
  if (used < position_ && used != 0) {
    return Damage(sequence_,
                  fmt::format("says that {} bytes are used, where it had {}", used, position_));
  }
  return false;
}

bool StreamReader::CheckHead(const MappedFile& file, uint32_t sequence) {
  if (file.data() == nullptr) {
    // An empty file is being created, or was when the program was killed.
    const bool there = file.error() != ENOENT && file.error() != 0;
    if (ended_ && there) Damage(sequence, std::strerror(file.error()));
    return false;
  }
  // Empty chunk: the library is creating it or was killed meanwhile. It writes `used` last in the
  // head.
  const bool has_head = file.size() >= kHeadBytes;
  if (AllZero(file, kHeadBytes) || (has_head && LoadUsed(file) == 0)) return false;
  if (!has_head) {
    return Damage(sequence, fmt::format("ends at byte {}, within its head", file.size()));
  }
  spool::ChunkHead head;
  std::memcpy(static_cast<void*>(&head), file.data(), kHeadBytes);
  if (std::memcmp(head.magic, spool::kChunkMagic, sizeof head.magic) != 0) {
    return Damage(sequence, "is not a chunk of a spool");
  }
  if (head.version != spool::kVersion) {
    return Damage(sequence, fmt::format("has version {} of the spool's format, not {}",
                                        head.version, spool::kVersion));
  }
  // Mapped while it was growing: map it again, complete.
  if (!ended_ && file.size() < head.capacity) return false;
  if (head.stream != stream_ || head.sequence != sequence) {
    return Damage(sequence, fmt::format("says that it is chunk {}.{}", head.stream, head.sequence));
  }
  return true;
}

bool StreamReader::OpenChunk(uint32_t sequence) {
  MappedFile file(PathOf(sequence), std::numeric_limits<uint32_t>::max());
  if (!CheckHead(file, sequence)) return false;
  // The old chunk may have grown before the new one was seen.
  if (chunk_.data() != nullptr) {
    if (TakeUsed()) return true;
    if (!damage_.empty()) return false;
    bytes_closed_ += position_;
  }
  chunk_ = std::move(file);
  sequence_ = sequence;
  position_ = limit_ = kHeadBytes;
  spool::ChunkHead head;
  std::memcpy(static_cast<void*>(&head), chunk_.data(), kHeadBytes);
  thread_id_ = head.thread_id;
  os_thread_id_ = head.os_thread_id;
  return TakeUsed();
}

bool StreamReader::Refill() {
  if (!damage_.empty()) return false;
  if (chunk_.data() == nullptr) return OpenChunk(0);
  // Loops only over empty chunks.
  for (;;) {
    if (TakeUsed()) return true;
    if (!damage_.empty() || sequence_ == std::numeric_limits<uint32_t>::max()) return false;
    const uint32_t before = sequence_;
    if (OpenChunk(before + 1)) return true;
    if (!damage_.empty() || sequence_ == before) return false;
  }
}

void StreamReader::CheckLast(uint32_t last_sequence) {
  if (Peek() != nullptr || !damage_.empty()) return;
  // An empty last chunk is where the program was killed.
  const uint32_t next = chunk_.data() == nullptr ? 0 : sequence_ + 1;
  if (last_sequence > next) Damage(next, "is missing or empty");
}

}  // namespace oplens::record
