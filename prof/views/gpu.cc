#include "prof/views/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "parse/model/recording_advice.h"
#include "parse/model/trace_devices.h"
#include "prof/run/class_times.h"
#include "prof/views/gpu_launch.h"
#include "prof/views/sm_efficiency.h"

namespace oplens::prof {
namespace {

void AddToGpu(int64_t* sum, int64_t value) { *sum = SaturatingSum(*sum, value); }

// A kernel of unknown grid counts as no block: of less time than this the mean says little.
constexpr double kLeastGridsKnown = 0.9;
// A mean over less than half of the time would be that of something else.
constexpr double kLeastOccupancyKnown = 0.5;

bool IsShare(int64_t part_ns, int64_t whole_ns, double least) {
  return part_ns > 0 && static_cast<double>(part_ns) >= least * static_cast<double>(whole_ns);
}

/// What is gathered of a GPU while its run is read.
struct GpuState {
  int32_t device_id = 0;
  GpuSums sums;
  std::vector<Interval> busy;
  SmEfficiency sm;
  double occupancy_sum = 0;    // percent x ns
  std::string priced_name;     // Of the GPU that its kernels are priced for.
  int64_t grids_known_ns = 0;  // Of its kernels: time of those that tell their blocks.
};

class GpuView : public GpuRows {
 public:
  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override;
  void End(const Run* run) override;

 private:
  GpuState& StateOf(int32_t device_id);
  void AddEvents(const DeviceWork& work);
  void AddMemory(const Trace& trace);
  void Keep(const Run& run, GpuState* state);

  // Of the run that is read:
  const Run* run_ = nullptr;
  Interval window_;
  std::vector<GpuState> states_;  // Few.
};

void GpuView::Begin(const Run* run) {
  run_ = run;
  states_.clear();
  if (run == nullptr) {
    notes_.insert("gpu needs the profile itself: records tell no steps and no copies");
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

void AddTensorCoreTime(const PricedKernel& kernel, int64_t clipped_ns, GpuSums* sums) {
  const ops::TensorCoreUse use = TensorCoreUseOf(kernel);
  if (use == ops::TensorCoreUse::kUnknown) return;
  AddToGpu(&sums->tc_known_ns, clipped_ns);
  if (use == ops::TensorCoreUse::kYes) AddToGpu(&sums->tc_ns, clipped_ns);
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
    AddToGpu(&state.grids_known_ns, clipped_ns);
  }
  // Blocks of a collective spin: profilers give it 0, or the occupancy of waiting.
  if (run_->device_work().IsCommunication(kernel.work)) return;
  const auto occupancy = AchievedOccupancyPct(trace, own, kernel.gpu);
  if (occupancy) {
    state.occupancy_sum += *occupancy * static_cast<double>(clipped_ns);
    AddToGpu(&state.sums.occupancy_ns, clipped_ns);
  }
}

void GpuView::AddEvents(const DeviceWork& work) {
  for (const DeviceEvent& event : work.events()) {
    GpuState& state = StateOf(event.device_id);
    const bool runs = event.IsKernel() || event.work == WorkClass::kReplay;
    if (runs) state.busy.push_back({event.start_ns, event.end_ns});
    const int64_t clipped_ns = ClippedLength(event.start_ns, event.end_ns, window_);
    const bool inside = event.end_ns >= window_.start_ns && event.start_ns <= window_.end_ns;
    GpuSums& sums = state.sums;
    switch (event.work) {
      case WorkClass::kCompute:
        sums.kernels += inside ? 1 : 0;
        AddToGpu(&sums.kernel_ns, clipped_ns);
        break;
      case WorkClass::kCommunication:
        AddToGpu(&sums.comm_ns, clipped_ns);
        break;
      case WorkClass::kReplay:
        sums.replays += inside ? 1 : 0;
        AddToGpu(&sums.replay_ns, clipped_ns);
        break;
      default:
        AddToGpu(&sums.copy_ns, clipped_ns);
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
      std::optional<int64_t>& peak = state.sums.peak_allocated_bytes;
      if (state.device_id == event.device_id) peak = std::max(peak, {event.total_allocated_bytes});
    }
  }
  const std::string_view flag = RecordingFlag(Lack::kMemoryEvents, trace.family);
  if (any || trace.family != Family::kKineto || flag.empty() || states_.empty()) return;
  notes_.insert(fmt::format(
      "gpu: the profile holds no allocations: no peak_allocated_bytes; recorded by {}", flag));
}

void GpuView::Keep(const Run& run, GpuState* state) {
  GpuSums& sums = state->sums;
  sums.window_ns = LengthOf(window_);
  sums.busy_ns = IntervalSet(std::move(state->busy)).Within(window_).length_ns();
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
    sums.name = trace.strings.View(device->name);
    sums.memory_bytes = device->memory_bytes;
  }
  if (sums.name.empty()) sums.name = state->priced_name;
  ranks_[std::string(run.rank())][state->device_id].Add(sums);
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
    state.sums.tc_any = any;
    Keep(*run, &state);
  }
  const std::string_view flag = RecordingFlag(Lack::kKernels, run->trace().family);
  if (states_.empty()) {
    notes_.insert("gpu: the profile holds no work of a GPU" +
                  (flag.empty() ? std::string() : fmt::format("; recorded by {}", flag)));
  }
  states_.clear();
}

Cell GpuRatio(int64_t part, int64_t whole, double scale) {
  if (whole <= 0) return {};
  return Cell{scale * static_cast<double>(part) / static_cast<double>(whole)};
}

std::vector<Cell> GpuCellsOf(std::string_view rank, int64_t device, const GpuSums& sums) {
  const int64_t kernels_ns = SaturatingSum(sums.kernel_ns, sums.comm_ns);
  return {
      Text(rank),
      Integer(device),
      Text(sums.name),
      Integer(sums.window_ns),
      Integer(sums.busy_ns),
      GpuRatio(sums.busy_ns, sums.window_ns, 100),
      GpuRatio(sums.sm_integral, sums.sm_window_ns, 1e-3),
      GpuRatio(sums.occupancy_sum, sums.occupancy_ns, 1e-3),
      GpuRatio(sums.tc_ns, sums.tc_known_ns, 100),
      GpuRatio(sums.tc_known_ns, kernels_ns, 100),
      sums.tc_known_ns > 0 ? GpuRatio(sums.tc_ns, kernels_ns, 100) : Cell(),
      Integer(sums.kernels),
      Integer(sums.kernel_ns),
      Integer(sums.copy_ns),
      Integer(sums.comm_ns),
      Integer(sums.replays),
      Integer(sums.replay_ns),
      sums.memory_bytes > 0 ? Integer(sums.memory_bytes) : Cell(),
      Integer(sums.peak_allocated_bytes),
  };
}

}  // namespace

void GpuRows::Merge(const Partial& other) {
  const auto& from = dynamic_cast<const GpuRows&>(other);
  for (const auto& [rank, devices] : from.ranks_) {
    for (const auto& [device, sums] : devices) ranks_[rank][device].Add(sums);
  }
  notes_.insert(from.notes_.begin(), from.notes_.end());
}

void GpuRows::Emit(Sink* sink) const {
  for (const auto& [rank, devices] : ranks_) {
    for (const auto& [device, sums] : devices) {
      std::vector<Cell> cells = GpuCellsOf(rank, device, sums);
      Amend(sums, &cells);
      sink->Row(cells);
    }
  }
}

std::unique_ptr<Partial> MakeGpu(const ViewOptions& /*options*/) {
  return std::make_unique<GpuView>();
}

}  // namespace oplens::prof
