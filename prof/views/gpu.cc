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

#include "base/ratio.h"
#include "base/saturating.h"
#include "ops/kernels/tensor_core.h"
#include "parse/join/joined.h"
#include "parse/model/recording_advice.h"
#include "parse/model/trace_devices.h"
#include "prof/price/figures.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/class_times.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/run/tb_steps.h"
#include "prof/views/gpu_launch.h"
#include "prof/views/gpu_sums.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/sm_efficiency.h"
#include "prof/views/tb_tensor_core.h"

namespace oplens::prof {
namespace {

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
  bool ran_kernel = false;
};

class GpuView : public SavedPartial<GpuView> {
 public:
  explicit GpuView(Compat compat) : reference_(compat == Compat::kTensorBoard) {}

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->ranks_, &self->notes_);
  }

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override;
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    const std::span<const Field> fields = GpuFields();
    return {fields.begin(), fields.end()};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return {notes_.begin(), notes_.end()}; }

 private:
  GpuState& StateOf(int32_t device_id);
  void AddTensorCoreTime(const PricedKernel& kernel, const Kernel& own, int64_t clipped_ns,
                         GpuSums* sums);
  void AddEvents(const DeviceWork& work);
  void AddMemory(const Trace& trace);
  void Keep(const Run& run, GpuState* state);
  std::vector<Cell> CellsOf(std::string_view rank, int64_t device, const GpuSums& sums) const;

  bool reference_;
  std::map<std::string, std::map<int64_t, GpuSums>, RankBefore> ranks_;
  std::set<std::string> notes_;
  // Of the run that is read:
  const Run* run_ = nullptr;
  Interval window_;
  std::vector<GpuState> states_;  // Few.
  std::optional<TensorBoardTensorCores> tensor_cores_;
};

void GpuView::Begin(const Run* run) {
  run_ = run;
  states_.clear();
  if (run == nullptr) {
    notes_.insert("gpu needs the profile itself: records tell no steps and no copies");
    return;
  }
  window_ = run->window();
  if (!reference_) return;
  const std::vector<Step> steps = TensorBoardSteps(run->trace(), run->work());
  window_ = steps.empty() ? Interval() : Interval{steps[0].span.start_ns, steps.back().span.end_ns};
  tensor_cores_.emplace(run->joined(), run->calls());
}

GpuState& GpuView::StateOf(int32_t device_id) {
  for (GpuState& state : states_) {
    if (state.device_id == device_id) return state;
  }
  GpuState& state = states_.emplace_back();
  state.device_id = device_id;
  return state;
}

int64_t ClippedLength(int64_t start_ns, int64_t end_ns, const Interval& window) {
  return LengthOf({std::max(start_ns, window.start_ns), std::min(end_ns, window.end_ns)});
}

void GpuView::AddTensorCoreTime(const PricedKernel& kernel, const Kernel& own, int64_t clipped_ns,
                                GpuSums* sums) {
  if (reference_) {
    const int64_t whole_ns = LengthOf({own.start_ns, own.end_ns});
    for (int64_t count = tensor_cores_->CountOf(kernel.work); count > 0; --count) {
      SaturatingAdd(&sums->tc_known_ns, whole_ns);
      if (tensor_cores_->Uses(own)) SaturatingAdd(&sums->tc_ns, whole_ns);
    }
    return;
  }
  const ops::TensorCoreUse use = TensorCoreUseOf(kernel);
  if (use == ops::TensorCoreUse::kUnknown) return;
  SaturatingAdd(&sums->tc_known_ns, clipped_ns);
  if (use == ops::TensorCoreUse::kYes) SaturatingAdd(&sums->tc_ns, clipped_ns);
}

void GpuView::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || kernel.work == PricedKernel::kNoWork) return;
  const Trace& trace = run_->trace();
  const Kernel& own = trace.kernels[kernel.work];
  if (!own.timed() || own.end_ns < own.start_ns) return;
  GpuState& state = StateOf(own.device_id);
  state.ran_kernel = true;
  if (state.priced_name.empty() && kernel.gpu != nullptr) state.priced_name = kernel.gpu->name;
  const int64_t clipped_ns = ClippedLength(own.start_ns, own.end_ns, window_);
  AddTensorCoreTime(kernel, own, clipped_ns, &state.sums);
  if (clipped_ns == 0) return;
  const ops::Gpu* gpu = reference_ ? nullptr : kernel.gpu;
  const auto blocks = BlocksPerSm(trace, own, gpu);
  if (blocks) {
    state.sm.Add(std::max(own.start_ns, window_.start_ns), std::min(own.end_ns, window_.end_ns),
                 *blocks);
    SaturatingAdd(&state.grids_known_ns, clipped_ns);
  }
  // Blocks of a collective spin: profilers give it 0, or the occupancy of waiting.
  if (!reference_ && run_->device_work().IsCommunication(kernel.work)) return;
  const auto occupancy = AchievedOccupancyPct(trace, own, gpu);
  if (occupancy) {
    state.occupancy_sum += *occupancy * static_cast<double>(clipped_ns);
    SaturatingAdd(&state.sums.occupancy_ns, clipped_ns);
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
        SaturatingAdd(&sums.kernel_ns, clipped_ns);
        break;
      case WorkClass::kCommunication:
        SaturatingAdd(&sums.comm_ns, clipped_ns);
        break;
      case WorkClass::kReplay:
        sums.replays += inside ? 1 : 0;
        SaturatingAdd(&sums.replay_ns, clipped_ns);
        break;
      default:
        SaturatingAdd(&sums.copy_ns, clipped_ns);
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

/// A sum as an integer, so that sums of several inputs do not depend on their order.
int64_t GpuRounded(double value) { return std::llround(std::clamp(value, 0.0, 9e18)); }

void GpuView::Keep(const Run& run, GpuState* state) {
  GpuSums& sums = state->sums;
  sums.window_ns = LengthOf(window_);
  sums.busy_ns = IntervalSet(std::move(state->busy)).Within(window_).length_ns();
  const int64_t compute_ns = SaturatingSum(sums.kernel_ns, sums.replay_ns);
  const int64_t all_ns = SaturatingSum(compute_ns, sums.comm_ns);
  if (!reference_ && !IsShare(sums.occupancy_ns, compute_ns, kLeastOccupancyKnown)) {
    sums.occupancy_ns = 0;
    state->occupancy_sum = 0;
  }
  const bool grids_known = reference_ || IsShare(state->grids_known_ns, all_ns, kLeastGridsKnown);
  if (state->sm.any() && grids_known) {
    sums.sm_integral = GpuRounded(state->sm.Finish() * 1e5);
    sums.sm_window_ns = sums.window_ns;
  }
  sums.occupancy_sum = GpuRounded(state->occupancy_sum * 1e3);
  const Trace& trace = run.trace();
  if (const Device* const device = FindDevice(trace, state->device_id).device) {
    sums.name = trace.strings.View(device->name);
    sums.memory_bytes = device->memory_bytes;
  }
  if (sums.name.empty() && !reference_) sums.name = state->priced_name;
  ranks_[std::string(run.rank())][state->device_id].Add(sums);
}

void GpuView::End(const Run* run) {
  run_ = nullptr;
  if (run == nullptr) return;
  const auto windows = run->windows();
  if (windows ? windows->empty() : run->steps().all().empty()) return;
  AddEvents(run->device_work());
  if (!reference_) AddMemory(run->trace());
  const bool any = std::any_of(states_.begin(), states_.end(),
                               [](const GpuState& state) { return state.sums.tc_known_ns > 0; });
  for (GpuState& state : states_) {
    state.sums.tc_any = any;
    if (!reference_ || state.ran_kernel) Keep(*run, &state);
  }
  const std::string_view flag = RecordingFlag(Lack::kKernels, run->trace().family);
  if (states_.empty()) {
    notes_.insert("gpu: the profile holds no work of a GPU" +
                  (flag.empty() ? std::string() : fmt::format("; recorded by {}", flag)));
  }
  states_.clear();
}

void GpuView::Merge(const Partial& other) {
  const auto& from = dynamic_cast<const GpuView&>(other);
  for (const auto& [rank, devices] : from.ranks_) {
    for (const auto& [device, sums] : devices) ranks_[rank][device].Add(sums);
  }
  notes_.insert(from.notes_.begin(), from.notes_.end());
}

std::vector<Cell> GpuView::CellsOf(std::string_view rank, int64_t device,
                                   const GpuSums& sums) const {
  const auto ours = [&](int64_t value) { return reference_ ? Cell() : Integer(value); };
  Cell tc = Decimal(Percent(sums.tc_ns, sums.tc_known_ns));
  // The plugin has 0 for a GPU none of whose kernels an operator launched, if one of another's is.
  if (reference_ && IsUnknown(tc) && sums.tc_any) tc = Cell{0.0};
  return {
      Text(rank),
      Integer(device),
      Text(sums.name),
      Integer(sums.window_ns),
      Integer(sums.busy_ns),
      Decimal(Percent(sums.busy_ns, sums.window_ns)),
      Decimal(Ratio(sums.sm_integral, sums.sm_window_ns, 1e-3)),
      Decimal(Ratio(sums.occupancy_sum, sums.occupancy_ns, 1e-3)),
      tc,
      reference_ ? Cell()
                 : Decimal(Percent(sums.tc_known_ns, SaturatingSum(sums.kernel_ns, sums.comm_ns))),
      reference_ || sums.tc_known_ns <= 0
          ? Cell()
          : Decimal(Percent(sums.tc_ns, SaturatingSum(sums.kernel_ns, sums.comm_ns))),
      ours(sums.kernels),
      ours(sums.kernel_ns),
      ours(sums.copy_ns),
      ours(sums.comm_ns),
      ours(sums.replays),
      ours(sums.replay_ns),
      sums.memory_bytes > 0 ? Integer(sums.memory_bytes) : Cell(),
      Integer(sums.peak_allocated_bytes),
  };
}

void GpuView::Emit(Sink* sink) const {
  for (const auto& [rank, devices] : ranks_) {
    for (const auto& [device, sums] : devices) sink->Row(CellsOf(rank, device, sums));
  }
}

}  // namespace

std::unique_ptr<Partial> MakeGpu(const ViewOptions& options) {
  return std::make_unique<GpuView>(options.compat);
}

}  // namespace oplens::prof
