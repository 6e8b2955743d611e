#include "record/flush_request.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "record/shared_page.h"
#include "record/spool/futex.h"
#include "record/spool/spool_format.h"
#include "record/spool_reader.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

struct Request {
  SharedPage page;
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
    SharedPage page = MapRunningPage(images[i].path);
    if (!page || page->cuda.load(std::memory_order_acquire) != spool::CudaState::kRecording) {
      continue;
    }
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
