#include "record/chunk_rings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "base/write_all.h"
#include "record/image_conversion.h"
#include "record/process_table.h"
#include "record/spool/spool_format.h"
#include "record/spool/zero_file.h"
#include "record/spool_lock.h"
#include "record/spool_reader.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kBusyLook{5};
constexpr milliseconds kLook{20};
constexpr milliseconds kIdleLook{100};
/// Of all images: 64 MiB.
constexpr size_t kMostRings = 32;
constexpr int kRest = 10;

fs::path ChunkPath(const fs::path& folder, uint32_t stream, uint32_t sequence) {
  return folder / fmt::format("{}.{}", stream, sequence);
}

fs::path RingPath(const fs::path& folder, uint32_t stream, uint32_t place) {
  return folder / fmt::format("{}{}.{}", spool::kRingPrefix, stream, place);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

Descriptor OpenFile(const fs::path& path, int access) {
  return Descriptor(::open(path.c_str(), access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

bool ReadAtStart(int file, void* to, size_t size) {
  return ::pread(file, to, size, 0) == static_cast<ssize_t>(size);
}

bool ZeroAt(int file, size_t offset) {
  const uint64_t zero = 0;
  return ::pwrite(file, &zero, sizeof zero, static_cast<off_t>(offset)) == sizeof zero;
}

/// A chunk of a ring, or any part of it: the program can write to it, so nothing in it is certain.
struct HeadFacts {
  uint32_t sequence = 0;
  uint64_t used = 0;
  uint64_t closed = 0;
};

std::optional<HeadFacts> ReadHead(int file) {
  spool::ChunkHead head;
  if (!ReadAtStart(file, static_cast<void*>(&head), sizeof head)) return std::nullopt;
  return HeadFacts{head.sequence, head.used.load(std::memory_order_relaxed),
                   head.closed.load(std::memory_order_relaxed)};
}

/// Makes `path` out of a file named spool::kCopyName that `fill` fills: it has its name when it is
/// complete.
template <typename F>
bool MakeWhole(const fs::path& folder, const fs::path& path, size_t bytes, F fill) {
  const fs::path part = folder / spool::kCopyName;
  ::unlink(part.c_str());
  const Descriptor file(MakeEmptyFile(part.c_str(), bytes));
  if (file.number() < 0) return false;
  if (fill(file.number()) && ::rename(part.c_str(), path.c_str()) == 0) return true;
  ::unlink(part.c_str());
  return false;
}

bool MakeRing(const fs::path& folder, uint32_t stream) {
  for (uint32_t place = 0; place < spool::kRingChunks; ++place) {
    const auto zeros = [](int file) { return FillWithZeros(file, spool::kRingChunkBytes); };
    const fs::path path = RingPath(folder, stream, place);
    if (!MakeWhole(folder, path, spool::kRingChunkBytes, zeros)) return false;
  }
  return true;
}

enum class Copied { kNothing, kYes, kFailed };

/// Copies the chunk at a place to a file of its own if the library is done with it, then frees the
/// place.
Copied CopyChunk(const fs::path& folder, uint32_t stream, uint32_t place, std::string* buffer) {
  const Descriptor ring = OpenFile(RingPath(folder, stream, place), O_RDWR);
  std::optional<HeadFacts> facts = ReadHead(ring.number());
  if (!facts || facts->closed != 1) return Copied::kNothing;
  facts = ReadHead(ring.number());  // `used` may have been read before `closed`.
  if (!facts || facts->used < sizeof(spool::ChunkHead) || facts->used > spool::kRingChunkBytes) {
    return Copied::kNothing;
  }
  const auto size = static_cast<uint32_t>(facts->used);
  const fs::path path = ChunkPath(folder, stream, facts->sequence);
  if (::access(path.c_str(), F_OK) != 0) {
    buffer->resize(size);
    if (!ReadAtStart(ring.number(), buffer->data(), size)) return Copied::kFailed;
    const uint64_t open = 0;
    std::memcpy(buffer->data() + offsetof(spool::ChunkHead, capacity), &size, sizeof size);
    std::memcpy(buffer->data() + offsetof(spool::ChunkHead, closed), &open, sizeof open);
    const auto copy = [&](int file) { return WriteAll(file, *buffer); };
    if (!MakeWhole(folder, path, size, copy)) return Copied::kFailed;
  }
  // In this order: the library begins the next chunk there once `used` is 0.
  const bool freed = ZeroAt(ring.number(), offsetof(spool::ChunkHead, closed)) &&
                     ZeroAt(ring.number(), offsetof(spool::ChunkHead, used));
  return freed ? Copied::kYes : Copied::kFailed;
}

}  // namespace

void UnmapPage::operator()(spool::ProcessPage* page) const {
  ::munmap(page, spool::kProcessPageBytes);
}

SharedPage MapRunningPage(const std::filesystem::path& folder) {
  // Also checks that the file holds a whole page.
  const PageFacts facts = ReadPage(folder);
  if (!facts.known || facts.state != spool::ProcessState::kRunning) return nullptr;
  const int file = ::open((folder / "process").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const mapped =
      ::mmap(nullptr, spool::kProcessPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return SharedPage(mapped == MAP_FAILED ? nullptr : static_cast<spool::ProcessPage*>(mapped));
}

ChunkRings::Use ChunkRings::Look() {
  Use use = Use::kNone;
  for (const ImageFolder& found : ListImages(spool_)) {
    Image& image = images_[found.path];
    if (image.rest > 0) {
      --image.rest;
      continue;
    }
    if (!MakeFor(found.path, &image)) continue;
    use = std::max(use, CopyFrom(found.path, &image));
  }
  return use;
}

bool ChunkRings::MakeFor(const fs::path& folder, Image* image) {
  const SharedPage page = MapRunningPage(folder);
  if (!page) {
    const PageFacts facts = ReadPage(folder);
    if (!facts.known || facts.state == spool::ProcessState::kRunning) return true;
    if (image->streams.empty()) return false;
    // Its other threads may still write.
    if (IsLocked(folder / "process") || IsAlive(facts.identity)) return true;
    NameRingChunks(folder);  // What fails is tried again at the end.
    rings_ -= image->streams.size();
    image->streams.clear();
    return false;
  }
  for (const std::atomic<uint32_t>& large : page->large_streams) {
    // Not trusted: the program can write to the page.
    const uint32_t stream = large.load(std::memory_order_relaxed) - 1;
    // Of names: a forked child reads its parent's.
    if (stream == UINT32_MAX || stream == spool::kNamesStream) continue;
    if (rings_ >= kMostRings || !image->streams.insert(stream).second) continue;
    ++rings_;
    if (!MakeRing(folder, stream)) image->rest = kRest;  // The library does without the rest.
  }
  return true;
}

ChunkRings::Use ChunkRings::CopyFrom(const fs::path& folder, Image* image) {
  Use use = image->streams.empty() ? Use::kNone : Use::kRings;
  for (const uint32_t stream : image->streams) {
    for (uint32_t place = 0; place < spool::kRingChunks; ++place) {
      const Copied copied = CopyChunk(folder, stream, place, &buffer_);
      if (copied == Copied::kYes) use = Use::kCopied;
      if (copied == Copied::kFailed) image->rest = kRest;  // Disk full: stays in the ring.
    }
  }
  return use;
}

RingThread::RingThread(fs::path spool) : rings_(std::move(spool)) {
  // Block all signals: another thread waits for them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {  // Without a thread there are no rings.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RingThread::~RingThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ending_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RingThread::Run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    lock.unlock();
    ChunkRings::Use use = ChunkRings::Use::kNone;
    try {
      use = rings_.Look();
    } catch (const std::exception&) {  // No memory: the library does without.
    }
    lock.lock();
    const milliseconds pause = use == ChunkRings::Use::kCopied  ? kBusyLook
                               : use == ChunkRings::Use::kRings ? kLook
                                                                : kIdleLook;
    ending_.wait_for(lock, pause, [this] { return ends_; });
  }
}

}  // namespace oplens::record
