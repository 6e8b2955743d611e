#include "record/chunk_maker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
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
/// Per image, and in total.
constexpr uint32_t kMostAhead = 16;
constexpr uint32_t kMostAheadOfAll = 64;

bool MakeChunk(const fs::path& path) {
  const int file = MakeEmptyFile(path.c_str(), spool::kLargestChunkBytes);
  if (file < 0) return false;
  const bool made = FillWithZeros(file, spool::kLargestChunkBytes);
  ::close(file);
  if (!made) ::unlink(path.c_str());
  return made;
}

fs::path PathOf(const fs::path& folder, uint32_t number) {
  return folder / fmt::format("{}{}", spool::kReadyPrefix, number);
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
    if (!use.failed || use.ahead > 0) used |= MakeFor(image.path, &use);
  }
  return used;
}

uint32_t ChunkMaker::AheadOfAll() const {
  uint32_t ahead = 0;
  for (const auto& [folder, use] : uses_) ahead += use.ahead;
  return ahead;
}

bool ChunkMaker::MakeFor(const fs::path& folder, Use* use) {
  const SharedPage page = MapRunningPage(folder);
  if (!page) {
    for (; use->ahead > 0; --use->ahead) ::unlink(PathOf(folder, use->ready - use->ahead).c_str());
    return false;
  }
  const uint32_t wanted = page->chunks_requested.load(std::memory_order_relaxed);
  const uint32_t lately = wanted - std::exchange(use->wanted, wanted);
  use->pace = std::max(lately, use->pace - (use->pace > 0 ? 1 : 0));
  // Not trusted: the program can write to the page.
  const uint32_t left = use->ready - page->chunks_taken.load(std::memory_order_relaxed);
  use->ahead = std::min(use->ahead, left);
  const uint32_t goal = use->failed ? 0 : std::min(use->pace, kMostAhead / 4) * 4;
  while (use->ahead < goal && AheadOfAll() < kMostAheadOfAll) {
    if (!MakeChunk(PathOf(folder, use->ready))) {
      use->failed = true;  // Disk full: leave the rest to the streams.
      return false;
    }
    ++use->ahead;
    page->chunks_ready.store(++use->ready, std::memory_order_release);
  }
  return use->pace > 0;
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
