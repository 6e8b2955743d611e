#include "record/inject/flusher.h"

#include "record/inject/helper_thread.h"
#include "record/spool/futex.h"

namespace oplens::record::inject {

void Flusher::Start(spool::ProcessPage* page, void (*flush)()) noexcept {
  page_ = page;
  flush_ = flush;
  running_.store(1, std::memory_order_relaxed);
  if (!StartHelperThread(Run, this)) running_.store(0, std::memory_order_relaxed);
}

void Flusher::Stop(int64_t most_ns) noexcept {
  stopping_.store(true, std::memory_order_relaxed);
  if (running_.load(std::memory_order_acquire) == 0) return;
  page_->flush_asked.fetch_add(1, std::memory_order_release);
  spool::WakeAll(page_->flush_asked);
  spool::WaitForChange(running_, 1, most_ns);
}

void* Flusher::Run(void* flusher) {
  auto* const self = static_cast<Flusher*>(flusher);
  self->RunLoop();
  self->running_.store(0, std::memory_order_release);
  spool::WakeAll(self->running_);
  return nullptr;
}

void Flusher::RunLoop() {
  uint32_t served = 0;
  while (true) {
    spool::WaitForChange(page_->flush_asked, served, spool::kFlushPeriodNs);
    served = page_->flush_asked.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed)) return;
    flush_();
    page_->flush_done.store(served, std::memory_order_release);
    spool::WakeAll(page_->flush_done);
  }
}

}  // namespace oplens::record::inject
