#ifndef OPLENS_TEST_SUPPORT_TRACE_SCRIPT_H_
#define OPLENS_TEST_SUPPORT_TRACE_SCRIPT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "test/support/nvprof_builder.h"

namespace oplens::test {

/// A kernel as the device runs it.
struct KernelSpec {
  std::string name = "kernel";  ///< Mangled, as profilers store it.
  int64_t duration_ns = 1000;
  int64_t grid[3] = {1, 1, 1};
  int64_t block[3] = {128, 1, 1};
  int64_t registers = 32;
  int64_t static_shared_bytes = 0;
  int64_t dynamic_shared_bytes = 0;
  int64_t stream = 7;
  int64_t device = 0;
};

/// Ids and clocks that all threads of one script share.
struct ScriptState {
  NvprofBuilder* builder;
  int64_t next_correlation = 101;
  int64_t next_marker = 1;
  int64_t device_free_ns = 0;  ///< When the device finishes what was launched so far.
  int64_t process_id = 4242;
};

/// A host thread that acts in the order of the calls, each of which moves its clock forward: a
/// small language to write down a profile. Several threads may share one ScriptState.
class HostThread {
 public:
  HostThread(ScriptState* state, int64_t thread_id, int64_t start_ns);

  /// Opens a range; Pop() closes the newest that is open. Returns the marker id.
  int64_t Push(const std::string& text);
  void Pop();
  /// A range without an inside.
  void Mark(const std::string& text);
  /// An instantaneous marker.
  void Instant(const std::string& text);
  /// Opens a range that is never closed.
  void PushAndLeak(const std::string& text);

  /// Calls cudaLaunchKernel; the kernel runs when the device is free. Returns the correlation id.
  int64_t Launch(const KernelSpec& kernel);
  /// The API row alone; cbid 211 is cudaLaunchKernel of the runtime, 307 cuLaunchKernel of the
  /// driver.
  int64_t CallApi(int64_t cbid, const std::string& table = "RUNTIME");
  /// A kernel of an earlier API call, or of none.
  Row& RunKernel(const KernelSpec& kernel, int64_t correlation_id,
                 const std::string& table = "CONCURRENT_KERNEL");

  void Wait(int64_t ns) { now_ns_ += ns; }
  void WaitUntil(int64_t time_ns) {
    if (now_ns_ < time_ns) now_ns_ = time_ns;
  }
  int64_t now_ns() const { return now_ns_; }
  int64_t thread_id() const { return thread_id_; }

 private:
  int64_t AddMarker(int64_t flags, int64_t id, int64_t name);

  ScriptState* state_;
  int64_t thread_id_;
  int64_t now_ns_;
  std::vector<int64_t> open_;  // Marker ids, outermost first.
};

/// A range that closes at the end of the block.
class ScriptRange {
 public:
  ScriptRange(HostThread* thread, const std::string& text) : thread_(thread) {
    thread_->Push(text);
  }
  ~ScriptRange() { thread_->Pop(); }
  ScriptRange(const ScriptRange&) = delete;
  ScriptRange& operator=(const ScriptRange&) = delete;

 private:
  HostThread* thread_;
};

/// Adds the rows that describe a V100-like device 0, its context 1 and the process name.
void AddDevice(NvprofBuilder* builder, int64_t process_id);

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_TRACE_SCRIPT_H_
