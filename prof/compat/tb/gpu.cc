#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sums.h"
#include "ops/kernels/tensorboard_names.h"
#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/recording_advice.h"
#include "parse/model/trace_devices.h"
#include "prof/compat/tb/steps.h"
#include "prof/compat/tb/tree.h"
#include "prof/compat/tb/views.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/views/streams/gpu_launch.h"
#include "prof/views/streams/gpu_rows.h"

namespace oplens::prof {
namespace {

enum : uint8_t { kUnasked, kNo, kYes };

/// Kernels that the plugin counts in a GPU's Tensor Core time: those launched by an operator,
/// except by driver calls. Found by external ids (TbTree) if the trace has them, otherwise by time.
class TensorBoardTensorCores {
 public:
  TensorBoardTensorCores(const parse::Joined& joined, const parse::CallTree& calls);

  /// How often the kernel at an index counts.
  int64_t CountOf(uint32_t kernel) const;
  bool Uses(const Kernel& kernel);

 private:
  bool IsInOperator(const Kernel& kernel) const;

  const Trace& trace_;
  std::vector<uint8_t> counts_;  // By kernel, if the trace has external ids.
  LeftOutCalls left_out_;
  std::vector<IntervalSet> operators_;  // By thread: when it ran any.
  std::vector<uint8_t> uses_;           // By name; kUnasked, kNo, kYes.
};

/// By kernel: how often the plugin's operator tree contains it.
std::vector<uint8_t> CountsOf(const Trace& trace) {
  std::vector<uint32_t> events;
  const TbTree tree(trace);
  for (const TbTree::KernelPlace& place : tree.kernels()) {
    if (place.listed) events.push_back(place.event);
  }
  std::vector<uint8_t> counts(trace.kernels.size(), 0);
  for (const uint32_t kernel : KernelsOfEvents(trace, events)) {
    if (kernel < counts.size() && counts[kernel] < UINT8_MAX) ++counts[kernel];
  }
  return counts;
}

TensorBoardTensorCores::TensorBoardTensorCores(const parse::Joined& joined,
                                               const parse::CallTree& calls)
    : trace_(joined.trace()),
      left_out_(TensorBoardLeftOut(trace_)),
      uses_(trace_.strings.size(), kUnasked) {
  if (!trace_.torch_events.empty()) {
    counts_ = CountsOf(trace_);
    return;
  }
  for (ThreadIndex thread = 0; thread < joined.threads().thread_count(); ++thread) {
    std::vector<Interval> ran;
    for (const parse::CallTree::Call& call : calls.Of(thread)) {
      const Range& range = trace_.ranges[call.range];
      if (call.parent == parse::CallTree::kNone) ran.push_back({range.start_ns, range.end_ns});
    }
    operators_.emplace_back(std::move(ran));
  }
}

int64_t TensorBoardTensorCores::CountOf(uint32_t kernel) const {
  if (!counts_.empty()) return counts_[kernel];
  return trace_.torch_events.empty() && IsInOperator(trace_.kernels[kernel]) ? 1 : 0;
}

bool TensorBoardTensorCores::IsInOperator(const Kernel& kernel) const {
  if (kernel.launch == kNoLaunch) return false;
  const LaunchCall& call = trace_.launches[kernel.launch];
  if (left_out_[call.api] || call.thread >= operators_.size()) return false;
  int64_t after_ns = 0;
  if (__builtin_add_overflow(call.start_ns, 1, &after_ns)) return false;
  return !operators_[call.thread].Within({call.start_ns, after_ns}).empty();
}

bool TensorBoardTensorCores::Uses(const Kernel& kernel) {
  uint8_t& known = uses_[kernel.name];
  if (known == kUnasked) {
    known = ops::IsTensorBoardTensorCoreKernel(trace_.strings.View(kernel.name)) ? kYes : kNo;
  }
  return known == kYes;
}

struct TbGpuState {
  GpuSums sums;
  BusyTime busy;
  SmEfficiency sm;
  double occupancy_sum = 0;  // percent x ns
  bool ran_kernel = false;
};

constexpr size_t kTensorCores = 8;

/// 0 for a GPU none of whose kernels an operator launched, if another GPU has one.
Cell TbTensorCorePercent(const GpuRow& row) {
  const Cell percent = GpuColumns()[kTensorCores].get(row);
  return IsUnknown(percent) && row.sums.tc_any ? Cell{0.0} : percent;
}

/// Our columns. Of those after the Tensor Cores the plugin has only the memory, the last but one;
/// the others are unknown.
std::span<const Column<GpuRow>> TbGpuColumns() {
  static const std::vector<Column<GpuRow>> columns = [] {
    std::vector<Column<GpuRow>> own(GpuColumns().begin(), GpuColumns().end());
    own[kTensorCores].get = TbTensorCorePercent;
    for (size_t i = kTensorCores + 1; i + 2 < own.size(); ++i) {
      own[i].get = [](const GpuRow& /*row*/) { return Cell(); };
    }
    return own;
  }();
  return columns;
}

class TbGpu : public GpuRows {
 public:
  explicit TbGpu(const ViewOptions& options) : GpuRows(options, TbGpuColumns()) {}

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override;
  void End(const Run* run) override;

 private:
  void Keep(const Run& run, int32_t device_id, TbGpuState* state);

  // Of the current run:
  const Run* run_ = nullptr;
  Interval window_;
  std::map<int32_t, TbGpuState> states_;
  std::optional<TensorBoardTensorCores> tensor_cores_;
};

void TbGpu::Begin(const Run* run) {
  run_ = run;
  states_.clear();
  if (run == nullptr) {
    notes_.Add("gpu needs the profile itself: records hold no steps and no copies");
    return;
  }
  const std::vector<Step> steps = TensorBoardSteps(run->trace(), run->work());
  window_ = steps.empty() ? Interval() : Interval{steps[0].span.start_ns, steps.back().span.end_ns};
  tensor_cores_.emplace(run->joined(), run->calls());
}

void TbGpu::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || kernel.work == PricedKernel::kNoWork) return;
  const Trace& trace = run_->trace();
  const Kernel& own = trace.kernels[kernel.work];
  if (!own.timed() || own.end_ns < own.start_ns) return;
  TbGpuState& state = states_[own.device_id];
  GpuSums& sums = state.sums;
  state.ran_kernel = true;
  const int64_t whole_ns = LengthOf({own.start_ns, own.end_ns});
  for (int64_t count = tensor_cores_->CountOf(kernel.work); count > 0; --count) {
    sums.tc_known_ns += whole_ns;
    if (tensor_cores_->Uses(own)) sums.tc_ns += whole_ns;
  }
  const int64_t clipped_ns = ClippedLength(own.start_ns, own.end_ns, window_);
  if (clipped_ns == 0) return;
  if (const auto blocks = BlocksPerSm(trace, own, nullptr)) {
    state.sm.Add(std::max(own.start_ns, window_.start_ns), std::min(own.end_ns, window_.end_ns),
                 *blocks);
  }
  if (const auto occupancy = AchievedOccupancyPct(trace, own, nullptr)) {
    state.occupancy_sum += *occupancy * static_cast<double>(clipped_ns);
    sums.occupancy_ns += clipped_ns;
  }
}

void TbGpu::Keep(const Run& run, int32_t device_id, TbGpuState* state) {
  GpuSums& sums = state->sums;
  sums.window_ns = LengthOf(window_);
  sums.busy_ns = state->busy.ns;
  if (state->sm.any()) {
    sums.sm_integral = GpuRounded(state->sm.Finish() * 1e5);
    sums.sm_window_ns = sums.window_ns;
  }
  sums.occupancy_sum = GpuRounded(state->occupancy_sum * 1e3);
  const Trace& trace = run.trace();
  if (const Device* const device = FindDevice(trace, device_id).device) {
    sums.name.value = trace.strings.View(device->name);
    sums.memory_bytes.value = device->memory_bytes;
  }
  MergeInto(&rows_[RankName(run.rank())][device_id], sums);
}

void TbGpu::End(const Run* run) {
  run_ = nullptr;
  if (run == nullptr) return;
  const auto windows = run->windows();
  if (windows ? windows->empty() : run->steps().all().empty()) return;
  for (const DeviceEvent& event : run->device_work().events()) {
    TbGpuState& state = states_[event.device_id];
    const bool runs = event.IsKernel() || event.work == WorkClass::kReplay;
    if (runs) state.busy.Add({event.start_ns, event.end_ns}, window_);
  }
  const bool any = std::any_of(states_.begin(), states_.end(),
                               [](const auto& state) { return state.second.sums.tc_known_ns > 0; });
  for (auto& [device_id, state] : states_) {
    state.sums.tc_any.value = any;
    if (state.ran_kernel) Keep(*run, device_id, &state);
  }
  const std::string_view flag = RecordingFlag(MissingFact::kKernels, run->trace().family);
  if (states_.empty()) {
    notes_.Add("gpu: the profile holds no work of a GPU" +
               (flag.empty() ? std::string() : fmt::format("; recorded by {}", flag)));
  }
  states_.clear();
}

}  // namespace

std::unique_ptr<Partial> MakeTbGpu(const ViewOptions& options) {
  return std::make_unique<TbGpu>(options);
}

}  // namespace oplens::prof
