#include "test/support/trace_script.h"

#include <algorithm>

namespace oplens::test {
namespace {

constexpr int64_t kInstant = 1;
constexpr int64_t kStart = 2;
constexpr int64_t kEnd = 4;
constexpr int64_t kThreadObject = 2;

constexpr int64_t kRangeNs = 700;  // Host time of opening or closing a range.
constexpr int64_t kCallNs = 5200;  // Host time of a launch call.
constexpr int64_t kLaunchDelayNs =
    3100;                        // From the start of the call to the earliest kernel start.
constexpr int64_t kGapNs = 900;  // Between kernels of a busy device.

}  // namespace

HostThread::HostThread(ScriptState* state, int64_t thread_id, int64_t start_ns)
    : state_(state), thread_id_(thread_id), now_ns_(start_ns) {}

int64_t HostThread::AddMarker(int64_t flags, int64_t id, int64_t name) {
  now_ns_ += kRangeNs;
  state_->builder->Add("MARKER", {{"flags", flags},
                                  {"timestamp", now_ns_},
                                  {"id", id},
                                  {"objectKind", kThreadObject},
                                  {"objectId", ThreadObject(state_->process_id, thread_id_)},
                                  {"name", name}});
  return id;
}

int64_t HostThread::Push(const std::string& text) {
  open_.push_back(AddMarker(kStart, state_->next_marker++, state_->builder->Intern(text)));
  return open_.back();
}

void HostThread::Pop() {
  AddMarker(kEnd, open_.back(), 0);
  open_.pop_back();
}

void HostThread::Mark(const std::string& text) {
  Push(text);
  Pop();
}

void HostThread::Instant(const std::string& text) {
  AddMarker(kInstant, state_->next_marker++, state_->builder->Intern(text));
}

void HostThread::PushAndLeak(const std::string& text) {
  AddMarker(kStart, state_->next_marker++, state_->builder->Intern(text));
}

int64_t HostThread::CallApi(int64_t cbid, const std::string& table) {
  const int64_t correlation_id = state_->next_correlation++;
  now_ns_ += kRangeNs;
  state_->builder->Add(table, {{"cbid", cbid},
                               {"start", now_ns_},
                               {"end", now_ns_ + kCallNs},
                               {"processId", state_->process_id},
                               {"threadId", SignedThreadId(thread_id_)},
                               {"correlationId", correlation_id}});
  now_ns_ += kCallNs;
  return correlation_id;
}

Row& HostThread::RunKernel(const KernelSpec& kernel, int64_t correlation_id,
                           const std::string& table) {
  const int64_t start =
      std::max(state_->device_free_ns + kGapNs, now_ns_ - kCallNs + kLaunchDelayNs);
  state_->device_free_ns = start + kernel.duration_ns;
  return state_->builder->Add(table, {{"cacheConfig", Blob{std::string(1, '\0')}},
                                      {"registersPerThread", kernel.registers},
                                      {"start", start},
                                      {"end", start + kernel.duration_ns},
                                      {"completed", start + kernel.duration_ns},
                                      {"deviceId", kernel.device},
                                      {"contextId", int64_t{1}},
                                      {"streamId", kernel.stream},
                                      {"gridX", kernel.grid[0]},
                                      {"gridY", kernel.grid[1]},
                                      {"gridZ", kernel.grid[2]},
                                      {"blockX", kernel.block[0]},
                                      {"blockY", kernel.block[1]},
                                      {"blockZ", kernel.block[2]},
                                      {"staticSharedMemory", kernel.static_shared_bytes},
                                      {"dynamicSharedMemory", kernel.dynamic_shared_bytes},
                                      {"correlationId", correlation_id},
                                      {"gridId", correlation_id},
                                      {"name", state_->builder->Intern(kernel.name)}});
}

int64_t HostThread::Launch(const KernelSpec& kernel) {
  constexpr int64_t kCudaLaunchKernel = 211;
  const int64_t correlation_id = CallApi(kCudaLaunchKernel);
  RunKernel(kernel, correlation_id);
  return correlation_id;
}

void AddDevice(NvprofBuilder* builder, int64_t process_id) {
  builder->Add("DEVICE", {{"globalMemoryBandwidth", int64_t{898048000}},
                          {"globalMemorySize", int64_t{16} << 30},
                          {"constantMemorySize", int64_t{65536}},
                          {"l2CacheSize", int64_t{6} << 20},
                          {"numThreadsPerWarp", int64_t{32}},
                          {"coreClockRate", int64_t{1530000}},
                          {"numMemcpyEngines", int64_t{6}},
                          {"numMultiprocessors", int64_t{80}},
                          {"maxWarpsPerMultiprocessor", int64_t{64}},
                          {"maxBlocksPerMultiprocessor", int64_t{32}},
                          {"maxSharedMemoryPerMultiprocessor", int64_t{98304}},
                          {"maxRegistersPerMultiprocessor", int64_t{65536}},
                          {"maxRegistersPerBlock", int64_t{65536}},
                          {"maxSharedMemoryPerBlock", int64_t{49152}},
                          {"maxThreadsPerBlock", int64_t{1024}},
                          {"computeCapabilityMajor", int64_t{7}},
                          {"eccEnabled", int64_t{1}},
                          {"uuid", Blob{std::string(16, '\0')}},
                          {"name", builder->Intern("Tesla V100-SXM2-16GB")}});
  builder->Add(
      "CONTEXT",
      {{"contextId", int64_t{1}}, {"computeApiKind", int64_t{1}}, {"nullStreamId", int64_t{7}}});
  builder->Add("NAME", {{"objectKind", int64_t{1}},
                        {"objectId", ThreadObject(process_id, 0)},
                        {"name", builder->Intern("python3 train.py")}});
}

}  // namespace oplens::test
