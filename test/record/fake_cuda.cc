#include "test/record/fake_cuda.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Node {
  uint64_t id = 0;
  std::string name;
};

struct Buffer {
  uint8_t* data = nullptr;
  size_t size = 0;
  size_t used = 0;
  std::vector<size_t> sizes;  // Of the records in it.
};

/// Everything of the "device". Lives until the process ends.
struct Fake {
  std::recursive_mutex mutex;
  CUpti_CallbackFunc callback = nullptr;
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::set<std::pair<int, uint32_t>> callbacks;
  std::set<int> kinds;
  Buffer filling;
  std::vector<Buffer> held;  // Full ones that are not given back yet.
  Buffer walking;            // The one that is being read.
  size_t walked = 0;         // Records of it that were given back, and their bytes.
  size_t walked_bytes = 0;
  size_t dropped = 0;
  uint32_t correlation = 0;
  uint64_t device_free_ns = 0;
  uint64_t node_ids = 0;
  std::vector<Node> captured;
  std::vector<Node> instantiated;
  std::atomic<uint32_t> flushes{0};
  bool endless = false;  // A kernel that never ends is under way.
  std::vector<CUpti_ActivityKernel10> unfinished;
  std::set<std::string> names;  // Kernel names must outlive their records.
};

Fake& The() {
  static auto* const fake = new Fake;
  return *fake;
}

constexpr int kUnset = -1;

/// The result that FAKE_CUPTI_FAIL asks for.
CUptiResult ResultOf(const std::string& function) {
  const char* const fail = std::getenv("FAKE_CUPTI_FAIL");
  if (fail == nullptr) return CUPTI_SUCCESS;
  const std::string text = fail;
  const size_t equals = text.find('=');
  if (equals == text.npos || text.substr(0, equals) != function) return CUPTI_SUCCESS;
  return static_cast<CUptiResult>(std::atoi(text.c_str() + equals + 1));
}

uint32_t Version() {
  const char* const version = std::getenv("FAKE_CUPTI_VERSION");
  return version == nullptr ? CUPTI_API_VERSION : static_cast<uint32_t>(std::atoi(version));
}

bool HasOwnClock() { return std::getenv("FAKE_CUPTI_CLOCK") != nullptr; }

uint64_t Now() {
  if (The().timestamp != nullptr) return The().timestamp();
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t ahead = HasOwnClock() ? 1'000'000'000 : 0;
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec) +
         ahead;
}

void Complete(Buffer buffer) {
  Fake& fake = The();
  fake.walking = std::move(buffer);
  fake.walked = fake.walked_bytes = 0;
  fake.complete(nullptr, 0, fake.walking.data, fake.walking.size, fake.walking.used);
}

/// How many full buffers CUPTI keeps for itself, as if other threads were filling them.
size_t Held() {
  const char* const held = std::getenv("FAKE_CUPTI_HOLD");
  return held == nullptr ? 0 : static_cast<size_t>(std::atoi(held));
}

void CompleteAll() {
  Fake& fake = The();
  for (Buffer& buffer : fake.held) Complete(std::move(buffer));
  fake.held.clear();
  if (fake.filling.data != nullptr) Complete(std::exchange(fake.filling, {}));
}

void Deliver(const void* record, size_t size) {
  Fake& fake = The();
  const std::lock_guard lock(fake.mutex);
  Buffer& buffer = fake.filling;
  if (buffer.data != nullptr && buffer.used + size > buffer.size) {
    fake.held.push_back(std::exchange(buffer, {}));
    if (fake.held.size() > Held()) {
      Complete(std::move(fake.held.front()));
      fake.held.erase(fake.held.begin());
    }
  }
  if (buffer.data == nullptr && fake.request != nullptr) {
    size_t most = 0;
    fake.request(&buffer.data, &buffer.size, &most);
    // As versions before CUDA 12.9 do.
    if (buffer.data == nullptr && Version() < 27) std::abort();
  }
  if (buffer.data == nullptr) {
    ++fake.dropped;
    return;
  }
  std::memcpy(buffer.data + buffer.used, record, size);
  buffer.used += size;
  buffer.sizes.push_back(size);
}

template <typename Record>
void DeliverIfEnabled(const Record& record, size_t size = sizeof(Record)) {
  if (The().kinds.contains(static_cast<int>(record.kind))) Deliver(&record, size);
}

const char* Kept(const char* name) { return The().names.insert(name).first->c_str(); }

uint32_t ApiCall(CUpti_CallbackId id) {
  CUpti_ActivityAPI api = {};
  api.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  api.cbid = id;
  api.start = Now();
  api.end = Now();
  api.processId = static_cast<uint32_t>(getpid());
  api.threadId = static_cast<uint32_t>(static_cast<uint64_t>(pthread_self()));
  api.correlationId = ++The().correlation;
  DeliverIfEnabled(api);
  return api.correlationId;
}

/// The time at which the device takes up work that is launched now, and is free again.
uint64_t Occupy(uint64_t duration_ns) {
  Fake& fake = The();
  const uint64_t launched = Now() + 1000;
  const uint64_t start = launched > fake.device_free_ns ? launched : fake.device_free_ns;
  fake.device_free_ns = start + duration_ns;
  return start;
}

void DeliverKernel(const CUpti_ActivityKernel10& kernel) {
  // The last member came with 13.0.
  const size_t older = offsetof(CUpti_ActivityKernel10, isDeviceLaunched);
  DeliverIfEnabled(kernel, Version() < 130000 ? older : sizeof kernel);
}

void Kernel(const char* name, int grid, int block, int64_t duration_ns, uint32_t correlation,
            uint64_t node) {
  CUpti_ActivityKernel10 kernel = {};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.contextId = 1;
  kernel.streamId = 7;
  kernel.gridX = grid;
  kernel.blockX = block;
  kernel.gridY = kernel.gridZ = kernel.blockY = kernel.blockZ = 1;
  kernel.registersPerThread = 32;
  kernel.correlationId = correlation;
  kernel.gridId = correlation;
  kernel.name = Kept(name);
  kernel.graphNodeId = node;
  kernel.graphId = node == 0 ? 0 : 2;
  kernel.clusterX = 4;
  kernel.isDeviceLaunched = 1;
  Fake& fake = The();
  fake.endless = fake.endless || duration_ns < 0;
  if (fake.endless) {
    fake.unfinished.push_back(kernel);
    return;
  }
  const auto duration = static_cast<uint64_t>(duration_ns);
  kernel.start = Occupy(duration);
  kernel.end = kernel.completed = kernel.start + duration;
  DeliverKernel(kernel);
}

void CallResource(CUpti_CallbackId id, uint64_t node, uint64_t original) {
  Fake& fake = The();
  if (fake.callback == nullptr || !fake.callbacks.contains({CUPTI_CB_DOMAIN_RESOURCE, id})) return;
  CUpti_GraphData graph = {};
  graph.graph = reinterpret_cast<CUgraph>(uintptr_t{original == 0 ? 1u : 2u});
  graph.node = reinterpret_cast<CUgraphNode>(node);
  graph.originalNode = reinterpret_cast<CUgraphNode>(original);
  CUpti_ResourceData resource = {};
  resource.resourceDescriptor = &graph;
  fake.callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, id, &resource);
}

/// The driver's call behind cudaLaunchKernel, for those who want to know of it.
void CallLaunch(CUpti_ApiCallbackSite site, const char* name) {
  Fake& fake = The();
  constexpr CUpti_CallbackId kId = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
  if (fake.callback == nullptr || !fake.callbacks.contains({CUPTI_CB_DOMAIN_DRIVER_API, kId}))
    return;
  CUpti_CallbackData data = {};
  data.functionName = "cuLaunchKernel";
  data.callbackSite = site;
  data.symbolName = name;
  fake.callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, kId, &data);
}

void AnnounceDevice() {
  CUpti_ActivityDevice5 device = {};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.name = "Fake GPU";
  device.numMultiprocessors = 132;
  device.coreClockRate = 1980000;
  device.globalMemoryBandwidth = 4800000000;
  device.computeCapabilityMajor = 9;
  DeliverIfEnabled(device);
  CUpti_ActivityContext3 context = {};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 1;
  context.nullStreamId = 7;
  DeliverIfEnabled(context);
}

}  // namespace

extern "C" {

int fake_cuda_init(void) {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return kUnset;
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr) return kUnset;
  initialize();
  AnnounceDevice();
  return 0;
}

uint32_t fake_cuda_launch(const char* name, int grid, int block, int64_t duration_ns) {
  const std::lock_guard lock(The().mutex);
  const uint32_t correlation = ApiCall(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  CallLaunch(CUPTI_API_ENTER, name);
  CallLaunch(CUPTI_API_EXIT, name);
  Kernel(name, grid, block, duration_ns, correlation, 0);
  return correlation;
}

uint32_t fake_cuda_copy(uint64_t bytes) {
  const std::lock_guard lock(The().mutex);
  CUpti_ActivityMemcpy6 copy = {};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = bytes;
  copy.correlationId = ApiCall(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020);
  copy.start = Occupy(bytes);
  copy.end = copy.start + bytes;
  copy.contextId = 1;
  copy.streamId = 7;
  DeliverIfEnabled(copy);
  return copy.correlationId;
}

uint32_t fake_cuda_set(uint64_t bytes) {
  const std::lock_guard lock(The().mutex);
  CUpti_ActivityMemset4 set = {};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.bytes = bytes;
  set.correlationId = ApiCall(CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020);
  set.start = Occupy(bytes);
  set.end = set.start + bytes;
  set.contextId = 1;
  set.streamId = 7;
  DeliverIfEnabled(set);
  return set.correlationId;
}

uint32_t fake_cuda_synchronize(void) {
  const std::lock_guard lock(The().mutex);
  CUpti_ActivitySynchronization2 wait = {};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  wait.correlationId = ApiCall(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020);
  wait.start = Now();
  wait.end = wait.start + 10;
  wait.contextId = 1;
  wait.cudaEventId = UINT32_MAX;
  DeliverIfEnabled(wait);
  return wait.correlationId;
}

void fake_cuda_profiler(int start) {
  Fake& fake = The();
  const CUpti_CallbackId id =
      start != 0 ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop;
  if (fake.callback == nullptr || !fake.callbacks.contains({CUPTI_CB_DOMAIN_DRIVER_API, id}))
    return;
  CUpti_CallbackData data = {};
  data.functionName = start != 0 ? "cuProfilerStart" : "cuProfilerStop";
  for (const CUpti_ApiCallbackSite site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    data.callbackSite = site;
    fake.callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  }
}

void* fake_cuda_capture(const char* name) {
  Fake& fake = The();
  fake.captured.push_back({++fake.node_ids, name});
  CallLaunch(CUPTI_API_ENTER, name);
  CallResource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, fake.node_ids, 0);
  CallLaunch(CUPTI_API_EXIT, name);
  return reinterpret_cast<void*>(fake.node_ids);
}

void fake_cuda_instantiate(void) {
  Fake& fake = The();
  for (const Node& node : fake.captured) {
    fake.instantiated.push_back({++fake.node_ids, node.name});
    CallResource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, fake.node_ids, 0);
    CallResource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, fake.node_ids, node.id);
  }
}

uint32_t fake_cuda_replay(void) {
  const std::lock_guard lock(The().mutex);
  const uint32_t correlation = ApiCall(CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000);
  for (const Node& node : The().instantiated) {
    Kernel(node.name.c_str(), 8, 64, 2000, correlation, node.id);
  }
  return correlation;
}

void fake_cupti_deliver(const void* record, uint64_t size) { Deliver(record, size); }

uint32_t fake_cupti_flushes(void) { return The().flushes.load(); }

// The driver's functions.

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(uintptr_t{1});
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }

CUresult cuCtxSynchronize() {
  while (The().endless) pause();
  return CUDA_SUCCESS;
}

// CUPTI's functions.

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = Version();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
              : "CUPTI_ERROR_FAKE";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  *timestamp = Now();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void*) {
  if (const CUptiResult result = ResultOf("cuptiSubscribe")) return result;
  The().callback = callback;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(uintptr_t{1});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (enable != 0) The().callbacks.insert({static_cast<int>(domain), id});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback) {
  if (HasOwnClock()) return CUPTI_ERROR_NOT_SUPPORTED;
  The().timestamp = callback;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  if (const CUptiResult result = ResultOf("cuptiActivityRegisterCallbacks")) return result;
  The().request = request;
  The().complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (const CUptiResult result = ResultOf("cuptiActivityEnable")) return result;
  const std::string name = "cuptiActivityEnable/" + std::to_string(static_cast<int>(kind));
  if (const CUptiResult result = ResultOf(name)) return result;
  The().kinds.insert(static_cast<int>(kind));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  The().kinds.erase(static_cast<int>(kind));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  Fake& fake = The();
  const Buffer& walking = fake.walking;
  if (buffer != walking.data || fake.walked >= walking.sizes.size() || fake.walked_bytes >= valid) {
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  }
  *record = reinterpret_cast<CUpti_Activity*>(buffer + fake.walked_bytes);
  fake.walked_bytes += walking.sizes[fake.walked++];
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = The().dropped;
  The().dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flags) {
  while (std::getenv("FAKE_CUPTI_STUCK") != nullptr) pause();
  const std::lock_guard lock(The().mutex);
  if ((flags & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0) {
    for (const CUpti_ActivityKernel10& kernel : The().unfinished) DeliverKernel(kernel);
    The().unfinished.clear();
  }
  CompleteAll();
  The().flushes.fetch_add(1);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(graph));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  *id = reinterpret_cast<uintptr_t>(node);
  return CUPTI_SUCCESS;
}

}  // extern "C"
