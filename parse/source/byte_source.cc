#include "parse/source/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/shortage.h"
#include "parse/source/file_kind.h"

namespace oplens::parse {
namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;
constexpr std::string_view kStandardInput = "standard input";

}  // namespace

class PlainSource : public ByteSource {
 public:
  /// `path`: "-" is standard input. `meter`, which may be null, counts what is read.
  explicit PlainSource(std::string path, WorkMeter* meter = nullptr)
      : path_(std::move(path)), meter_(meter) {
    if (path_ == "-") {
      path_ = kStandardInput;
      fd_ = STDIN_FILENO;
    } else {
      fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    }
    if (fd_ < 0) {
      throw SystemError(path_, "cannot be opened", errno, "check the name and its permissions");
    }
    struct stat info {};
    is_file_ = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
    if (is_file_) file_bytes_ = info.st_size;
    if (meter_ != nullptr) meter_->Start(file_bytes_);
  }
  ~PlainSource() override {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;

  size_t Read(char* to, size_t size) override {
    size_t filled = 0;
    while (filled < size && !ended_) {
      const ssize_t n = ::read(fd_, to + filled, size - filled);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        throw SystemError(path_, "cannot be read", errno, "copy the file again");
      }
      if (n == 0) {
        ended_ = true;
        break;
      }
      if (meter_ != nullptr) meter_->Add(n);
      filled += static_cast<size_t>(n);
      read_bytes_ += n;
    }
    return filled;
  }

  /// The size of a file, else the number of bytes read so far. Thread-safe.
  int64_t bytes() const { return is_file_ ? file_bytes_ : read_bytes_.load(); }
  const std::string& path() const { return path_; }
  bool is_file() const { return is_file_; }

 private:
  std::string path_;
  WorkMeter* meter_;
  int fd_ = -1;
  bool ended_ = false;  // A terminal goes on after its end was typed.
  bool is_file_ = false;
  int64_t file_bytes_ = 0;
  std::atomic<int64_t> read_bytes_ = 0;
};

namespace {

/// A source whose first bytes were read already.
class PeekedSource : public ByteSource {
 public:
  PeekedSource(std::string first, std::unique_ptr<ByteSource> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}

  size_t Read(char* to, size_t size) override {
    const size_t taken = std::min(size, first_.size() - used_);
    std::memcpy(to, first_.data() + used_, taken);
    used_ += taken;
    return taken == size ? taken : taken + rest_->Read(to + taken, size - taken);
  }

 private:
  std::string first_;
  size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

/// Decompresses block by block.
class Unpacker {
 public:
  virtual ~Unpacker() = default;
  /// Fills `to` with up to `size` unpacked bytes; 0 at the end, and after damage.
  virtual size_t Unpack(char* to, size_t size) = 0;
  const std::string& damage() const { return damage_; }
  int64_t trailing_bytes() const { return trailing_bytes_; }

 protected:
  explicit Unpacker(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), input_(kBlockBytes) {}
  /// Reads the next packed bytes into input_ and returns their number.
  size_t Refill() { return packed_->Read(input_.data(), input_.size()); }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  std::string damage_;
  int64_t trailing_bytes_ = 0;
  bool ended_ = false;
};

class GzipUnpacker : public Unpacker {
 public:
  explicit GzipUnpacker(std::unique_ptr<ByteSource> packed) : Unpacker(std::move(packed)) {
    constexpr int kGzipOnly = 16;
    if (::inflateInit2(&stream_, kGzipOnly + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~GzipUnpacker() override { ::inflateEnd(&stream_); }

  size_t Unpack(char* to, size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out > 0 && !ended_) Step();
    return size - stream_.avail_out;
  }

 private:
  static constexpr Bytef kFirstMagicByte = 0x1f;

  void Step() {
    if (stream_.avail_in == 0) {
      stream_.avail_in = static_cast<uInt>(Refill());
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      if (stream_.avail_in == 0) {
        ended_ = true;
        if (in_member_) damage_ = "the gzip data ends early";
        return;
      }
    }
    if (any_member_ && !in_member_ && *stream_.next_in != kFirstMagicByte) return TakeTrailing();
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    in_member_ = true;
    if (result == Z_STREAM_END) {
      // Another member may follow.
      in_member_ = false;
      if (::inflateReset(&stream_) != Z_OK) ended_ = true;
      any_member_ = true;
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      ended_ = true;
      damage_ = "the gzip data is damaged";
    }
  }

  void TakeTrailing() {
    int64_t bytes = 0;
    bool padding = true;
    for (; stream_.avail_in > 0; stream_.avail_in = static_cast<uInt>(Refill())) {
      if (bytes > 0) stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      bytes += stream_.avail_in;
      padding = padding && IsPadding({reinterpret_cast<char*>(stream_.next_in), stream_.avail_in});
    }
    if (!padding) trailing_bytes_ = bytes;
    ended_ = true;
  }

  z_stream stream_{};
  bool in_member_ = false;
  bool any_member_ = false;
};

class ZstdUnpacker : public Unpacker {
 public:
  explicit ZstdUnpacker(std::unique_ptr<ByteSource> packed)
      : Unpacker(std::move(packed)), stream_(::ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdUnpacker() override { ::ZSTD_freeDStream(stream_); }
  ZstdUnpacker(const ZstdUnpacker&) = delete;
  ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;

  size_t Unpack(char* to, size_t size) override {
    ZSTD_outBuffer output{to, size, 0};
    while (output.pos < output.size && !ended_) {
      if (source_.pos == source_.size && !flushing_) {
        source_ = {input_.data(), Refill(), 0};
        if (source_.size == 0) {
          ended_ = true;
          if (in_frame_) damage_ = "the zstd data ends early";
          break;
        }
      }
      const size_t before = output.pos;
      const size_t result = ::ZSTD_decompressStream(stream_, &output, &source_);
      if (::ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (::ZSTD_isError(result) != 0) {
        ended_ = true;
        damage_ = fmt::format("the zstd data is damaged ({})", ::ZSTD_getErrorName(result));
        break;
      }
      in_frame_ = result != 0;
      // A full output may leave some of the frame pending that needs no more input. Not so at the
      // end of a frame, where reading on would begin the next one.
      flushing_ = in_frame_ && output.pos == output.size && output.pos > before;
    }
    return output.pos;
  }

 private:
  ZSTD_DStream* stream_;
  ZSTD_inBuffer source_{nullptr, 0, 0};
  bool in_frame_ = false;
  bool flushing_ = false;
};

/// Unpacks on its own thread, a few blocks ahead of the reader.
class ThreadedSource : public ByteSource {
 public:
  explicit ThreadedSource(std::unique_ptr<Unpacker> unpacker)
      : unpacker_(std::move(unpacker)), thread_([this] { Work(); }) {}
  ~ThreadedSource() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    room_.notify_one();
    thread_.join();
  }
  ThreadedSource(const ThreadedSource&) = delete;
  ThreadedSource& operator=(const ThreadedSource&) = delete;

  size_t Read(char* to, size_t size) override {
    size_t filled = 0;
    while (filled < size) {
      if (used_ == block_.size() && !NextBlock()) break;
      const size_t taken = std::min(size - filled, block_.size() - used_);
      std::memcpy(to + filled, block_.data() + used_, taken);
      used_ += taken;
      filled += taken;
    }
    return filled;
  }

  std::string damage() const override {
    const std::lock_guard lock(mutex_);
    return damage_;
  }
  int64_t trailing_bytes() const override {
    const std::lock_guard lock(mutex_);
    return trailing_bytes_;
  }

 private:
  static constexpr size_t kMostBlocks = 8;

  void Work() {
    try {
      while (Produce()) {
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    damage_ = unpacker_->damage();
    trailing_bytes_ = unpacker_->trailing_bytes();
    done_ = true;
    filled_.notify_one();
  }

  bool Produce() {
    std::vector<char> block(kBlockBytes);
    const size_t size = unpacker_->Unpack(block.data(), block.size());
    block.resize(size);
    if (size == 0) return false;
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return stop_ || blocks_.size() < kMostBlocks; });
    if (stop_) return false;
    blocks_.push_back(std::move(block));
    filled_.notify_one();
    return true;
  }

  bool NextBlock() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return done_ || !blocks_.empty(); });
    if (blocks_.empty()) {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      return false;
    }
    block_ = std::move(blocks_.front());
    blocks_.pop_front();
    used_ = 0;
    room_.notify_one();
    return true;
  }

  std::unique_ptr<Unpacker> unpacker_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable filled_;
  std::deque<std::vector<char>> blocks_;
  std::string damage_;
  int64_t trailing_bytes_ = 0;
  std::exception_ptr failure_;
  bool done_ = false;
  bool stop_ = false;
  std::vector<char> block_;  // The reader's.
  size_t used_ = 0;
  std::thread thread_;  // Last, since it uses all of the above.
};

std::string ReadMagic(ByteSource* file) {
  constexpr size_t kMagicBytes = 4;  // Of the supported packings.
  std::string magic(kMagicBytes, '\0');
  magic.resize(file->Read(magic.data(), magic.size()));
  return magic;
}

/// `name` is the input's.
std::unique_ptr<ByteSource> OnThread(std::unique_ptr<Unpacker> unpacker, const std::string& name) {
  try {
    return std::make_unique<ThreadedSource>(std::move(unpacker));
  } catch (const std::system_error& error) {
    throw SystemError(name, "cannot be unpacked, since no thread can be started",
                      error.code().value(), "try again");
  }
}

/// Returns `file` itself if it is not packed. Sets `packing` to its word, or "".
std::unique_ptr<ByteSource> Unpacked(std::unique_ptr<PlainSource> file, std::string_view* packing) {
  const std::string name = file->path();
  const std::string magic = ReadMagic(file.get());
  auto source = std::make_unique<PeekedSource>(magic, std::move(file));
  switch (KindOfBytes(magic)) {
    case FileKind::kGzip:
      *packing = "gzip";
      return OnThread(std::make_unique<GzipUnpacker>(std::move(source)), name);
    case FileKind::kZstd:
      *packing = "zstd";
      return OnThread(std::make_unique<ZstdUnpacker>(std::move(source)), name);
    default:
      *packing = {};
      return source;
  }
}

}  // namespace

bool IsPadding(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

std::string TrailingSentence(const std::string& path, int64_t bytes) {
  return fmt::format(
      "{}: goes on behind its end: {} bytes are not read; was a file appended to it?", path, bytes);
}

std::unique_ptr<ByteSource> OpenBytes(const std::string& path) {
  std::string_view packing;
  return Unpacked(std::make_unique<PlainSource>(path), &packing);
}

InputBytes::InputBytes(const std::string& path, WorkMeter* meter) {
  auto file = std::make_unique<PlainSource>(path, meter);
  plain_ = file.get();
  name_ = file->path();
  is_file_ = path != "-" && file->is_file();
  bytes_ = Unpacked(std::move(file), &packing_);
  head_.resize(kHeadBytes);
  head_.resize(bytes_->Read(head_.data(), head_.size()));
}

InputBytes::~InputBytes() = default;

int64_t InputBytes::packed_bytes() const { return plain_->bytes(); }

size_t InputBytes::Read(char* to, size_t size) {
  const size_t taken = std::min(size, head_.size() - head_used_);
  std::memcpy(to, head_.data() + head_used_, taken);
  head_used_ += taken;
  return taken == size ? taken : taken + bytes_->Read(to + taken, size - taken);
}

}  // namespace oplens::parse
