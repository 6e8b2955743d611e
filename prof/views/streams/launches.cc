#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_map.h"
#include "parse/model/kernel_names.h"
#include "parse/model/recording_advice.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/histogram.h"
#include "prof/views/common/time_keys.h"
#include "prof/views/streams/kernel_ops.h"

namespace oplens::prof {
namespace {

constexpr int64_t kSlowCallNs = 50'000;
constexpr int64_t kLateStartNs = 100'000;

constexpr std::string_view kLaunchesKeys[] = {"rank", "step", "api", "kernel", "op"};

struct LaunchKey {
  RankName rank;
  std::optional<int64_t> step;
  std::string api;
  std::string kernel;
  std::string op;

  friend auto operator<=>(const LaunchKey&, const LaunchKey&) = default;
};

struct LaunchSums {
  Sum launches;
  Sum short_kernels;
  Sum runtime_outliers;
  Sum delay_outliers;
  Sum early_starts;
  Sum cpu_ns;
  Sum gpu_ns;
  Sum delay_ns;
  Sum graph_launches;
  Histogram delays;
};

constexpr Column<GroupRow<LaunchKey, LaunchSums>> kLaunchesColumns[] = {
    KeyColumn<&LaunchKey::rank>{kRankField},
    ByColumn<&LaunchKey::step>(kStepField),
    ByColumn<&LaunchKey::api>(
        {"api", "Call", "", FieldType::kText, 20, "name of the API call", Fold::kKey}),
    ByColumn<&LaunchKey::kernel>({"kernel", "Kernel", "", FieldType::kName, Field::kShared,
                                  "name of the kernel", Fold::kKey}),
    ByColumn<&LaunchKey::op>({"op", "Op", "", FieldType::kText, 24,
                              "op of the work that it launched, as in tables of kernels; of a "
                              "graph: (graph replay)",
                              Fold::kKey}),
    FigureColumn<&LaunchSums::launches>{"launches", "Launches", "", 10,
                                        "kernels with a known launch, except those of graphs; with "
                                        "--copies also copies and memsets"},
    FigureColumn<&LaunchSums::short_kernels>{
        "short_kernels", "Short", "", 8,
        "those shorter than their call, if the call took at most 50 us"},
    FigureColumn<&LaunchSums::runtime_outliers>{"runtime_outliers", "SlowCalls", "", 9,
                                                "those whose call took more than 50 us"},
    FigureColumn<&LaunchSums::delay_outliers>{"delay_outliers", "LateStarts", "", 10,
                                              "those with a delay of more than 100 us"},
    FigureColumn<&LaunchSums::early_starts>{
        "early_starts", "Early", "", 8,
        "those that began before their call returned: their delay counts as 0"},
    FigureColumn<&LaunchSums::cpu_ns>{"cpu_ns", "CPU(ns)", "ns", 14,
                                      "sum of the durations of the calls, each counted once"},
    FigureColumn<&LaunchSums::gpu_ns>{"gpu_ns", "GPU(ns)", "ns", 14,
                                      "sum of the durations of the work"},
    FigureColumn<&LaunchSums::delay_ns>{
        "delay_ns", "Delay(ns)", "ns", 14,
        "sum of the delays: start of the work - end of its call, at least 0"},
    FigureColumn<&LaunchSums::delays, 50>{"p50_delay_ns", "P50(ns)", "ns", 10,
                                          "median delay, at most 1.6 % off"},
    FigureColumn<&LaunchSums::delays, 95>{"p95_delay_ns", "P95(ns)", "ns", 10,
                                          "95th percentile of the delays, at most 1.6 % off"},
    FigureColumn<&LaunchSums::delays, Extreme::kLargest>{"max_delay_ns", "Max(ns)", "ns", 12,
                                                         "longest delay"},
    FigureColumn<&LaunchSums::graph_launches>{
        "graph_launches", "Graphs", "", 8,
        "calls that launched a graph; they count in no other field"},
};

/// `first`: no other work of the call was counted yet.
void AddLaunch(const LaunchCall& call, const DeviceEvent& event, bool first, LaunchSums* sums) {
  const int64_t cpu_ns = LengthOf({call.start_ns, call.end_ns});
  const int64_t delay_ns = LengthOf({call.end_ns, event.start_ns});
  const bool slow = cpu_ns > kSlowCallNs;
  ++sums->launches;
  sums->short_kernels += !slow && event.duration_ns() < cpu_ns ? 1 : 0;
  sums->runtime_outliers += slow ? 1 : 0;
  sums->delay_outliers += delay_ns > kLateStartNs ? 1 : 0;
  sums->early_starts += event.start_ns < call.end_ns ? 1 : 0;
  if (first) sums->cpu_ns += cpu_ns;
  sums->gpu_ns += event.duration_ns();
  sums->delay_ns += delay_ns;
  sums->delays.Add(delay_ns);
}

class Launches : public GroupedPartial<LaunchKey, LaunchSums> {
 public:
  explicit Launches(const ViewOptions& options)
      : GroupedPartial("launches", options, kLaunchesKeys, kLaunchesColumns),
        by_step_(By("step")),
        by_api_(By("api")),
        by_kernel_(By("kernel")),
        by_op_(By("op")),
        copies_(options.copies) {}

  void Begin(const Run* run) override {
    GroupedPartial::Begin(run);
    ops_.Begin();
  }
  void Add(const PricedKernel& kernel) override {
    if (by_op_) ops_.Add(kernel);
  }
  void End(const Run* run) override;
  void Merge(const Partial& other) override {
    GroupedPartial::Merge(other);
    MergeInto(&no_calls_, dynamic_cast<const Launches&>(other).no_calls_);
  }
  std::vector<std::string> Notes() const override;
  void Save(ByteWriter* bytes) const override { bytes->Values(&no_calls_, &notes_, &rows_); }
  void Load(ByteReader* bytes) override {
    bytes->Values(&no_calls_, &notes_);
    // Names of kernels may have become equal.
    TransferMap(bytes, &rows_,
                [&](const LaunchKey& key, const LaunchSums& sums) { Take(key, sums); });
  }

 private:
  struct Numbers {
    size_t step = 0;
    StringId api = 0;
    int64_t kernel = 0;  ///< Id of the name; negative: a kind of copy, or a memset.
    uint32_t op = 0;     ///< Number in ops_.
    auto operator<=>(const Numbers&) const = default;
  };

  /// `graph`: the call launched a graph.
  Numbers NumbersOf(const Run& run, const DeviceEvent& event, const LaunchCall& call, bool graph);
  LaunchKey KeyOf(const Run& run, const Numbers& numbers) const;

  bool by_step_;
  bool by_api_;
  bool by_kernel_;
  bool by_op_;
  bool copies_;
  KernelOps ops_;                           // If by_op_.
  std::array<Any, kFamilyCount> no_calls_;  // Families of profiles with work, but no launches.
};

constexpr int64_t kFill = -1000;

Launches::Numbers Launches::NumbersOf(const Run& run, const DeviceEvent& event,
                                      const LaunchCall& call, bool graph) {
  Numbers numbers;
  if (by_step_) numbers.step = run.steps().OfEvent(event);
  if (by_api_) numbers.api = call.api;
  if (by_op_) {
    numbers.op = graph ? ops_.NumberOf(KernelOps::kReplay) : ops_.NumberOf(run.trace(), event);
  }
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

LaunchKey Launches::KeyOf(const Run& run, const Numbers& numbers) const {
  LaunchKey key;
  key.rank = RankName(run.rank());
  if (by_step_ && numbers.step != Steps::kNone) {
    key.step = run.steps().all()[numbers.step].number;
  }
  key.api = run.trace().strings.View(numbers.api);
  key.op = ops_.TextOf(numbers.op);
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
    const Numbers numbers = NumbersOf(*run, event, call, graph);
    if (last == found.end() || last->first != numbers) last = found.try_emplace(numbers).first;
    if (graph) {
      ++last->second.graph_launches;
    } else {
      AddLaunch(call, event, first, &last->second);
    }
  }
  for (const auto& [numbers, sums] : found) Take(KeyOf(*run, numbers), sums);
  if (found.empty() && !run->work().events().empty()) {
    no_calls_[static_cast<size_t>(trace.family)].value = true;
  }
}

std::vector<std::string> Launches::Notes() const {
  std::vector<std::string> notes = notes_.Sentences();
  for (size_t i = 0; i < kFamilyCount; ++i) {
    if (!no_calls_[i]) continue;
    const std::string_view flag = RecordingFlag(MissingFact::kLaunches, static_cast<Family>(i));
    notes.push_back(fmt::format("launches: the profile holds no launches of its work{}{}",
                                flag.empty() ? "" : "; to record them: ", flag));
  }
  return notes;
}

}  // namespace

extern constexpr View kLaunchesView = {
    .name = "launches",
    .help = "what launching kernels cost, and how late kernels began",
    .fields = FieldsWithoutBy<kLaunchesColumns>,
    .make = MakePartial<Launches>,
    .by = kLaunchesKeys,
    .narrow = "launches,short_kernels,cpu_ns,gpu_ns,delay_ns,p50_delay_ns,max_delay_ns",
    .saved_form = 2};

}  // namespace oplens::prof
