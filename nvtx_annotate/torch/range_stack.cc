#include "nvtx_annotate/torch/range_stack.h"

#include <sys/mman.h>

#include <cstdlib>
#include <mutex>
#include <new>

#include "nvtx_annotate/emitter.h"

namespace oplens::annotate::torch {
namespace {

// Stacks outlive their threads, because other threads may end ranges; a new thread reuses them.
std::mutex g_range_stack_mutex;
RangeStack* g_free = nullptr;

thread_local bool t_gone = false;

}  // namespace

constinit thread_local RangeStack* RangeStack::t_stack = nullptr;

/// Returns the stack for reuse when its thread ends.
class StackOwner {
 public:
  StackOwner() noexcept {
    // Before this is constructed, so that it lives longer.
    ThreadState* const emitter = StateOfThread();
    if (emitter == nullptr) return;
    const std::lock_guard lock(g_range_stack_mutex);
    stack_ = g_free;
    if (stack_ == nullptr) {
      stack_ = RangeStack::New();
    } else {
      g_free = stack_->next_free_;
    }
    RangeStack::t_stack = stack_;
    if (stack_ == nullptr) return;
    stack_->emitter = emitter;
    stack_->owner_.store(ThreadPointer(), std::memory_order_relaxed);
  }
  ~StackOwner() {
    RangeStack::t_stack = nullptr;
    t_gone = true;
    if (stack_ == nullptr) return;
    stack_->Cut(0);
    stack_->owner_.store(nullptr, std::memory_order_relaxed);
    stack_->framework_thread = 0;
    stack_->node = nullptr;
    stack_->emitter = nullptr;
    const std::lock_guard lock(g_range_stack_mutex);
    stack_->next_free_ = g_free;
    g_free = stack_;
  }
  StackOwner(const StackOwner&) = delete;
  StackOwner& operator=(const StackOwner&) = delete;

 private:
  RangeStack* stack_ = nullptr;
};

void RangeStack::LockAll() noexcept { g_range_stack_mutex.lock(); }
void RangeStack::UnlockAll() noexcept { g_range_stack_mutex.unlock(); }

RangeStack* RangeStack::New() noexcept {
  auto* const stack = new (std::nothrow) RangeStack;
  if (stack == nullptr) return nullptr;
  void* const memory = mmap(nullptr, markers::kMaxDepth * sizeof(Range), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    delete stack;
    return nullptr;
  }
  stack->ranges_ = static_cast<Range*>(memory);
  stack->At(0).inside = Surroundings();
  return stack;
}

RangeStack* RangeStack::Make() noexcept {
  if (t_gone) return nullptr;
  static thread_local const StackOwner owner;
  return t_stack;
}

void* RangeStack::AllocateObject() noexcept {
  void* const memory = std::malloc(sizeof(ObjectHead) + kObjectBytes);
  if (memory == nullptr) return nullptr;
  auto* const head = new (memory) ObjectHead;
  head->allocated = true;
  return head + 1;
}

void RangeStack::End(const Mark& mark) noexcept {
  if (this != t_stack) {
    At(mark.index).asked.store(mark.serial, std::memory_order_relaxed);
    asked_.store(true, std::memory_order_release);
    return;
  }
  if (mark.index > depth_ || At(mark.index).serial != mark.serial) return;
  Cut(mark.index - 1);
  EndRequested();
}

/// Ends all ranges beyond the first `depth`. Ending the outermost of them ends those inside.
void RangeStack::Cut(size_t depth) noexcept {
  if (depth_ <= depth) return;
  annotate::End(emitter, At(depth + 1).token);
  depth_ = depth;
}

void RangeStack::EndTop() noexcept {
  asked_.exchange(false, std::memory_order_acquire);
  bool left = false;
  size_t depth = depth_;
  for (size_t i = depth_; i > 0; --i) {
    if (At(i).asked.load(std::memory_order_relaxed) != At(i).serial) {
      left = true;
    } else if (left) {
      // Others inside are still open.
      asked_.store(true, std::memory_order_relaxed);
    } else {
      depth = i - 1;
    }
  }
  Cut(depth);
}

}  // namespace oplens::annotate::torch
