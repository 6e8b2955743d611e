#include "record/inject/cupti_session.h"

#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "record/inject/activity_rows.h"
#include "record/inject/clock.h"
#include "record/inject/cupti_library.h"
#include "record/inject/mapped_file.h"
#include "record/inject/process.h"

namespace oplens::record::inject {
namespace {

/// The oldest CUPTI whose records these are: CUDA 11.1.
constexpr uint32_t kOldestVersion = 14;
constexpr size_t kBufferBytes = 1024 * 1024;
constexpr int kMostBuffers = 16;
constexpr uint32_t kFlushPeriodMs = 400;

/// Kinds to enable: always, or while the window is open.
struct WantedKind {
  CUpti_ActivityKind kind;
  bool Options::*option;
  bool always;  ///< What the others refer to.
};
constexpr WantedKind kWanted[] = {
    {CUPTI_ACTIVITY_KIND_DEVICE, &Options::cuda, true},
    {CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE, &Options::cuda, true},
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
pid_t g_process = 0;  ///< After a fork CUPTI is the parent's.
bool g_own_clock = false;
pthread_mutex_t g_window_mutex = PTHREAD_MUTEX_INITIALIZER;
bool g_enabled = false;

// Buffers that CUPTI fills, of a fixed number: beyond that it drops records, and counts them.
struct BufferPool {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  uint8_t* free[kMostBuffers] = {};
  int free_count = 0;
  int made = 0;

  uint8_t* Take() {
    pthread_mutex_lock(&mutex);
    uint8_t* buffer = nullptr;
    if (free_count > 0) {
      buffer = free[--free_count];
    } else if (made < kMostBuffers) {
      buffer = static_cast<uint8_t*>(MakeMemory(kBufferBytes));
      if (buffer != nullptr) ++made;
    }
    pthread_mutex_unlock(&mutex);
    return buffer;
  }
  void GiveBack(uint8_t* buffer) {
    if (buffer == nullptr) return;
    pthread_mutex_lock(&mutex);
    if (free_count < kMostBuffers) free[free_count++] = buffer;
    pthread_mutex_unlock(&mutex);
  }
};
BufferPool g_buffers;

bool IsOurs() { return g_started.load(std::memory_order_acquire) && g_process == getpid(); }

/// CUPTI's clock is the time of day, unless it takes ours.
int64_t ClockOffset() {
  if (g_own_clock) return 0;
  uint64_t cupti = 0;
  if (g_cupti.cuptiGetTimestamp(&cupti) != CUPTI_SUCCESS) return 0;
  return Now() - static_cast<int64_t>(cupti);
}

uint64_t CUPTIAPI Timestamp() { return static_cast<uint64_t>(Now()); }

void CUPTIAPI GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = g_buffers.Take();
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

/// Stores a record that reaches up to `end`.
void Keep(const CUpti_Activity* record, const uint8_t* end, int64_t offset, Stream* stream) {
  const auto size = static_cast<size_t>(end - reinterpret_cast<const uint8_t*>(record));
  switch (StoreActivity(record, size, offset, stream)) {
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

/// The size of a record is what lies before the next one: it tells which members this version of
/// CUPTI has.
void KeepAll(uint8_t* buffer, size_t valid_bytes) {
  const int64_t offset = ClockOffset();
  ActivityLock lock;
  const CUpti_Activity* last = nullptr;
  CUpti_Activity* record = nullptr;
  while (g_cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (last != nullptr) {
      Keep(last, reinterpret_cast<const uint8_t*>(record), offset, &lock.stream());
    }
    last = record;
  }
  if (last != nullptr) Keep(last, buffer + valid_bytes, offset, &lock.stream());
}

void CUPTIAPI TakeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                         size_t valid_bytes) {
  // A child of a fork has nothing to do with them.
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

void EnableKind(const WantedKind& wanted) {
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
  for (const WantedKind& wanted : kWanted) {
    if (wanted.always == always && TheOptions().*wanted.option) EnableKind(wanted);
  }
}

void DisableKinds() {
  for (const WantedKind& wanted : kWanted) {
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

/// Columns of OPLENS_GRAPH_NODE.
void StoreGraphNode(const CUpti_GraphData& graph, bool is_copy) {
  const int64_t values[] = {Now(),
                            getpid(),
                            static_cast<int32_t>(ThreadId()),
                            GraphId(graph.graph),
                            static_cast<int64_t>(NodeId(graph.node)),
                            is_copy ? static_cast<int64_t>(NodeId(graph.originalNode)) : 0};
  ActivityLock lock;
  if (!StoreRow(spool::Table::kGraphNode, values, &lock.stream())) CountLostRow();
}

void OnResource(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
  if (resource.resourceDescriptor == nullptr || !IsOurs() || !IsRecording()) return;
  const auto& graph = *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  StoreGraphNode(graph, id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
}

void OnProfilerCall(const CUpti_CallbackData& call) {
  if (call.functionName == nullptr) return;
  // Recording begins when the call returns, and ends when it is made.
  const bool starts = strstr(call.functionName, "ProfilerStart") != nullptr;
  if (starts && call.callbackSite == CUPTI_API_EXIT) SetWindow(true);
  if (!starts && call.callbackSite == CUPTI_API_ENTER) SetWindow(false);
}

void CUPTIAPI OnCallback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                         const void* data) {
  if (data == nullptr) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    OnResource(id, *static_cast<const CUpti_ResourceData*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    OnProfilerCall(*static_cast<const CUpti_CallbackData*>(data));
  }
}

void EnableCallbacks() {
  const auto enable = [](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    g_cupti.cuptiEnableCallback(1, g_subscriber, domain, id);
  };
  // The runtime's cudaProfilerStart calls the driver's.
  enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
  enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
  if (g_cupti.cuptiGetGraphNodeId == nullptr || g_cupti.cuptiGetGraphId == nullptr) return;
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
}

/// Subscribes, before anything of CUDA happens. The clock comes first: records must not begin on
/// another one.
bool Attach() {
  CUptiResult result = g_cupti.cuptiSubscribe(&g_subscriber, OnCallback, nullptr);
  if (result != CUPTI_SUCCESS) {
    Fail("cuptiSubscribe", result, g_cupti.Words(result));
    return false;
  }
  g_own_clock = g_cupti.cuptiActivityRegisterTimestampCallback != nullptr &&
                g_cupti.cuptiActivityRegisterTimestampCallback(Timestamp) == CUPTI_SUCCESS;
  result = g_cupti.cuptiActivityRegisterCallbacks(GiveBuffer, TakeBuffer);
  if (result != CUPTI_SUCCESS) {
    Fail("cuptiActivityRegisterCallbacks", result, g_cupti.Words(result));
    return false;
  }
  // What is older than this is lost with a process that is killed.
  if (g_cupti.cuptiActivityFlushPeriod != nullptr) g_cupti.cuptiActivityFlushPeriod(kFlushPeriodMs);
  return true;
}

void StartOnce() {
  if (const char* const missing = g_cupti.Load()) {
    return Fail(missing, CUPTI_SUCCESS, "not found");
  }
  uint32_t version = 0;
  g_cupti.cuptiGetVersion(&version);
  Page()->cupti_version.store(version, std::memory_order_relaxed);
  if (version < kOldestVersion) return Fail("cuptiGetVersion", CUPTI_SUCCESS, "too old");
  if (!Attach()) return;
  Page()->cuda.store(spool::CudaState::kRecording, std::memory_order_relaxed);
  g_process = getpid();
  g_started.store(true, std::memory_order_release);
  EnableCallbacks();
  EnableKinds(true);
  SetCuptiWindow(WindowOpen());
  // Before the destructors of the driver, which are registered already.
  atexit(FlushCupti);
}

}  // namespace

void StartCupti() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, StartOnce);
}

void SetCuptiWindow(bool open) noexcept {
  if (!IsOurs()) return;
  pthread_mutex_lock(&g_window_mutex);
  const bool changes = open != g_enabled;
  g_enabled = open;
  if (changes && open) EnableKinds(false);
  if (changes && !open) DisableKinds();
  pthread_mutex_unlock(&g_window_mutex);
}

void FlushCupti() noexcept {
  if (!IsOurs()) return;
  constexpr uint32_t kAlsoIncomplete = 1;
  g_cupti.cuptiActivityFlushAll(kAlsoIncomplete);
}

}  // namespace oplens::record::inject
