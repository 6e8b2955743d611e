#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "ops/kernels/tensor_core.h"
#include "parse/join/joined.h"
#include "parse/model/recording_advice.h"
#include "parse/model/trace_devices.h"
#include "parse/model/trace_needs.h"
#include "prof/price/figures.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/class_times.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/table/field.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/streams/gpu_launch.h"
#include "prof/views/streams/gpu_rows.h"

namespace oplens::prof {
namespace {

// Kernels of unknown grid count as no block: the mean is valid if they take at most 10 % of the
// time.
constexpr double kLeastGridsKnown = 0.9;
// A mean needs at least half of the time.
constexpr double kLeastOccupancyKnown = 0.5;

bool IsShare(int64_t part_ns, int64_t whole_ns, double least) {
  return part_ns > 0 && static_cast<double>(part_ns) >= least * static_cast<double>(whole_ns);
}

Cell GpuRatio(int64_t part, int64_t whole, double scale) {
  if (whole <= 0) return {};
  return Cell{scale * static_cast<double>(part) / static_cast<double>(whole)};
}

using enum FieldType;

constexpr Column<GpuRow> kGpuColumns[] = {
    {{"rank", "Rank", "", kText, 4, "rank", Fold::kKey},
     [](const GpuRow& row) { return CellOf(row.rank); }},
    {{"device", "Device", "", kInteger, 6, "number of the GPU", Fold::kKey},
     [](const GpuRow& row) { return Integer(row.device); }},
    {{"name", "Name", "", kText, Field::kShared, "name of the GPU"},
     [](const GpuRow& row) { return CellOf(row.sums.name); }},
    FigureColumn<&GpuSums::window_ns>{
        "window_ns", "Window(ns)", "ns", 13,
        "from the start of the rank's first step to the end of its last"},
    FigureColumn<&GpuSums::busy_ns>{"busy_ns", "KernelBusy(ns)", "ns", 14,
                                    "time in the window in which a kernel or graph replay ran"},
    {AsRatio({"busy_pct", "KernelBusy(%)", "%", kDecimal, 13, "100 x busy_ns / window_ns"},
             {"busy_ns", "window_ns", 100}),
     [](const GpuRow& row) { return GpuRatio(row.sums.busy_ns, row.sums.window_ns, 100); }},
    {{"sm_efficiency_pct", "SMEff(%)", "%", kDecimal, 8,
      "100 x mean over the window of min(1, blocks per multiprocessor of all running kernels); "
      "unknown unless the grid is known for 90 % of the kernel time"},
     [](const GpuRow& row) { return GpuRatio(row.sums.sm_integral, row.sums.sm_window_ns, 1e-3); }},
    {{"achieved_occupancy_pct", "AchievedOccupancy(%)", "%", kDecimal, 9,
      "estimated: mean over compute kernels, weighted by their time in the window; unknown if less "
      "than half of that time has one"},
     [](const GpuRow& row) {
       return GpuRatio(row.sums.occupancy_sum, row.sums.occupancy_ns, 1e-3);
     }},
    {{"tc_time_pct", "TCTime(%)", "%", kDecimal, 8,
      "100 x time of kernels that use Tensor Cores / time of kernels for which that use is known"},
     [](const GpuRow& row) { return GpuRatio(row.sums.tc_ns, row.sums.tc_known_ns, 100); }},
    {{"tc_known_pct", "TCKnown(%)", "%", kDecimal, 10,
      "100 x time of kernels for which the use of Tensor Cores is known / (kernel_ns + comm_ns)"},
     [](const GpuRow& row) { return GpuRatio(row.sums.tc_known_ns, row.sums.KernelNs(), 100); }},
    {{"tc_least_pct", "TCLeast(%)", "%", kDecimal, 10,
      "lower bound: 100 x time of kernels that use Tensor Cores / (kernel_ns + comm_ns)"},
     [](const GpuRow& row) {
       return row.sums.tc_known_ns > 0 ? GpuRatio(row.sums.tc_ns, row.sums.KernelNs(), 100)
                                       : Cell{};
     }},
    FigureColumn<&GpuSums::kernels>{"kernels", "Kernels", "", 8,
                                    "compute kernels that lie at least partly in the window"},
    FigureColumn<&GpuSums::kernel_ns>{"kernel_ns", "Kernel(ns)", "ns", 13,
                                      "sum of the durations of these kernels in the window"},
    FigureColumn<&GpuSums::copy_ns>{"copy_ns", "Copy(ns)", "ns", 13,
                                    "sum of the durations of copies and memsets in the window"},
    FigureColumn<&GpuSums::comm_ns>{"comm_ns", "Comm(ns)", "ns", 13,
                                    "sum of the durations of communication kernels in the window"},
    FigureColumn<&GpuSums::replays>{
        "replays", "Replays", "", 8,
        "graph replays in the window whose kernels are not in the file"},
    FigureColumn<&GpuSums::replay_ns>{"replay_ns", "Replay(ns)", "ns", 13,
                                      "sum of the durations of these replays in the window"},
    {{"memory_bytes", "Memory", "B", kInteger, 13, "memory of the GPU", Fold::kMax},
     [](const GpuRow& row) {
       const int64_t bytes = row.sums.memory_bytes.value;
       return bytes > 0 ? Integer(bytes) : Cell{};
     }},
    FigureColumn<&GpuSums::peak_allocated_bytes>{
        "peak_allocated_bytes", "PeakAllocated", "B", 13,
        "peak of the framework's allocated memory over the whole recording"},
};

struct GpuState {
  int32_t device_id = 0;
  GpuSums sums;
  BusyTime busy;
  SmEfficiency sm;
  double occupancy_sum = 0;  // percent x ns
  std::string priced_name;   // The GPU that its kernels are priced for.
  Sum grids_known_ns;        // Time of its kernels whose blocks are known.
};

void AddTensorCoreTime(const PricedKernel& kernel, int64_t clipped_ns, GpuSums* sums) {
  const ops::TensorCoreUse use = TensorCoreUseOf(kernel);
  if (use == ops::TensorCoreUse::kUnknown) return;
  sums->tc_known_ns += clipped_ns;
  if (use == ops::TensorCoreUse::kYes) sums->tc_ns += clipped_ns;
}

class GpuView : public GpuRows {
 public:
  explicit GpuView(const ViewOptions& options) : GpuRows(options, kGpuColumns) {}

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override;
  void End(const Run* run) override;

 private:
  GpuState& StateOf(int32_t device_id);
  void AddEvents(const DeviceWork& work);
  void AddMemory(const Trace& trace);
  void Keep(const Run& run, GpuState* state);

  // Of the current run:
  const Run* run_ = nullptr;
  Interval window_;
  std::vector<GpuState> states_;  // Few.
};

void GpuView::Begin(const Run* run) {
  run_ = run;
  states_.clear();
  if (run == nullptr) {
    notes_.Add("gpu needs the profile itself: records hold no steps and no copies");
    return;
  }
  window_ = run->window();
}

GpuState& GpuView::StateOf(int32_t device_id) {
  for (GpuState& state : states_) {
    if (state.device_id == device_id) return state;
  }
  GpuState& state = states_.emplace_back();
  state.device_id = device_id;
  return state;
}

void GpuView::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || kernel.work == PricedKernel::kNoWork) return;
  const Trace& trace = run_->trace();
  const Kernel& own = trace.kernels[kernel.work];
  if (!own.timed() || own.end_ns < own.start_ns) return;
  GpuState& state = StateOf(own.device_id);
  if (state.priced_name.empty() && kernel.gpu != nullptr) state.priced_name = kernel.gpu->name;
  const int64_t clipped_ns = ClippedLength(own.start_ns, own.end_ns, window_);
  AddTensorCoreTime(kernel, clipped_ns, &state.sums);
  if (clipped_ns == 0) return;
  const auto blocks = BlocksPerSm(trace, own, kernel.gpu);
  if (blocks) {
    state.sm.Add(std::max(own.start_ns, window_.start_ns), std::min(own.end_ns, window_.end_ns),
                 *blocks);
    state.grids_known_ns += clipped_ns;
  }
  // Blocks of a collective spin: profilers report 0, or the occupancy of waiting.
  if (run_->device_work().IsCommunication(kernel.work)) return;
  const auto occupancy = AchievedOccupancyPct(trace, own, kernel.gpu);
  if (occupancy) {
    state.occupancy_sum += *occupancy * static_cast<double>(clipped_ns);
    state.sums.occupancy_ns += clipped_ns;
  }
}

void GpuView::AddEvents(const DeviceWork& work) {
  for (const DeviceEvent& event : work.events()) {
    GpuState& state = StateOf(event.device_id);
    const bool runs = event.IsKernel() || event.work == WorkClass::kReplay;
    const int64_t clipped_ns = ClippedLength(event.start_ns, event.end_ns, window_);
    const bool inside = event.end_ns >= window_.start_ns && event.start_ns <= window_.end_ns;
    GpuSums& sums = state.sums;
    if (runs) state.busy.Add({event.start_ns, event.end_ns}, window_);
    switch (event.work) {
      case WorkClass::kCompute:
        sums.kernels += inside ? 1 : 0;
        sums.kernel_ns += clipped_ns;
        break;
      case WorkClass::kCommunication:
        sums.comm_ns += clipped_ns;
        break;
      case WorkClass::kReplay:
        sums.replays += inside ? 1 : 0;
        sums.replay_ns += clipped_ns;
        break;
      default:
        sums.copy_ns += clipped_ns;
    }
  }
}

void GpuView::AddMemory(const Trace& trace) {
  bool any = false;
  for (const MemoryEvent& event : trace.memory_events) {
    if (event.source != MemorySource::kFramework || event.device_id < 0) continue;
    any = true;
    if (event.total_allocated_bytes < 0) continue;
    for (GpuState& state : states_) {
      if (state.device_id != event.device_id) continue;
      state.sums.peak_allocated_bytes.Add(event.total_allocated_bytes);
    }
  }
  const std::string_view flag = RecordingFlag(MissingFact::kMemoryEvents, trace.family);
  if (any || trace.family != Family::kKineto || flag.empty() || states_.empty()) return;
  notes_.Add(fmt::format(
      "gpu: the profile holds no allocations: no peak_allocated_bytes; recorded by {}", flag));
}

void GpuView::Keep(const Run& run, GpuState* state) {
  GpuSums& sums = state->sums;
  sums.window_ns = LengthOf(window_);
  sums.busy_ns = state->busy.ns;
  const int64_t compute_ns = SaturatingSum(sums.kernel_ns, sums.replay_ns);
  const int64_t all_ns = SaturatingSum(compute_ns, sums.comm_ns);
  if (!IsShare(sums.occupancy_ns, compute_ns, kLeastOccupancyKnown)) {
    sums.occupancy_ns = 0;
    state->occupancy_sum = 0;
  }
  if (state->sm.any() && IsShare(state->grids_known_ns, all_ns, kLeastGridsKnown)) {
    sums.sm_integral = GpuRounded(state->sm.Finish() * 1e5);
    sums.sm_window_ns = sums.window_ns;
  }
  sums.occupancy_sum = GpuRounded(state->occupancy_sum * 1e3);
  const Trace& trace = run.trace();
  if (const Device* const device = FindDevice(trace, state->device_id).device) {
    sums.name.value = trace.strings.View(device->name);
    sums.memory_bytes.value = device->memory_bytes;
  }
  if (sums.name.value.empty()) sums.name.value = state->priced_name;
  MergeInto(&rows_[RankName(run.rank())][state->device_id], sums);
}

void GpuView::End(const Run* run) {
  run_ = nullptr;
  if (run == nullptr) return;
  const auto windows = run->windows();
  if (windows ? windows->empty() : run->steps().all().empty()) return;
  AddEvents(run->device_work());
  AddMemory(run->trace());
  const bool any = std::any_of(states_.begin(), states_.end(),
                               [](const GpuState& state) { return state.sums.tc_known_ns > 0; });
  for (GpuState& state : states_) {
    state.sums.tc_any.value = any;
    Keep(*run, &state);
  }
  const std::string_view flag = RecordingFlag(MissingFact::kKernels, run->trace().family);
  if (states_.empty()) {
    notes_.Add("gpu: the profile holds no work of a GPU" +
               (flag.empty() ? std::string() : fmt::format("; recorded by {}", flag)));
  }
  states_.clear();
}

}  // namespace

int64_t ClippedLength(int64_t start_ns, int64_t end_ns, const Interval& window) {
  return LengthOf({std::max(start_ns, window.start_ns), std::min(end_ns, window.end_ns)});
}

int64_t GpuRounded(double value) { return std::llround(std::clamp(value, 0.0, 9e18)); }

std::span<const Column<GpuRow>> GpuColumns() { return kGpuColumns; }

extern constexpr View kGpuView = {
    .name = "gpu",
    .help = "how well each GPU was used",
    .needs = {TracePart::kMemoryEvents},
    .fields = FieldsWithoutBy<kGpuColumns>,
    .make = MakePartial<GpuView>,
    .narrow =
        "busy_pct,sm_efficiency_pct,achieved_occupancy_pct,tc_time_pct,kernel_ns,copy_ns,comm_ns",
    .saved_form = 1};

}  // namespace oplens::prof
