#include "prof/views/gpu.h"

namespace oplens::prof {
namespace {

using enum FieldType;
constexpr int kGpuFieldsWidth = 13;

constexpr Field kGpuFields[] = {
    {"rank", "Rank", "", FieldType::kText, 4, "rank", Fold::kKey},
    {"device", "Device", "", kInteger, 6, "number of the GPU", Fold::kKey},
    {"name", "Name", "", FieldType::kText, Field::kShared, "name of the GPU"},
    {"window_ns", "Window(ns)", "ns", kInteger, kGpuFieldsWidth,
     "from the start of the rank's first step to the end of its last", Fold::kSum},
    {"busy_ns", "Busy(ns)", "ns", kInteger, kGpuFieldsWidth,
     "time of the window in which a kernel or a graph's replay ran", Fold::kSum},
    AsRatio({"busy_pct", "Busy(%)", "%", kDecimal, 8, "100 x busy_ns / window_ns"},
            {"busy_ns", "window_ns", 100}),
    {"sm_efficiency_pct", "SMEff(%)", "%", kDecimal, 8,
     "100 x mean over the window of min(1, blocks per multiprocessor of all running kernels); "
     "unknown where the grid is not known of 90 % of the time of kernels"},
    {"achieved_occupancy_pct", "AchievedOccupancy(%)", "%", kDecimal, 9,
     "estimated: mean over compute kernels, weighted by their time in the window; unknown where "
     "half of that time has none"},
    {"tc_time_pct", "TCTime(%)", "%", kDecimal, 8,
     "100 x time of kernels that use Tensor Cores / time of those of which that is known"},
    {"tc_known_pct", "TCKnown(%)", "%", kDecimal, 10,
     "100 x time of kernels of which the use of Tensor Cores is known / (kernel_ns + comm_ns)"},
    {"tc_least_pct", "TCLeast(%)", "%", kDecimal, 10,
     "at least: 100 x time of kernels that use Tensor Cores / (kernel_ns + comm_ns)"},
    {"kernels", "Kernels", "", kInteger, 8, "compute kernels of which a part is in the window",
     Fold::kSum},
    {"kernel_ns", "Kernel(ns)", "ns", kInteger, kGpuFieldsWidth,
     "sum of their durations in the window", Fold::kSum},
    {"copy_ns", "Copy(ns)", "ns", kInteger, kGpuFieldsWidth, "the same of copies and fills",
     Fold::kSum},
    {"comm_ns", "Comm(ns)", "ns", kInteger, kGpuFieldsWidth, "the same of communication kernels",
     Fold::kSum},
    {"replays", "Replays", "", kInteger, 8,
     "replays of graphs whose kernels are hidden, as kernels", Fold::kSum},
    {"replay_ns", "Replay(ns)", "ns", kInteger, kGpuFieldsWidth, "the same as kernel_ns of replays",
     Fold::kSum},
    {"memory_bytes", "Memory", "B", kInteger, kGpuFieldsWidth, "memory of the GPU", Fold::kMax},
    {"peak_allocated_bytes", "PeakAllocated", "B", kInteger, kGpuFieldsWidth,
     "most that the framework had allocated at once in the whole recording", Fold::kMax},
};

}  // namespace

std::span<const Field> GpuFields() { return kGpuFields; }

}  // namespace oplens::prof
