#include "record/inject/cupti_session.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>

#include "record/inject/activity_rows.h"
#include "record/inject/clock.h"
#include "record/inject/mapped_file.h"
#include "record/inject/process.h"
#include "record/spool/futex.h"
#include "record/spool/spool_format.h"

namespace oplens::record::inject {
namespace {

// The CUPTI functions in use, looked up by name. Those missing in the oldest supported CUPTI may be
// null.
#define OPLENS_CUPTI_FUNCTIONS(X)      \
  X(cuptiGetVersion)                   \
  X(cuptiGetResultString)              \
  X(cuptiGetTimestamp)                 \
  X(cuptiSubscribe)                    \
  X(cuptiEnableCallback)               \
  X(cuptiActivityRegisterCallbacks)    \
  X(cuptiActivityEnable)               \
  X(cuptiActivityDisable)              \
  X(cuptiActivityGetNextRecord)        \
  X(cuptiActivityGetNumDroppedRecords) \
  X(cuptiActivityFlushAll)
#define OPLENS_CUPTI_LATER_FUNCTIONS(X)     \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiActivitySetAttribute)              \
  X(cuptiGetGraphId)                        \
  X(cuptiGetGraphNodeId)

/// CUPTI, loaded at run time: the program may use another version than the one at build time, or
/// none.
struct CuptiLibrary {
#define OPLENS_MEMBER(name) decltype(&::name) name = nullptr;
  OPLENS_CUPTI_FUNCTIONS(OPLENS_MEMBER)
  OPLENS_CUPTI_LATER_FUNCTIONS(OPLENS_MEMBER)
#undef OPLENS_MEMBER

  /// Finds CUPTI: the one named by OPLENS_CUPTI, else the one the program has loaded, else the
  /// newest installed one. Returns null on success, otherwise what is missing.
  const char* Load() noexcept;

  /// CUPTI's text for a result.
  const char* Words(CUptiResult result) const noexcept;
};

constexpr const char* kNames[] = {"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
                                  "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
                                  "libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2",
                                  "libcupti.so.11.1", "libcupti.so"};
// Locations below the toolkit's folder.
constexpr const char* kFolders[] = {"extras/CUPTI/lib64", "lib64", "lib",
                                    "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};

void* LoadFromToolkit(const char* toolkit) {
  if (toolkit == nullptr || *toolkit == '\0') return nullptr;
  for (const char* const folder : kFolders) {
    for (const char* const name : kNames) {
      char path[4096];
      const int length = snprintf(path, sizeof path, "%s/%s/%s", toolkit, folder, name);
      if (length < 0 || static_cast<size_t>(length) >= sizeof path) continue;
      if (void* const found = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return found;
    }
  }
  return nullptr;
}

void* FindLibrary() {
  const char* const chosen = getenv(spool::kCuptiVariable);
  if (chosen != nullptr && *chosen != '\0') return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
  for (const char* const name : kNames) {
    if (void* const found = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return found;
  }
  for (const char* const name : kNames) {
    if (void* const found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
  }
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (void* const found = LoadFromToolkit(getenv(variable))) return found;
  }
  return LoadFromToolkit("/usr/local/cuda");
}

const char* CuptiLibrary::Load() noexcept {
  void* const library = FindLibrary();
  if (library == nullptr) return "libcupti";
#define OPLENS_LOOK_UP(name) name = reinterpret_cast<decltype(name)>(dlsym(library, #name));
  OPLENS_CUPTI_FUNCTIONS(OPLENS_LOOK_UP)
  OPLENS_CUPTI_LATER_FUNCTIONS(OPLENS_LOOK_UP)
#undef OPLENS_LOOK_UP
#define OPLENS_CHECK(name) \
  if (name == nullptr) return #name;
  OPLENS_CUPTI_FUNCTIONS(OPLENS_CHECK)
#undef OPLENS_CHECK
  return nullptr;
}

const char* CuptiLibrary::Words(CUptiResult result) const noexcept {
  const char* words = nullptr;
  if (cuptiGetResultString == nullptr || cuptiGetResultString(result, &words) != CUPTI_SUCCESS) {
    return "";
  }
  return words == nullptr ? "" : words;
}

/// Starts a thread with all signals blocked: they are for the program's threads.
bool StartHelperThread(void* (*run)(void*), void* argument) noexcept;

/// A call that may never return; lives as long as the process.
struct HelperCall {
  void (*function)();
  std::atomic<uint32_t> ended{0};
};

/// Makes the call on a separate thread and waits up to `most_ns`; returns false if it is still
/// running. If no thread can be created, makes the call here, however long it takes.
bool CallWithin(int64_t most_ns, HelperCall* call) noexcept;

void* RunCall(void* argument) {
  auto* const call = static_cast<HelperCall*>(argument);
  call->function();
  call->ended.store(1, std::memory_order_release);
  spool::WakeAll(call->ended);
  return nullptr;
}

bool StartHelperThread(void* (*run)(void*), void* argument) noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, run, argument) == 0;
  if (started) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool CallWithin(int64_t most_ns, HelperCall* call) noexcept {
  if (!StartHelperThread(RunCall, call)) {
    call->function();
    return true;
  }
  return spool::WaitForChange(call->ended, 0, most_ns);
}

/// Flushes CUPTI every 0.4 seconds and when `record` requests it: CUPTI itself delivers only full
/// buffers, and the rest would be lost with a killed process.
class Flusher {
 public:
  /// Starts a thread that calls `flush`.
  void Start(spool::ProcessPage* page, void (*flush)()) noexcept;
  /// Stops the thread and waits for its end, at most `most_ns`.
  void Stop(int64_t most_ns) noexcept;

 private:
  static void* Run(void* flusher);
  void RunLoop();

  spool::ProcessPage* page_ = nullptr;
  void (*flush_)() = nullptr;
  std::atomic<bool> stopping_{false};
  std::atomic<uint32_t> running_{0};
};

void Flusher::Start(spool::ProcessPage* page, void (*flush)()) noexcept {
  page_ = page;
  flush_ = flush;
  running_.store(1, std::memory_order_relaxed);
  if (!StartHelperThread(Run, this)) running_.store(0, std::memory_order_relaxed);
}

void Flusher::Stop(int64_t most_ns) noexcept {
  stopping_.store(true, std::memory_order_relaxed);
  if (running_.load(std::memory_order_acquire) == 0) return;
  page_->flush_requested.fetch_add(1, std::memory_order_release);
  spool::WakeAll(page_->flush_requested);
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
    spool::WaitForChange(page_->flush_requested, served, spool::kFlushPeriodNs);
    served = page_->flush_requested.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed)) return;
    flush_();
    page_->flush_done.store(served, std::memory_order_release);
    spool::WakeAll(page_->flush_done);
  }
}

/// The oldest CUPTI with compatible records: CUDA 11.1.
constexpr uint32_t kOldestVersion = 14;
/// Before this version (CUDA 12.9), CUPTI crashes if it is refused a buffer.
constexpr uint32_t kTakesRefusal = 27;
constexpr size_t kBufferBytes = 256 * 1024;
constexpr int kMostBuffers = 64;

/// Activity kinds to enable, always or while the window is open.
struct RecordedKind {
  CUpti_ActivityKind kind;
  bool Options::*option;
  bool always;  ///< The others refer to it.
};
constexpr RecordedKind kWanted[] = {
    {CUPTI_ACTIVITY_KIND_DEVICE, &Options::cuda, true},
    {CUPTI_ACTIVITY_KIND_CONTEXT, &Options::cuda, true},
    {CUPTI_ACTIVITY_KIND_STREAM, &Options::cuda, true},
    {CUPTI_ACTIVITY_KIND_NAME, &Options::cuda, true},
    {CUPTI_ACTIVITY_KIND_PCIE, &Options::cuda, true},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, &Options::cuda, false},
    {CUPTI_ACTIVITY_KIND_RUNTIME, &Options::cuda, false},
    {CUPTI_ACTIVITY_KIND_DRIVER, &Options::cuda, false},
    {CUPTI_ACTIVITY_KIND_MEMCPY, &Options::cuda, false},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, &Options::cuda, false},
    {CUPTI_ACTIVITY_KIND_MEMSET, &Options::cuda, false},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, &Options::cuda, false},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, &Options::sync, false},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, &Options::sync, false},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, &Options::overhead, false},
    {CUPTI_ACTIVITY_KIND_MEMORY2, &Options::memory, false},
};

CuptiLibrary g_cupti;
CUpti_SubscriberHandle g_subscriber = nullptr;
std::atomic<bool> g_started{false};
pid_t g_process = 0;  ///< After a fork, CUPTI belongs to the parent.
bool g_own_clock = false;
bool g_may_refuse = false;  ///< Whether this CUPTI may be refused a buffer.
pthread_mutex_t g_window_mutex = PTHREAD_MUTEX_INITIALIZER;
bool g_enabled = false;

/// Buffers for CUPTI: up to kMostBuffers are kept for reuse. Beyond that, CUPTI is refused and
/// drops and counts records or, if it may not be refused, gets buffers that are unmapped after use.
struct BufferPool {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  uint8_t* free[kMostBuffers] = {};
  int free_count = 0;
  int out = 0;

  uint8_t* Take(bool may_refuse) {
    pthread_mutex_lock(&mutex);
    uint8_t* buffer = nullptr;
    if (free_count > 0) {
      buffer = free[--free_count];
    } else if (out < kMostBuffers || !may_refuse) {
      buffer = static_cast<uint8_t*>(MakeMemory(kBufferBytes));
    }
    if (buffer != nullptr) ++out;
    pthread_mutex_unlock(&mutex);
    return buffer;
  }
  void GiveBack(uint8_t* buffer) {
    if (buffer == nullptr) return;
    pthread_mutex_lock(&mutex);
    --out;
    const bool keep = free_count + out < kMostBuffers;
    if (keep) free[free_count++] = buffer;
    pthread_mutex_unlock(&mutex);
    if (!keep) munmap(buffer, kBufferBytes);
  }
};
BufferPool g_buffers;

Flusher g_flusher;

/// The kernel that this thread is launching; null: unknown.
__attribute__((tls_model("initial-exec"))) constinit thread_local const char* t_launched = nullptr;

/// Driver calls that launch a kernel or capture it into a graph.
constexpr CUpti_CallbackId kLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

bool IsOurs() { return g_started.load(std::memory_order_acquire) && g_process == getpid(); }

/// CUPTI's clock is the system time unless it uses ours.
int64_t ClockOffset() {
  if (g_own_clock) return 0;
  uint64_t cupti = 0;
  if (g_cupti.cuptiGetTimestamp(&cupti) != CUPTI_SUCCESS) return 0;
  return Now() - static_cast<int64_t>(cupti);
}

uint64_t CUPTIAPI Timestamp() { return static_cast<uint64_t>(Now()); }

void CUPTIAPI GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = g_buffers.Take(g_may_refuse);  // Also called in forked children, which have no page.
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

/// Stores a record that ends at `end`. The lock is not held during calls of CUPTI, which may call
/// back.
void Keep(const CUpti_Activity* record, const uint8_t* end, int64_t offset) {
  const auto size = static_cast<size_t>(end - reinterpret_cast<const uint8_t*>(record));
  ActivityLock lock;
  switch (StoreActivity(record, size, offset, &lock.stream())) {
    case Stored::kYes:
      break;
    case Stored::kNoRoom:
      CountLostRow();
      break;
    case Stored::kUnknownKind:
      Page()->odd_rows.fetch_add(1, std::memory_order_relaxed);
      break;
  }
}

/// The size of a record is the distance to the next one; it shows which members this version of
/// CUPTI has.
void KeepAll(uint8_t* buffer, size_t valid_bytes) {
  const int64_t offset = ClockOffset();
  const CUpti_Activity* last = nullptr;
  CUpti_Activity* record = nullptr;
  while (g_cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (last != nullptr) Keep(last, reinterpret_cast<const uint8_t*>(record), offset);
    last = record;
  }
  if (last != nullptr) Keep(last, buffer + valid_bytes, offset);
}

void CUPTIAPI TakeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                         size_t valid_bytes) {
  // Not for forked children.
  if (IsOurs() && IsRecording()) {
    if (buffer != nullptr && valid_bytes > 0) KeepAll(buffer, valid_bytes);
    size_t dropped = 0;
    if (g_cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
      Page()->cupti_lost.fetch_add(dropped, std::memory_order_relaxed);
    }
  }
  g_buffers.GiveBack(buffer);
}

void Note(const char* text) {
  ActivityLock lock;
  if (!StoreNote(text, &lock.stream())) CountLostRow();
}

void Fail(const char* step, CUptiResult result, const char* words) {
  spool::ProcessPage* const page = Page();
  snprintf(page->cupti_step, sizeof page->cupti_step, "%s", step);
  snprintf(page->cupti_message, sizeof page->cupti_message, "%s", words);
  page->cupti_result.store(static_cast<int32_t>(result), std::memory_order_relaxed);
  page->cuda.store(spool::CudaState::kFailed, std::memory_order_release);
}

void EnableKind(const RecordedKind& wanted) {
  const CUptiResult result = g_cupti.cuptiActivityEnable(wanted.kind);
  if (result == CUPTI_SUCCESS) return;
  if (wanted.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    return Fail("cuptiActivityEnable", result, g_cupti.Words(result));
  }
  char text[256];
  snprintf(text, sizeof text, "CUPTI does not record activity of kind %d: %s (%d)",
           static_cast<int>(wanted.kind), g_cupti.Words(result), static_cast<int>(result));
  Note(text);
}

void EnableKinds(bool always) {
  // A reference recording has no GPU work.
  if (!always && TheOptions().reference) return;
  for (const RecordedKind& wanted : kWanted) {
    if (wanted.always == always && TheOptions().*wanted.option) EnableKind(wanted);
  }
}

void DisableKinds() {
  for (const RecordedKind& wanted : kWanted) {
    if (!wanted.always && TheOptions().*wanted.option) g_cupti.cuptiActivityDisable(wanted.kind);
  }
}

uint64_t NodeId(CUgraphNode node) {
  uint64_t id = 0;
  if (node != nullptr && g_cupti.cuptiGetGraphNodeId(node, &id) != CUPTI_SUCCESS) id = 0;
  return id;
}

uint32_t GraphId(CUgraph graph) {
  uint32_t id = 0;
  if (graph != nullptr && g_cupti.cuptiGetGraphId(graph, &id) != CUPTI_SUCCESS) id = 0;
  return id;
}

/// Stores a row of OPLENS_GRAPH_NODE; captured launches have the kernel's name.
void StoreGraphNode(const CUpti_GraphData& graph, bool is_copy) {
  const int64_t values[] = {Now(),
                            getpid(),
                            static_cast<int32_t>(ThreadId()),
                            GraphId(graph.graph),
                            static_cast<int64_t>(NodeId(graph.node)),
                            is_copy ? static_cast<int64_t>(NodeId(graph.originalNode)) : 0,
                            graph.nodeType};
  const char* const name = is_copy ? nullptr : t_launched;
  ActivityLock lock;
  if (!StoreRow(spool::Table::kGraphNode, values, name, &lock.stream())) CountLostRow();
}

void OnResource(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
  if (!IsOurs() || !IsRecording()) return;
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    g_cupti.cuptiActivityFlushAll(0);
    return;
  }
  if (resource.resourceDescriptor == nullptr) return;
  const auto& graph = *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  StoreGraphNode(graph, id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
}

void OnProfilerCall(const CUpti_CallbackData& call) {
  if (call.functionName == nullptr) return;
  // Recording starts when the call returns, and stops when it is entered.
  const bool starts = strstr(call.functionName, "ProfilerStart") != nullptr;
  if (starts && call.callbackSite == CUPTI_API_EXIT) SetWindow(true);
  if (!starts && call.callbackSite == CUPTI_API_ENTER) SetWindow(false);
}

bool IsLaunch(CUpti_CallbackId id) {
  return std::find(std::begin(kLaunches), std::end(kLaunches), id) != std::end(kLaunches);
}

void CUPTIAPI OnCallback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                         const void* data) {
  if (data == nullptr) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    OnResource(id, *static_cast<const CUpti_ResourceData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    if (IsLaunch(id)) {
      t_launched = call.callbackSite == CUPTI_API_ENTER ? call.symbolName : nullptr;
    } else {
      OnProfilerCall(call);
    }
  }
}

void EnableCallbacks() {
  const auto enable = [](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    g_cupti.cuptiEnableCallback(1, g_subscriber, domain, id);
  };
  // cudaProfilerStart calls the driver's function.
  enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
  enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  if (g_cupti.cuptiGetGraphNodeId == nullptr || g_cupti.cuptiGetGraphId == nullptr) return;
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
  if (!TheOptions().reference) return;
  for (const CUpti_CallbackId launch : kLaunches) enable(CUPTI_CB_DOMAIN_DRIVER_API, launch);
}

/// Subscribes before any use of CUDA. Sets the clock first: no record may use another one.
bool Attach() {
  CUptiResult result = g_cupti.cuptiSubscribe(&g_subscriber, OnCallback, nullptr);
  if (result != CUPTI_SUCCESS) {
    Fail("cuptiSubscribe", result, g_cupti.Words(result));
    return false;
  }
  g_own_clock = g_cupti.cuptiActivityRegisterTimestampCallback != nullptr &&
                g_cupti.cuptiActivityRegisterTimestampCallback(Timestamp) == CUPTI_SUCCESS;
  if (g_cupti.cuptiActivitySetAttribute != nullptr) {
    // One buffer per thread would waste memory; older versions do not have the attribute.
    uint8_t per_thread = 0;
    size_t size = sizeof per_thread;
    g_cupti.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size,
                                      &per_thread);
  }
  result = g_cupti.cuptiActivityRegisterCallbacks(GiveBuffer, TakeBuffer);
  if (result != CUPTI_SUCCESS) {
    Fail("cuptiActivityRegisterCallbacks", result, g_cupti.Words(result));
    return false;
  }
  return true;
}

/// The driver functions for the end of a process.
struct Driver {
  CUresult (*get_current)(CUcontext*) = nullptr;
  CUresult (*set_current)(CUcontext) = nullptr;
  CUresult (*synchronize)() = nullptr;
  CUcontext context = nullptr;  ///< Of the thread that ends the process.

  /// Whether there is a context to wait for.
  bool Load() {
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return false;
    get_current = reinterpret_cast<decltype(get_current)>(dlsym(library, "cuCtxGetCurrent"));
    set_current = reinterpret_cast<decltype(set_current)>(dlsym(library, "cuCtxSetCurrent"));
    synchronize = reinterpret_cast<decltype(synchronize)>(dlsym(library, "cuCtxSynchronize"));
    return get_current != nullptr && set_current != nullptr && synchronize != nullptr &&
           get_current(&context) == CUDA_SUCCESS && context != nullptr;
  }
};
Driver g_driver;

void Flush() { g_cupti.cuptiActivityFlushAll(0); }

/// Waits for the context's work: unfinished work has no times.
void WaitForGpu() {
  if (g_driver.set_current(g_driver.context) == CUDA_SUCCESS) g_driver.synchronize();
}

void FlushAll() {
  constexpr uint32_t kAlsoIncomplete = 1;
  g_cupti.cuptiActivityFlushAll(kAlsoIncomplete);
}

/// At the end of the process, brings what CUPTI still holds into the spool. Each step is abandoned
/// after a while: without a recorder the program would not wait for the GPU, whose work may never
/// end.
void EndCupti() {
  if (!IsOurs()) return;
  static HelperCall wait{WaitForGpu};
  static HelperCall flush{FlushAll};
  g_flusher.Stop(spool::kEndWaitNs);
  const bool waited = !g_driver.Load() || CallWithin(spool::kEndWaitNs, &wait);
  const bool flushed = CallWithin(spool::kEndWaitNs, &flush);
  if (!waited || !flushed) Page()->gpu_busy_at_end.store(1, std::memory_order_relaxed);
}

void StartOnce() {
  if (const char* const missing = g_cupti.Load()) {
    return Fail(missing, CUPTI_SUCCESS, "not found");
  }
  uint32_t version = 0;
  g_cupti.cuptiGetVersion(&version);
  Page()->cupti_version.store(version, std::memory_order_relaxed);
  g_may_refuse = version >= kTakesRefusal;
  if (version < kOldestVersion) return Fail("cuptiGetVersion", CUPTI_SUCCESS, "too old");
  if (!Attach()) return;
  Page()->cuda.store(spool::CudaState::kRecording, std::memory_order_relaxed);
  g_process = getpid();
  g_started.store(true, std::memory_order_release);
  EnableCallbacks();
  EnableKinds(true);
  UpdateCuptiWindow();
  g_flusher.Start(Page(), Flush);
  // Runs before the driver's destructors, which are already registered.
  atexit(EndCupti);
}

}  // namespace

void StartCupti() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, StartOnce);
}

void UpdateCuptiWindow() noexcept {
  if (!IsOurs()) return;
  pthread_mutex_lock(&g_window_mutex);
  // Read under the lock: two threads may bring different states.
  const bool open = WindowOpen();
  const bool closes = g_enabled && !open;
  if (!g_enabled && open) EnableKinds(false);
  if (closes) DisableKinds();
  g_enabled = open;
  pthread_mutex_unlock(&g_window_mutex);
  if (closes) g_cupti.cuptiActivityFlushAll(0);
}

}  // namespace oplens::record::inject
