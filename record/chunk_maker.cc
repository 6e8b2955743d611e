#include "record/chunk_maker.h"

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
#include <system_error>
#include <utility>

#include "record/image_conversion.h"
#include "record/spool/spool_format.h"
#include "record/spool/zero_file.h"
#include "record/spool_reader.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kLook{20};
constexpr milliseconds kIdleLook{100};
/// Per stream, and in total.
constexpr uint32_t kMostAhead = 8;
constexpr uint32_t kMostAheadOfAll = 64;

fs::path PathOf(const fs::path& folder, std::pair<uint32_t, uint32_t> chunk) {
  return folder / fmt::format("{}.{}", chunk.first, chunk.second);
}

/// Whether a chunk holds nothing: the library fills in the head when it comes to it. One that
/// cannot be read may hold something.
bool IsEmpty(const fs::path& path) {
  const MappedFile file(path, sizeof(spool::ChunkHead));
  if (file.data() == nullptr) return false;
  return std::all_of(file.data(), file.data() + file.size(),
                     [](unsigned char b) { return b == 0; });
}

enum class Made { kYes, kIsThere, kFailed };

/// A chunk gets its name when it is complete.
Made MakeChunk(const fs::path& folder, const fs::path& path) {
  const fs::path part = folder / spool::kAheadName;
  const int file = MakeEmptyFile(part.c_str(), spool::kLargestChunkBytes);
  if (file < 0) return Made::kFailed;
  Made made = Made::kFailed;
  if (FillWithZeros(file, spool::kLargestChunkBytes)) {
    // Does not replace one that the library made meanwhile.
    if (::link(part.c_str(), path.c_str()) == 0) {
      made = Made::kYes;
    } else if (errno == EEXIST) {
      made = Made::kIsThere;
    }
  }
  ::close(file);
  ::unlink(part.c_str());
  return made;
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

bool ChunkMaker::Look() {
  bool used = false;
  for (const ImageFolder& image : ListImages(spool_)) {
    Use& use = uses_[image.path];
    if (!use.failed || !use.ahead.empty()) used |= MakeFor(image.path, &use);
  }
  return used;
}

size_t ChunkMaker::AheadOfAll() const {
  size_t ahead = 0;
  for (const auto& [folder, use] : uses_) ahead += use.ahead.size();
  return ahead;
}

/// The next ones of a stream, up to four times as many as it begins between two visits.
void ChunkMaker::MakeNext(const fs::path& folder, const Stream& stream, Use* use) {
  const auto number = static_cast<uint32_t>(stream.last >> 32);
  const auto next = static_cast<uint32_t>(stream.last);
  const uint32_t goal = std::min(stream.pace, kMostAhead / 4) * 4;
  for (uint32_t i = 0; i < goal && next <= UINT32_MAX - kMostAhead; ++i) {
    if (use->failed || AheadOfAll() >= kMostAheadOfAll) return;
    const Chunk chunk = {number, next + i};
    if (use->ahead.count(chunk) != 0) continue;
    const Made made = MakeChunk(folder, PathOf(folder, chunk));
    if (made == Made::kYes) use->ahead.insert(chunk);
    use->failed = made == Made::kFailed;  // Disk full: leave the rest to the streams.
  }
}

void ChunkMaker::RemoveAhead(const fs::path& folder, Use* use) {
  for (const Chunk& chunk : use->ahead) {
    if (const fs::path path = PathOf(folder, chunk); IsEmpty(path)) ::unlink(path.c_str());
  }
  use->ahead.clear();
}

bool ChunkMaker::MakeFor(const fs::path& folder, Use* use) {
  const SharedPage page = MapRunningPage(folder);
  if (!page) {
    const PageFacts facts = ReadPage(folder);
    if (facts.known && facts.state != spool::ProcessState::kRunning) RemoveAhead(folder, use);
    return false;
  }
  bool grew = false;
  uint32_t pace = 0;
  for (size_t i = 0; i < use->streams.size(); ++i) {
    Stream& stream = use->streams[i];
    // Not trusted: the program can write to the page.
    const uint64_t now = page->large_chunks[i].load(std::memory_order_relaxed);
    const uint64_t before = std::exchange(stream.last, now);
    const auto lately = static_cast<uint32_t>(now >> 32 == before >> 32 ? now - before : 1);
    stream.pace = std::max(lately, stream.pace - (stream.pace > 0 ? 1 : 0));
    grew |= lately > 0;
    pace = std::max(pace, stream.pace);
  }
  if (!grew) return pace > 0;
  std::erase_if(use->ahead, [&](const Chunk& chunk) { return !IsEmpty(PathOf(folder, chunk)); });
  for (const Stream& stream : use->streams) MakeNext(folder, stream, use);
  return pace > 0;
}

ChunkThread::ChunkThread(fs::path spool) : maker_(std::move(spool)) {
  // Block all signals: another thread waits for them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {  // Without a thread there are no chunks in advance.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ChunkThread::~ChunkThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ending_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ChunkThread::Run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    lock.unlock();
    const bool used = maker_.Look();
    lock.lock();
    ending_.wait_for(lock, used ? kLook : kIdleLook, [this] { return ends_; });
  }
}

}  // namespace oplens::record
