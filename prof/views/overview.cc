#include "prof/views/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ratio.h"
#include "base/saturating.h"
#include "parse/model/recording_advice.h"
#include "prof/price/figures.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/views/overview_classes.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

/// A step as it is printed.
struct OverviewRow {
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->start_ns, &self->number, &self->whole);
    bytes->Sums(&self->total_ns);
    bytes->Values(&self->host_ns, &self->times.parts, &self->times.exposed, &self->times.hidden,
                  &self->times.busy);
    bytes->Sums(&self->ideal_ps, &self->capacity_ns);
  }

  int64_t start_ns = 0;  ///< From the rank's first event.
  int64_t number = 0;
  bool whole = true;
  int64_t total_ns = 0;
  std::optional<int64_t> host_ns;
  StepTimes times;
  int64_t ideal_ps = 0;     ///< Of its products at the peak rates.
  int64_t capacity_ns = 0;  ///< total_ns of each GPU.
};

/// By all that a row shows, so that the order of rows does not depend on that of merging.
bool OverviewBefore(const OverviewRow& a, const OverviewRow& b) {
  const auto key = [](const OverviewRow& row) {
    const StepTimes& times = row.times;
    return std::tie(row.start_ns, row.total_ns, row.number, row.whole, row.host_ns, times.parts,
                    times.exposed, times.hidden, times.busy, row.ideal_ps, row.capacity_ns);
  };
  return key(a) < key(b);
}

struct Rank {
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->rows, &self->has_product);
  }

  std::vector<OverviewRow> rows;
  bool has_product = false;
};

class Overview : public SavedPartial<Overview> {
 public:
  /// `find` null: the steps of the run, with all that is known of them.
  explicit Overview(OverviewSteps (*find)(const Run& run) = nullptr) : find_(find) {}

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->ranks_, &self->notes_);
  }

  void Begin(const Run* run) override;
  void Add(const PricedKernel& kernel) override;
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    const std::span<const Field> fields = OverviewFields();
    return {fields.begin(), fields.end()};
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override { return {notes_.begin(), notes_.end()}; }

 private:
  void NoteLacks(const Run& run, std::span<const Step> steps);

  OverviewSteps (*find_)(const Run& run);
  std::map<std::string, Rank, RankBefore> ranks_;
  std::set<std::string> notes_;
  // Of the run that is read:
  const Run* run_ = nullptr;
  std::vector<OverviewRow> rows_;
  std::vector<int64_t> ideal_ps_;  // By step.
  bool has_product_ = false;
};

void Overview::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || find_ != nullptr || kernel.work == PricedKernel::kNoWork ||
      kernel.phase == Phase::kRecompute) {
    return;
  }
  const double peak = ProductPeakOf(kernel);
  if (peak <= 0) return;
  const Kernel& own = run_->trace().kernels[kernel.work];
  const size_t step = run_->steps().OfEvent(
      {own.start_ns, own.end_ns, kernel.work, own.device_id, own.stream_id, WorkClass::kCompute});
  has_product_ = true;
  if (step == Steps::kNone) return;
  const double ps = static_cast<double>(*kernel.share.flops_mma) / peak * 1e12;
  constexpr double kMost = 9e18;
  SaturatingAdd(&ideal_ps_[step], std::llround(std::clamp(ps, 0.0, kMost)));
}

int64_t GpusOf(const DeviceWork& work) {
  std::set<int32_t> devices;
  int32_t last = 0;
  for (const DeviceEvent& event : work.events()) {
    const bool runs = event.IsKernel() || event.work == WorkClass::kReplay;
    if (runs && (devices.empty() || event.device_id != last))
      devices.insert(last = event.device_id);
  }
  return static_cast<int64_t>(devices.size());
}

/// A file without any API call, or any work of a GPU, does not say that there was none.
void ForgetWhatIsNotRecorded(const Run& run, StepTimes* times) {
  const auto forget = [times](TimeClass time_class) {
    const auto place = static_cast<size_t>(time_class);
    times->parts[place].reset();
    times->exposed[place].reset();
    times->hidden[place].reset();
  };
  const Trace& trace = run.trace();
  if (trace.launches.empty() && trace.api_times.empty()) forget(TimeClass::kRuntime);
  const bool worked = !trace.kernels.empty() || !trace.copies.empty() || !trace.sets.empty() ||
                      !trace.graph_replays.empty();
  if (worked) return;
  for (const TimeClass time_class :
       {TimeClass::kKernel, TimeClass::kMemcpy, TimeClass::kMemset, TimeClass::kComm}) {
    forget(time_class);
  }
  times->busy.reset();
}

OverviewSteps OwnStepsOf(const Run& run) {
  const std::span<const Step> steps = run.steps().all();
  return {{steps.begin(), steps.end()},
          steps.empty() ? std::vector<StepTimes>() : TimesOf(steps, TimeClassesOf(run))};
}

// All but the FLOPs is found at once: what it takes is free again when other views begin.
void Overview::Begin(const Run* run) {
  run_ = run;
  rows_.clear();
  if (run == nullptr) {
    notes_.insert("overview needs the profile itself: records tell no steps and no API calls");
    return;
  }
  has_product_ = false;
  const bool ours = find_ == nullptr;
  const auto [steps, times] = ours ? OwnStepsOf(*run) : find_(*run);
  ideal_ps_.assign(steps.size(), 0);
  if (steps.empty()) return;
  const int64_t origin_ns = run->origin_ns();
  const int64_t gpus = GpusOf(run->device_work());
  for (size_t i = 0; i < steps.size(); ++i) {
    OverviewRow& row = rows_.emplace_back();
    row.start_ns = LengthOf({origin_ns, steps[i].span.start_ns});
    row.number = steps[i].number;
    row.whole = steps[i].complete;
    row.total_ns = LengthOf(steps[i].span);
    row.times = times[i];
    if (ours) {
      row.host_ns = LengthOf(steps[i].host);
      ForgetWhatIsNotRecorded(*run, &row.times);
    }
    row.capacity_ns = SaturatingProduct(row.total_ns, gpus);
  }
  if (ours) NoteLacks(*run, steps);
}

void Overview::End(const Run* run) {
  run_ = nullptr;
  if (run == nullptr || rows_.empty()) return;
  Rank& rank = ranks_[std::string(run->rank())];
  rank.has_product |= has_product_;
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].ideal_ps = ideal_ps_[i];
    rank.rows.push_back(rows_[i]);
  }
  rows_.clear();
}

void Overview::NoteLacks(const Run& run, std::span<const Step> steps) {
  const Trace& trace = run.trace();
  const auto note = [&](std::string text, Lack lack) {
    const std::string_view flag = RecordingFlag(lack, trace.family);
    if (!flag.empty()) text += fmt::format("; recorded by {}", flag);
    notes_.insert(std::move(text));
  };
  if (run.steps().source() == StepSource::kNone) {
    note("overview: no steps are marked and no kernels repeat: the whole run is step 0",
         Lack::kSteps);
  } else if (run.steps().source() == StepSource::kRepetition) {
    note("overview: no steps are marked: a step is a period of the kernels that repeat",
         Lack::kSteps);
  }
  if (run.device_work().events().empty()) {
    note("overview: the profile holds no work of a GPU", Lack::kKernels);
  } else if (trace.launches.empty() && trace.api_times.empty()) {
    note("overview: the profile holds no API calls: runtime_ns is not known", Lack::kApiCalls);
  }
  if (std::any_of(steps.begin(), steps.end(), [](const Step& step) { return !step.complete; })) {
    notes_.insert("overview: the recording cut steps (state cut): mean is that of the others");
  }
}

void Overview::Merge(const Partial& other) {
  const auto& from = dynamic_cast<const Overview&>(other);
  for (const auto& [name, rank] : from.ranks_) {
    Rank& own = ranks_[name];
    own.rows.insert(own.rows.end(), rank.rows.begin(), rank.rows.end());
    own.has_product |= rank.has_product;
  }
  notes_.insert(from.notes_.begin(), from.notes_.end());
}

/// The sum over rows; nullopt where it is unknown of one.
template <typename F>
std::optional<double> OverviewSum(const std::vector<OverviewRow>& rows, F value_of) {
  double sum = 0;
  for (const OverviewRow& row : rows) {
    const std::optional<int64_t> value = value_of(row);
    if (!value) return std::nullopt;
    sum += static_cast<double>(*value);
  }
  return sum;
}

/// The cells of one row, or of the mean of several. `all`: state and start too.
std::vector<Cell> OverviewCellsOf(std::string_view name, std::string_view label, bool all,
                                  bool has_product, const std::vector<OverviewRow>& rows,
                                  bool mean) {
  std::vector<Cell> cells = {Text(name), Text(label)};
  cells.push_back(mean || !all ? Cell() : Text(rows[0].whole ? "whole" : "cut"));
  cells.push_back(mean || !all ? Cell() : Integer(rows[0].start_ns));
  const auto add = [&](auto value_of) {
    if (!mean) return cells.push_back(Integer(value_of(rows[0])));
    const auto sum = OverviewSum(rows, value_of);
    cells.push_back(sum ? Cell{*sum / static_cast<double>(rows.size())} : Cell());
  };
  add([](const OverviewRow& row) { return std::optional(row.total_ns); });
  add([](const OverviewRow& row) { return row.host_ns; });
  for (size_t i = 0; i <= kTimeClassCount; ++i) {
    add([i](const OverviewRow& row) { return row.times.parts[i]; });
  }
  for (size_t i = 0; i < kTimeClassCount; ++i) {
    add([i](const OverviewRow& row) { return row.times.exposed[i]; });
  }
  for (size_t i = 0; i < kTimeClassCount; ++i) {
    add([i](const OverviewRow& row) { return row.times.hidden[i]; });
  }
  const auto busy = OverviewSum(rows, [](const OverviewRow& row) { return row.times.busy; });
  const auto total =
      OverviewSum(rows, [](const OverviewRow& row) { return std::optional(row.total_ns); });
  const auto ideal =
      OverviewSum(rows, [](const OverviewRow& row) { return std::optional(row.ideal_ps); });
  const auto capacity =
      OverviewSum(rows, [](const OverviewRow& row) { return std::optional(row.capacity_ns); });
  cells.push_back(busy ? Decimal(Percent(*busy, *total)) : Cell());
  cells.push_back(has_product ? Decimal(Percent(*ideal, *capacity * 1e3)) : Cell());
  return cells;
}

void Overview::Emit(Sink* sink) const {
  for (const auto& [name, rank] : ranks_) {
    std::vector<OverviewRow> rows = rank.rows;
    std::sort(rows.begin(), rows.end(), OverviewBefore);
    std::vector<OverviewRow> whole;
    for (const OverviewRow& row : rows) {
      const std::string label = std::to_string(row.number);
      sink->Row(OverviewCellsOf(name, label, find_ == nullptr, rank.has_product, {row}, false));
      if (row.whole) whole.push_back(row);
    }
    const std::vector<OverviewRow>& counted = whole.empty() ? rows : whole;
    if (!counted.empty()) {
      sink->Row(OverviewCellsOf(name, "mean", find_ == nullptr, rank.has_product, counted, true));
    }
  }
}

}  // namespace

std::unique_ptr<Partial> MakeOverviewOf(OverviewSteps (*find)(const Run& run)) {
  return std::make_unique<Overview>(find);
}

constexpr View kOverviewView = {
    .name = "overview",
    .help = "where the time of each step went",
    .needs = {TracePart::kApiTimes},
    .fields = OverviewFields,
    .make = MakePartial<Overview>,
    .narrow = "total_ns,kernel_ns,comm_ns,memcpy_ns,runtime_ns,dataloader_ns,cpu_ns,busy_pct",
    .important =
        "step,total_ns,kernel_ns,comm_ns,dataloader_ns,cpu_ns,busy_pct,other_ns,runtime_"
        "ns,rank,mfu_pct",
    .saved_form = 1};

}  // namespace oplens::prof
