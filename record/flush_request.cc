#include "record/flush_request.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "record/image_conversion.h"
#include "record/spool/futex.h"
#include "record/spool/spool_format.h"
#include "record/spool_reader.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

struct Unmap {
  void operator()(spool::ProcessPage* page) const { ::munmap(page, spool::kProcessPageBytes); }
};
using Page = std::unique_ptr<spool::ProcessPage, Unmap>;

/// The page of an image, to be written; null where it cannot be.
Page MapPage(const fs::path& folder) {
  const int file = ::open((folder / "process").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const mapped =
      ::mmap(nullptr, spool::kProcessPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return Page(mapped == MAP_FAILED ? nullptr : static_cast<spool::ProcessPage*>(mapped));
}

struct Request {
  Page page;
  uint32_t number = 0;

  uint32_t Served() const { return page->flush_done.load(std::memory_order_acquire); }
  bool IsServedBy(uint32_t served) const { return static_cast<int32_t>(served - number) >= 0; }
};

/// Asks the library in the last image of each process.
std::vector<Request> Ask(const fs::path& spool_folder, const std::vector<int32_t>& processes) {
  std::vector<Request> requests;
  const std::vector<ImageFolder> images = ListImages(spool_folder);
  for (size_t i = 0; i < images.size(); ++i) {
    const bool last = i + 1 == images.size() || images[i + 1].process_id != images[i].process_id;
    if (!last || std::count(processes.begin(), processes.end(), images[i].process_id) == 0)
      continue;
    // Also sees to it that the file is as long as a page.
    const PageFacts facts = ReadPage(images[i].path);
    if (!facts.known || facts.state != spool::ProcessState::kRunning) continue;
    if (facts.cuda != spool::CudaState::kRecording) continue;
    Page page = MapPage(images[i].path);
    if (!page) continue;
    const uint32_t number = page->flush_asked.fetch_add(1, std::memory_order_release) + 1;
    spool::WakeAll(page->flush_asked);
    requests.push_back({std::move(page), number});
  }
  return requests;
}

}  // namespace

void RequestFlush(const fs::path& spool, const std::vector<int32_t>& processes,
                  std::chrono::milliseconds most) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + most;
  for (const Request& request : Ask(spool, processes)) {
    uint32_t served = request.Served();
    for (; !request.IsServedBy(served); served = request.Served()) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - Clock::now());
      if (left.count() <= 0) return;
      spool::WaitForChange(request.page->flush_done, served, left.count());
    }
  }
}

}  // namespace oplens::record
