#include "prof/views/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "parse/model/recording_advice.h"
#include "prof/run/class_times.h"
#include "prof/run/copy_name.h"
#include "prof/views/histogram.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"
#include "prof/views/stream_keys.h"
#include "prof/views/time_keys.h"
#include "prof/views/view_notes.h"

namespace oplens::prof {
namespace {

constexpr int64_t kSlowCallNs = 50'000;
constexpr int64_t kLateStartNs = 100'000;

constexpr Field kLaunchesFields[] = {
    kRankField,
    {"launches", "Launches", "", FieldType::kInteger, 10,
     "kernels whose launch is known, other than a graph's; with --copies copies and fills too",
     Fold::kSum},
    {"short_kernels", "Short", "", FieldType::kInteger, 8,
     "those that ran shorter than their call, which took at most 50 us", Fold::kSum},
    {"runtime_outliers", "SlowCalls", "", FieldType::kInteger, 9,
     "those whose call took more than 50 us", Fold::kSum},
    {"delay_outliers", "LateStarts", "", FieldType::kInteger, 10,
     "those with a delay of more than 100 us", Fold::kSum},
    {"early_starts", "Early", "", FieldType::kInteger, 8,
     "those that began before their call returned: their delay counts as 0", Fold::kSum},
    {"cpu_ns", "CPU(ns)", "ns", FieldType::kInteger, 14,
     "sum of the durations of the calls, each once", Fold::kSum},
    {"gpu_ns", "GPU(ns)", "ns", FieldType::kInteger, 14, "sum of the durations of the work",
     Fold::kSum},
    {"delay_ns", "Delay(ns)", "ns", FieldType::kInteger, 14,
     "sum of the delays: start of the work - end of its call, at least 0", Fold::kSum},
    {"p50_delay_ns", "P50(ns)", "ns", FieldType::kInteger, 10, "median delay, at most 1.6 % off",
     Fold::kQuantiles},
    {"p95_delay_ns", "P95(ns)", "ns", FieldType::kInteger, 10,
     "95th percentile of the delays, at most 1.6 % off", Fold::kQuantiles},
    {"max_delay_ns", "Max(ns)", "ns", FieldType::kInteger, 12, "longest delay", Fold::kMax},
    {"graph_launches", "Graphs", "", FieldType::kInteger, 8,
     "calls that launched a graph, which count nowhere else", Fold::kSum},
};

constexpr Field kApiField = {"api",     "Call", "", FieldType::kText, 20, "name of the API call",
                             Fold::kKey};
constexpr Field kKernelField = {
    "kernel", "Kernel", "", FieldType::kName, Field::kShared, "name of the kernel", Fold::kKey};

constexpr std::string_view kLaunchesKeys[] = {"rank", "step", "api", "kernel"};

struct LaunchSums {
  int64_t launches = 0;
  int64_t short_kernels = 0;
  int64_t runtime_outliers = 0;
  int64_t delay_outliers = 0;
  int64_t early_starts = 0;
  int64_t cpu_ns = 0;
  int64_t gpu_ns = 0;
  int64_t delay_ns = 0;
  int64_t graph_launches = 0;
  Histogram delays;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Sums(&self->launches, &self->short_kernels, &self->runtime_outliers,
                &self->delay_outliers, &self->early_starts, &self->cpu_ns, &self->gpu_ns,
                &self->delay_ns, &self->graph_launches);
    bytes->Values(&self->delays);
  }

  void Merge(const LaunchSums& more) {
    constexpr int64_t LaunchSums::*kSums[] = {
        &LaunchSums::launches,       &LaunchSums::short_kernels, &LaunchSums::runtime_outliers,
        &LaunchSums::delay_outliers, &LaunchSums::early_starts,  &LaunchSums::cpu_ns,
        &LaunchSums::gpu_ns,         &LaunchSums::delay_ns,      &LaunchSums::graph_launches};
    for (const auto sum : kSums) this->*sum = SaturatingSum(this->*sum, more.*sum);
    delays.Merge(more.delays);
  }
};

/// `first`: whether no other work of the call was counted yet.
void AddLaunch(const LaunchCall& call, const DeviceEvent& event, bool first, LaunchSums* sums) {
  const int64_t cpu_ns = LengthOf({call.start_ns, call.end_ns});
  const int64_t delay_ns = LengthOf({call.end_ns, event.start_ns});
  const bool slow = cpu_ns > kSlowCallNs;
  ++sums->launches;
  sums->short_kernels += !slow && event.duration_ns() < cpu_ns ? 1 : 0;
  sums->runtime_outliers += slow ? 1 : 0;
  sums->delay_outliers += delay_ns > kLateStartNs ? 1 : 0;
  sums->early_starts += event.start_ns < call.end_ns ? 1 : 0;
  if (first) sums->cpu_ns = SaturatingSum(sums->cpu_ns, cpu_ns);
  sums->gpu_ns = SaturatingSum(sums->gpu_ns, event.duration_ns());
  sums->delay_ns = SaturatingSum(sums->delay_ns, delay_ns);
  sums->delays.Add(delay_ns);
}

class Launches : public SavedPartial<Launches> {
 public:
  explicit Launches(const ViewOptions& options)
      : by_step_(HasKey(options, "step", "launches", kLaunchesKeys)),
        by_api_(HasKey(options, "api", "launches", kLaunchesKeys)),
        by_kernel_(HasKey(options, "kernel", "launches", kLaunchesKeys)),
        copies_(options.copies),
        notes_("launches") {}

  void Begin(const Run* run) override { notes_.Begin(run); }
  void End(const Run* run) override;
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const Launches&>(other);
    for (const auto& [key, sums] : more.rows_) rows_[key].Merge(sums);
    for (size_t i = 0; i < kFamilyCount; ++i) no_calls_[i] |= more.no_calls_[i];
    notes_.Merge(more.notes_);
  }
  std::vector<Field> Fields() const override {
    std::vector<Field> fields(std::begin(kLaunchesFields), std::end(kLaunchesFields));
    auto at = fields.begin() + 1;
    if (by_kernel_) at = fields.insert(at, kKernelField);
    if (by_api_) at = fields.insert(at, kApiField);
    if (by_step_) fields.insert(at, kStepField);
    return fields;
  }
  void Emit(Sink* sink) const override;
  std::vector<std::string> Notes() const override;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->no_calls_, &self->notes_);
    TransferMap(bytes, &self->rows_, [&](const Key& key, const LaunchSums& sums) {
      if constexpr (Bytes::kReads) self->rows_[key].Merge(sums);
    });
  }

 private:
  struct Key {
    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->rank, &self->step, &self->api, &self->kernel);
    }

    std::string rank;
    std::optional<int64_t> step;
    std::string api;
    std::string kernel;
  };
  struct KeyOrder {
    bool operator()(const Key& a, const Key& b) const {
      if (a.rank != b.rank) return RankBefore()(a.rank, b.rank);
      return std::tie(a.step, a.api, a.kernel) < std::tie(b.step, b.api, b.kernel);
    }
  };
  /// The same as numbers of the run at hand.
  struct Numbers {
    size_t step = 0;
    StringId api = 0;
    int64_t kernel = 0;  ///< Id of the name; below 0 a kind of copy, or a fill.
    auto operator<=>(const Numbers&) const = default;
  };

  Numbers NumbersOf(const Run& run, const DeviceEvent& event, const LaunchCall& call) const;
  Key KeyOf(const Run& run, const Numbers& numbers) const;

  bool by_step_;
  bool by_api_;
  bool by_kernel_;
  bool copies_;
  std::map<Key, LaunchSums, KeyOrder> rows_;
  std::array<bool, kFamilyCount> no_calls_{};  // Families of profiles with work, but no launch.
  ViewNotes notes_;
};

constexpr int64_t kFill = -1000;

Launches::Numbers Launches::NumbersOf(const Run& run, const DeviceEvent& event,
                                      const LaunchCall& call) const {
  Numbers numbers;
  if (by_step_) numbers.step = run.steps().OfEvent(event);
  if (by_api_) numbers.api = call.api;
  if (!by_kernel_) return numbers;
  const Trace& trace = run.trace();
  if (event.IsKernel()) {
    numbers.kernel = trace.kernels[event.index].name;
  } else if (event.work == WorkClass::kCopy) {
    numbers.kernel = -1 - static_cast<int64_t>(trace.copies[event.index].copy_kind);
  } else if (event.work == WorkClass::kFill) {
    numbers.kernel = kFill;
  }
  return numbers;
}

Launches::Key Launches::KeyOf(const Run& run, const Numbers& numbers) const {
  Key key;
  key.rank = run.rank();
  if (by_step_ && numbers.step != Steps::kNone) {
    key.step = run.steps().all()[numbers.step].number;
  }
  key.api = run.trace().strings.View(numbers.api);
  if (!by_kernel_) return key;
  if (numbers.kernel == kFill) {
    key.kernel = kFillName;
  } else if (numbers.kernel < 0) {
    key.kernel = CopyNameOf(static_cast<CopyKind>(-1 - numbers.kernel));
  } else {
    Kernel kernel;
    kernel.name = static_cast<StringId>(numbers.kernel);
    key.kernel = run.names().Of(kernel).full;
  }
  return key;
}

void Launches::End(const Run* run) {
  if (run == nullptr) return;
  const Trace& trace = run->trace();
  std::map<Numbers, LaunchSums> found;
  auto last = found.end();
  std::vector<bool> met(trace.launches.size(), false);
  for (const DeviceEvent& event : run->work().events()) {
    const bool replay = event.work == WorkClass::kReplay;
    if (!event.IsKernel() && !replay && !copies_) continue;
    const LaunchIndex launch = run->work().LaunchOf(event);
    if (launch == kNoLaunch) continue;
    const LaunchCall& call = trace.launches[launch];
    const bool first = !met[launch];
    met[launch] = true;
    const bool graph = replay || (event.IsKernel() && trace.kernels[event.index].graph);
    if (graph && !first) continue;
    const Numbers numbers = NumbersOf(*run, event, call);
    if (last == found.end() || last->first != numbers) last = found.try_emplace(numbers).first;
    if (graph) {
      ++last->second.graph_launches;
    } else {
      AddLaunch(call, event, first, &last->second);
    }
  }
  for (const auto& [numbers, sums] : found) rows_[KeyOf(*run, numbers)].Merge(sums);
  if (found.empty() && !run->work().events().empty()) {
    no_calls_[static_cast<size_t>(trace.family)] = true;
  }
}

void Launches::Emit(Sink* sink) const {
  for (const auto& [key, sums] : rows_) {
    std::vector<Cell> cells = {Text(key.rank)};
    if (by_step_) cells.push_back(Integer(key.step));
    if (by_api_) cells.push_back(Text(key.api));
    if (by_kernel_) cells.push_back(Text(key.kernel));
    for (const int64_t value :
         {sums.launches, sums.short_kernels, sums.runtime_outliers, sums.delay_outliers,
          sums.early_starts, sums.cpu_ns, sums.gpu_ns, sums.delay_ns}) {
      cells.push_back(Integer(value));
    }
    cells.insert(cells.end(), {Integer(sums.delays.Quantile(50)), Integer(sums.delays.Quantile(95)),
                               Integer(sums.delays.largest()), Integer(sums.graph_launches)});
    sink->Row(cells);
  }
}

std::vector<std::string> Launches::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  for (size_t i = 0; i < kFamilyCount; ++i) {
    if (!no_calls_[i]) continue;
    const std::string_view flag = RecordingFlag(Lack::kLaunches, static_cast<Family>(i));
    notes.push_back(fmt::format("launches: the profile holds no launches of its work{}{}",
                                flag.empty() ? "" : "; to record them: ", flag));
  }
  return notes;
}

}  // namespace

std::span<const Field> LaunchesFields() { return kLaunchesFields; }
std::span<const std::string_view> LaunchesKeys() { return kLaunchesKeys; }

std::unique_ptr<Partial> MakeLaunches(const ViewOptions& options) {
  return std::make_unique<Launches>(options);
}

}  // namespace oplens::prof
