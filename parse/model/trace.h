#ifndef OPLENS_PARSE_MODEL_TRACE_H_
#define OPLENS_PARSE_MODEL_TRACE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "parse/model/reason.h"
#include "parse/model/string_pool.h"

namespace oplens {

// The neutral model of a profile: what every reader fills and every later stage reads. It knows no
// database and no file format. All times are ns on the file's own clock, whose origin means
// nothing.

/// Index of a Thread in Trace::threads.
using ThreadIndex = uint32_t;
/// Index of a LaunchCall in Trace::launches; kNoLaunch when there is none.
using LaunchIndex = uint32_t;
inline constexpr LaunchIndex kNoLaunch = UINT32_MAX;
/// Stands for an id that could not be read; CUPTI's ids are not negative.
inline constexpr int64_t kUnknownId = -1;
/// End time of a range that was never closed.
inline constexpr int64_t kNeverClosed = std::numeric_limits<int64_t>::max();

/// A host thread.
struct Thread {
  int64_t process_id = 0;
  int64_t thread_id = 0;  ///< Unique within the process only.
};

/// An annotation (NVTX push/pop or start/end) of a host thread.
struct Range {
  int64_t start_ns = 0;
  int64_t end_ns = kNeverClosed;
  int64_t id = 0;  ///< The file's own id; ascends in the order of opening.
  StringId text = 0;
  ThreadIndex thread = 0;

  bool open() const { return end_ns == kNeverClosed; }
};

/// A CUDA API call that something on the GPU came from.
struct LaunchCall {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t correlation_id = 0;
  ThreadIndex thread = 0;
  StringId api = 0;  ///< e.g. "cudaLaunchKernel"
};

/// One execution of a kernel.
struct Kernel {
  int64_t start_ns = 0;  ///< 0 with end_ns 0: not timed.
  int64_t end_ns = 0;
  int64_t correlation_id = 0;  ///< kUnknownId when the file does not say.
  int64_t row_id = 0;          ///< Where it stands in the file; last resort for a stable order.
  StringId name = 0;           ///< As in the file, mangled or not; 0 when unknown.
  LaunchIndex launch = kNoLaunch;
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
  int32_t grid[3] = {};   ///< blocks
  int32_t block[3] = {};  ///< threads
  int32_t registers_per_thread = 0;
  int32_t static_shared_memory_bytes = 0;
  int32_t dynamic_shared_memory_bytes = 0;
  ReasonSet reasons;  ///< What the reader could not read in this row.

  bool timed() const { return start_ns != 0 || end_ns != 0; }
};

/// A copy between memories; kinds are CUPTI's numbers (CUpti_ActivityMemcpyKind, -MemoryKind).
struct MemoryCopy {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t size_bytes = 0;
  LaunchIndex launch = kNoLaunch;
  int32_t copy_kind = 0;  ///< 1 HtoD, 2 DtoH, 8 DtoD, 10 PtoP, ...
  int32_t source_kind = 0;
  int32_t target_kind = 0;
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
};

/// A fill of device memory.
struct MemorySet {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t size_bytes = 0;
  LaunchIndex launch = kNoLaunch;
  int32_t value = 0;  ///< The fill value, not a size.
  int32_t device_id = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
};

/// A wait of the host or of a stream; kind is CUPTI's number (1 event, 2 stream wait, 3 stream, 4
/// context).
struct Synchronization {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  LaunchIndex launch = kNoLaunch;
  int32_t kind = 0;
  int32_t context_id = 0;
  int32_t stream_id = 0;
};

/// Time that the profiler itself or the driver's compiler took; kind is CUPTI's number.
struct Overhead {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t kind = 0;
};

/// A GPU.
struct Device {
  int64_t id = 0;  ///< What deviceId of other rows means.
  StringId name = 0;
  int32_t compute_capability_major = 0;
  int32_t compute_capability_minor = 0;
  int32_t multiprocessors = 0;
  int64_t core_clock_hz = 0;
  int64_t memory_bandwidth_bytes_per_s = 0;
  int64_t memory_bytes = 0;
  int64_t l2_cache_bytes = 0;
};

/// One profile. Rows are in file order until Correlate sorts them.
struct Trace {
  std::string family;          ///< "nvprof"
  int64_t schema_version = 0;  ///< 0 when the file does not say.
  StringPool strings;
  std::vector<Thread> threads;
  std::vector<Range> ranges;
  std::vector<LaunchCall> launches;  ///< Only calls that a kernel, copy, set or wait refers to.
  std::vector<Kernel> kernels;
  std::vector<MemoryCopy> copies;
  std::vector<MemorySet> sets;
  std::vector<Synchronization> synchronizations;
  std::vector<Overhead> overheads;
  std::vector<Device> devices;
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_TRACE_H_
