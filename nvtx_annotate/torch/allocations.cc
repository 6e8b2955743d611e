#include "nvtx_annotate/torch/allocations.h"

#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <pthread.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <unordered_map>

#include "nvtx_annotate/capture_window.h"
#include "nvtx_annotate/emitter.h"
#include "nvtx_annotate/torch/torch_annotate.h"

namespace oplens::annotate::torch {
namespace {

using c10::DebugInfoKind;
using c10::ThreadLocalDebugInfo;
namespace impl = ::torch::profiler::impl;

uint64_t AllocationsAddress(const void* data) { return reinterpret_cast<uintptr_t>(data); }

/// Blocks of the wrapped allocator by address. Lives until the process ends.
class Blocks {
 public:
  struct Block {
    size_t bytes = 0;
    c10::DeleterFnPtr deleter = nullptr;
  };

  static Blocks& Get() {
    static Blocks* const blocks = new Blocks;
    return *blocks;
  }

  void Add(void* data, const Block& block) {
    Shard& shard = ShardOf(data);
    const std::lock_guard lock(shard.mutex);
    shard.blocks[data] = block;
  }
  Block Take(void* data) {
    Shard& shard = ShardOf(data);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.blocks.find(data);
    if (found == shard.blocks.end()) return {};
    const Block block = found->second;
    shard.blocks.erase(found);
    return block;
  }

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<void*, Block> blocks;
  };
  static constexpr size_t kShards = 64;

  // A forked child must not inherit locked mutexes.
  Blocks() {
    pthread_atfork([] { Get().LockAll(); }, [] { Get().UnlockAll(); }, [] { Get().UnlockAll(); });
  }
  void LockAll() {
    for (Shard& shard : shards_) shard.mutex.lock();
  }
  void UnlockAll() {
    for (Shard& shard : shards_) shard.mutex.unlock();
  }
  Shard& ShardOf(const void* data) { return shards_[(AllocationsAddress(data) >> 6) % kShards]; }

  Shard shards_[kShards];
};

std::atomic<int64_t> g_host_bytes{0};
/// Tensors keep their allocator, and may request more from it at any time.
std::atomic<bool> g_wanted{false};

/// `bytes` negative: released.
void ReportHost(const void* data, int64_t bytes) {
  const int64_t total = g_host_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (g_wanted.load(std::memory_order_relaxed) && Enabled()) {
    EmitMemory({AllocationsAddress(data), bytes, total, -1, 0, -1});
  }
}

/// Deleter of all tensors made by the wrapped allocator, even after unwrapping.
void DeleteBlock(void* data) {
  // Before another thread can reuse the address.
  const Blocks::Block block = Blocks::Get().Take(data);
  if (block.deleter == nullptr) return;
  ReportHost(data, -static_cast<int64_t>(block.bytes));
  block.deleter(data);
}

/// The virtual allocation function is const in older versions: its type decides which of two
/// classes overrides it. Only the chosen one is compiled.
template <typename Base>
class OverridesConst : public Base {
 public:
  c10::DataPtr allocate(size_t size) const override { return Allocate(size); }

 protected:
  virtual c10::DataPtr Allocate(size_t size) const = 0;
};
template <typename Base>
class OverridesMutable : public Base {
 public:
  c10::DataPtr allocate(size_t size) override { return Allocate(size); }

 protected:
  virtual c10::DataPtr Allocate(size_t size) const = 0;
};
constexpr bool kAllocatesConst = std::is_same_v<decltype(&c10::Allocator::allocate),
                                                c10::DataPtr (c10::Allocator::*)(size_t) const>;
using ObservedAllocator = std::conditional_t<kAllocatesConst, OverridesConst<c10::Allocator>,
                                             OverridesMutable<c10::Allocator>>;

/// Wraps the host allocator.
class HostAllocator final : public ObservedAllocator {
 public:
  c10::DeleterFnPtr raw_deleter() const override { return DeleteBlock; }
  /// Pure virtual in newer versions.
  void copy_data(void* to, const void* from, size_t size) const { std::memcpy(to, from, size); }

  /// False if blocks of this allocator cannot be identified by address.
  bool Wrap(c10::Allocator* inner) {
    if (inner == nullptr || inner->raw_deleter() == nullptr) return false;
    inner_.store(inner, std::memory_order_relaxed);
    return true;
  }
  c10::Allocator* inner() const { return inner_.load(std::memory_order_relaxed); }

 private:
  c10::DataPtr Allocate(size_t size) const override {
    c10::Allocator* const inner = this->inner();
    c10::DataPtr data = inner->allocate(size);
    const c10::DeleterFnPtr deleter = inner->raw_deleter();
    if (data.get() == nullptr || data.get() != data.get_context() ||
        data.get_deleter() != deleter) {
      return data;
    }
    try {
      Blocks::Get().Add(data.get(), {size, deleter});
    } catch (...) {
      return data;  // Out of memory: not observed.
    }
    static_cast<void>(data.compare_exchange_deleter(deleter, DeleteBlock));
    ReportHost(data.get(), static_cast<int64_t>(size));
    return data;
  }

  std::atomic<c10::Allocator*> inner_{nullptr};
};

HostAllocator& Host() {
  static HostAllocator* const host = new HostAllocator;
  return *host;
}

void WrapHost() {
  c10::Allocator* const current = c10::GetAllocator(c10::DeviceType::CPU);
  // Keep an allocator with higher priority.
  if (current != &Host() && Host().Wrap(current)) {
    c10::SetAllocator(c10::DeviceType::CPU, &Host());
  }
}

void UnwrapHost() {
  if (c10::GetAllocator(c10::DeviceType::CPU) != &Host()) return;
  c10::SetAllocator(c10::DeviceType::CPU, Host().inner());
}

/// The type of the totals depends on the version.
template <typename Function>
struct TotalOf;
template <typename Total>
struct TotalOf<void (c10::MemoryReportingInfoBase::*)(void*, int64_t, Total, Total, c10::Device)> {
  using Type = Total;
};
using Total = TotalOf<decltype(&c10::MemoryReportingInfoBase::reportMemoryUsage)>::Type;

/// The object in the slot: it has the type that PyTorch expects there, and is not an active
/// profiler.
class DeviceReporter final : public impl::ProfilerStateBase {
 public:
  DeviceReporter() : impl::ProfilerStateBase(impl::ProfilerConfig(impl::ProfilerState::Disabled)) {}
  impl::ActiveProfilerType profilerType() override { return impl::ActiveProfilerType::NONE; }
  /// For the host allocator, whose own accounting would be wrong if it ran only at times.
  bool memoryProfilingEnabled() const override { return false; }
  void reportMemoryUsage(void* data, int64_t bytes, Total total_allocated, Total total_reserved,
                         c10::Device device) override {
    if (device.type() == c10::DeviceType::CPU || !Enabled()) return;
    EmitMemory({AllocationsAddress(data), bytes, static_cast<int64_t>(total_allocated),
                static_cast<int64_t>(total_reserved), static_cast<int32_t>(device.type()),
                device.index()});
  }
};

const std::shared_ptr<DeviceReporter>& Reporter() {
  static const auto* const reporter =
      new std::shared_ptr<DeviceReporter>(std::make_shared<DeviceReporter>());
  return *reporter;
}

struct SlotTaken final : at::ObserverContext {
  std::thread::id thread = std::this_thread::get_id();
};

std::unique_ptr<at::ObserverContext> TakeSlot(const at::RecordFunction& function) noexcept {
  // An op that ends on another thread could not free the slot.
  if (!Enabled() || function.isAsync() ||
      ThreadLocalDebugInfo::get(DebugInfoKind::PROFILER_STATE) != nullptr) {
    return nullptr;
  }
  try {
    auto taken = std::make_unique<SlotTaken>();
    ThreadLocalDebugInfo::_push(DebugInfoKind::PROFILER_STATE, Reporter());
    return taken;
  } catch (...) {
    return nullptr;
  }
}

void GiveSlotBack(const at::RecordFunction& /*function*/, at::ObserverContext* context) noexcept {
  if (context == nullptr) return;
  const auto* const taken = static_cast<SlotTaken*>(context);
  if (taken->thread != std::this_thread::get_id() ||
      ThreadLocalDebugInfo::get(DebugInfoKind::PROFILER_STATE) != Reporter().get()) {
    return;
  }
  try {
    ThreadLocalDebugInfo::_pop(DebugInfoKind::PROFILER_STATE);
  } catch (...) {
    return;  // Something else was put on top and not removed.
  }
}

std::mutex g_allocations_mutex;
int g_users = 0;
at::CallbackHandle g_callback = 0;

bool StartOnce() {
  const std::lock_guard lock(g_allocations_mutex);
  if (EmissionMode() != Mode::kPayload) return false;
  if (g_users++ > 0) return true;
  g_wanted.store(true, std::memory_order_relaxed);
  WrapHost();
  g_callback = at::addGlobalCallback(
      at::RecordFunctionCallback(TakeSlot, GiveSlotBack)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  return true;
}

void StopLast() {
  const std::lock_guard lock(g_allocations_mutex);
  if (g_users == 0 || --g_users > 0) return;
  g_wanted.store(false, std::memory_order_relaxed);
  at::removeCallback(g_callback);
  UnwrapHost();
}

bool IsAsked() {
  const char* const options = std::getenv("OPLENS_ANNOTATE");
  return HasWord(options == nullptr ? "" : options, "memory");
}

// After the globals above: loading the library starts it.
const bool g_started_by_loading = IsAsked() && StartMemory();

}  // namespace

bool StartMemory() noexcept {
  try {
    return StartOnce();
  } catch (...) {
    return false;
  }
}

void StopMemory() noexcept {
  try {
    StopLast();
  } catch (...) {
    return;
  }
}

}  // namespace oplens::annotate::torch

extern "C" {

int oplens_torch_memory(int on) {
  if (on != 0) return oplens::annotate::torch::StartMemory() ? 1 : 0;
  oplens::annotate::torch::StopMemory();
  return 0;
}

}  // extern "C"
