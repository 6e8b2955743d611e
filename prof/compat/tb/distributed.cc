#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "base/saturating.h"
#include "prof/compat/tb/steps.h"
#include "prof/compat/tb/views.h"
#include "prof/run/class_times.h"
#include "prof/run/interval_set.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/step_times.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

/// A collective to the TensorBoard plugin: a range with a known name (IsTensorBoardCollective), or
/// its shadow on the GPU, and the kernels with its external id.
struct TbCollective {
  std::string name;
  Interval range;
  std::vector<Interval> ranges;  ///< Of the range and the kernels, by start, longer ones first.
  int64_t size_bytes = 0;        ///< Of its inputs; 0 for types that the plugin does not know.
  std::optional<size_t> step;    ///< Index in `steps`.
};

/// A step with the chart's four parts.
struct StepParts {
  int64_t number = 0;
  int64_t total_ns = 0;
  int64_t computation_ns = 0;
  int64_t overlap_ns = 0;
  int64_t communication_ns = 0;
};

struct TbRecording {
  std::vector<StepParts> steps;
  std::vector<TbCollective> calls;
  bool communicates = false;  ///< Something is communication by the plugin's rules.
};

/// Data of the plugin's distributed page.
class TbRanks {
 public:
  void Add(const Run& run);
  void Merge(const TbRanks& other);

  /// Why the plugin shows nothing; "" if it does.
  std::string Refusal() const;

  /// Transfer time of each range of each call: the shortest of all ranks. Precondition: Refusal()
  /// is "".
  using Transfers = std::vector<std::vector<int64_t>>;  // By call and range.
  Transfers ShortestOf() const;

  using Ranks = std::map<std::string, std::vector<TbRecording>, RankBefore>;
  const Ranks& ranks() const { return ranks_; }

 private:
  Ranks ranks_;
};

/// Union of some calls' ranges of a rank, and of their transfers, each at the end of its range.
struct TbLengths {
  std::vector<Interval> ranges;
  std::vector<Interval> transfers;
  int64_t calls = 0;
  int64_t size_bytes = 0;

  /// `shortest`: of the call, from ShortestOf.
  void Add(const TbCollective& call, const std::vector<int64_t>& shortest);
  int64_t latency_ns() const { return IntervalSet(ranges).length_ns(); }
  int64_t transfer_ns() const { return IntervalSet(transfers).length_ns(); }
};

int64_t TbCollectivesNsOf(double us) {
  // Separately: a double cannot hold both for times since 1970.
  constexpr double kMost = 9e15;
  if (std::isnan(us)) return 0;
  const double whole = std::floor(std::clamp(us, -kMost, kMost));
  return static_cast<int64_t>(whole) * 1000 + std::llround(std::clamp(us - whole, 0.0, 1.0) * 1000);
}

Interval IntervalOf(const TorchEvent& event) {
  return {TbCollectivesNsOf(event.start_us), TbCollectivesNsOf(event.end_us)};
}

bool TbCollectivesBefore(const Interval& a, const Interval& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
}

int64_t ElementSize(std::string_view type) {
  if (type == "'long int'") return 8;
  if (type == "'float'" || type == "'int'") return 4;
  if (type == "'c10::Half'" || type == "'c10::BFloat16'") return 2;
  return type == "'unsigned char'" ? 1 : 0;
}

/// The items of a list as Python prints it.
std::vector<std::string_view> TbCollectivesItemsOf(std::string_view text) {
  std::vector<std::string_view> items;
  if (text.size() < 2 || text.front() != '[') return items;
  text = text.substr(1, text.size() - 2);
  int64_t depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const bool end = i == text.size();
    if (end || (text[i] == ',' && depth == 0)) {
      const std::string_view item = text.substr(begin, i - begin);
      const size_t first = item.find_first_not_of(' ');
      if (first != std::string_view::npos) items.push_back(item.substr(first));
      begin = i + 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']') {
      --depth;
    }
  }
  return items;
}

/// Sum over the inputs of element count times element size.
int64_t SizeOf(std::string_view dims, std::string_view types) {
  const std::vector<std::string_view> shapes = TbCollectivesItemsOf(dims);
  const std::vector<std::string_view> names = TbCollectivesItemsOf(types);
  Checked sum = 0;
  for (size_t i = 0; i < std::min(shapes.size(), names.size()); ++i) {
    Checked product = ElementSize(names[i]);
    for (const std::string_view item : TbCollectivesItemsOf(shapes[i])) {
      int64_t extent = 0;
      std::from_chars(item.data(), item.data() + item.size(), extent);
      product = product * extent;
    }
    sum = sum + product;
  }
  return sum.Value().value_or(INT64_MAX);
}

/// Assigns steps as the plugin does, walking both lists: a call inside no step but before the end
/// of the last gets none, and after the first call behind all steps no call gets one.
void FindSteps(const std::vector<Step>& steps, std::vector<TbCollective>* all) {
  size_t index = 0;
  for (TbCollective& one : *all) {
    while (index < steps.size()) {
      const Interval& span = steps[index].span;
      if (one.range.start_ns >= span.start_ns && one.range.end_ns <= span.end_ns) {
        one.step = index;
        break;
      }
      if (one.range.start_ns < span.end_ns) break;
      ++index;
    }
    if (index >= steps.size()) break;
  }
}

/// All collectives of a run, by start, longer ones first; of several with one external id the last.
/// Empty if both NCCL and Gloo occur. `steps`: TensorBoardSteps. Needs TracePart::kTorchEvents.
std::vector<TbCollective> FindTbCollectives(const Run& run, const std::vector<Step>& steps) {
  const Trace& trace = run.trace();
  std::vector<uint32_t> order(trace.torch_events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return trace.torch_events[a].start_us < trace.torch_events[b].start_us;
  });
  std::vector<TbCollective> found;
  std::unordered_map<int64_t, size_t> place_of;  // By external id.
  bool nccl = false;
  bool gloo = false;
  for (const uint32_t index : order) {
    const TorchEvent& event = trace.torch_events[index];
    const std::string_view name = trace.strings.View(event.name);
    if (event.kind > TorchEvent::Kind::kDeviceAnnotation || !IsTensorBoardCollective(name)) {
      continue;
    }
    (name.starts_with("nccl:") ? nccl : gloo) = true;
    const auto [at, fresh] = place_of.try_emplace(event.external_id, found.size());
    if (fresh) found.emplace_back();
    TbCollective& one = found[at->second];
    one = {std::string(name), IntervalOf(event), {IntervalOf(event)}, 0, {}};
    one.size_bytes = SizeOf(trace.strings.View(event.dims), trace.strings.View(event.types));
  }
  if (nccl && gloo) return {};
  for (const TorchEvent& event : trace.torch_events) {
    if (!nccl || event.kind != TorchEvent::Kind::kKernel) continue;
    const auto at = place_of.find(event.external_id);
    if (at != place_of.end()) found[at->second].ranges.push_back(IntervalOf(event));
  }
  for (TbCollective& one : found)
    std::stable_sort(one.ranges.begin(), one.ranges.end(), TbCollectivesBefore);
  std::stable_sort(found.begin(), found.end(), [](const TbCollective& a, const TbCollective& b) {
    return TbCollectivesBefore(a.range, b.range);
  });
  FindSteps(steps, &found);
  return found;
}

std::vector<StepParts> TbRanksPartsOf(const std::vector<Step>& steps,
                                      const ClassIntervals& classes) {
  const std::vector<StepTimes> times = TbTimesOf(steps, classes);
  constexpr auto kComm = static_cast<size_t>(TimeClass::kComm);
  std::vector<StepParts> parts;
  for (size_t i = 0; i < steps.size(); ++i) {
    StepParts& own = parts.emplace_back();
    own.number = steps[i].number;
    own.total_ns = LengthOf(steps[i].span);
    own.overlap_ns = times[i].hidden[kComm].value_or(0);
    own.communication_ns = times[i].exposed[kComm].value_or(0);
    for (const TimeClass compute : {TimeClass::kKernel, TimeClass::kCpu}) {
      const auto& exposed = times[i].exposed[static_cast<size_t>(compute)];
      if (exposed) own.computation_ns = *exposed;
    }
  }
  return parts;
}

void TbRanks::Add(const Run& run) {
  TbRecording& recording = ranks_[std::string(run.rank())].emplace_back();
  const std::vector<Step> steps = TensorBoardSteps(run.trace(), run.work());
  if (steps.empty()) return;
  const ClassIntervals classes = TbClassesOf(run);
  recording.steps = TbRanksPartsOf(steps, classes);
  recording.communicates = !classes.Of(static_cast<size_t>(TimeClass::kComm)).empty();
  recording.calls = FindTbCollectives(run, steps);
}

void TbRanks::Merge(const TbRanks& other) {
  for (const auto& [name, recordings] : other.ranks_) {
    auto& own = ranks_[name];
    own.insert(own.end(), recordings.begin(), recordings.end());
  }
}

std::string TbRanks::Refusal() const {
  const TbRecording* first = nullptr;
  for (const auto& [name, recordings] : ranks_) {
    if (recordings.size() > 1) return "several profiles have one rank";
    const TbRecording& own = recordings.front();
    if (!own.communicates || own.calls.empty()) {
      return "the plugin knows no collective in the profile of a rank";
    }
    if (first == nullptr) first = &own;
    if (own.calls.size() != first->calls.size()) return "ranks have different counts of calls";
    for (size_t i = 0; i < own.calls.size(); ++i) {
      if (own.calls[i].ranges.size() != first->calls[i].ranges.size()) {
        return "ranks have different counts of kernels of a call";
      }
    }
  }
  return first == nullptr ? "there is no profile" : "";
}

TbRanks::Transfers TbRanks::ShortestOf() const {
  Transfers shortest;
  for (const auto& [name, recordings] : ranks_) {
    const std::vector<TbCollective>& calls = recordings.front().calls;
    shortest.resize(calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      shortest[i].resize(calls[i].ranges.size(), INT64_MAX);
      for (size_t j = 0; j < calls[i].ranges.size(); ++j) {
        shortest[i][j] = std::min(shortest[i][j], LengthOf(calls[i].ranges[j]));
      }
    }
  }
  return shortest;
}

void TbLengths::Add(const TbCollective& call, const std::vector<int64_t>& shortest) {
  ++calls;
  size_bytes = SaturatingSum(size_bytes, call.size_bytes);
  for (size_t j = 0; j < call.ranges.size(); ++j) {
    const Interval& range = call.ranges[j];
    ranges.push_back(range);
    // On overflow the whole range is transfer.
    int64_t start_ns = 0;
    if (__builtin_sub_overflow(range.end_ns, shortest[j], &start_ns)) start_ns = range.start_ns;
    transfers.push_back({std::max(range.start_ns, start_ns), range.end_ns});
  }
}

int64_t OtherOf(const StepParts& parts) {
  return parts.total_ns - parts.computation_ns - parts.overlap_ns - parts.communication_ns;
}

/// The mean of a sum over steps, truncated to whole microseconds.
int64_t CutMean(int64_t sum_ns, size_t steps) {
  constexpr int64_t kNsPerUs = 1000;
  return sum_ns / static_cast<int64_t>(std::max<size_t>(steps, 1)) / kNsPerUs * kNsPerUs;
}

class TbPartial : public Partial {
 public:
  explicit TbPartial(std::string_view view) : view_(view) {}
  void Begin(const Run* run) override {
    if (run != nullptr) {
      ranks_.Add(*run);
    } else {
      records_ = true;
    }
  }
  void Merge(const Partial& other) override {
    const auto& more = dynamic_cast<const TbPartial&>(other);
    ranks_.Merge(more.ranks_);
    records_ |= more.records_;
  }
  std::vector<std::string> Notes() const override {
    if (records_) return {fmt::format("{}: records do not hold this: give the profile", view_)};
    const std::string refusal = ranks_.Refusal();
    if (refusal.empty()) return {};
    return {fmt::format("{}: the plugin shows nothing here: {}", view_, refusal)};
  }

 protected:
  TbRanks ranks_;

 private:
  std::string_view view_;
  bool records_ = false;
};

class TbDistributed : public TbPartial {
 public:
  TbDistributed() : TbPartial("distributed") {}
  std::vector<Field> Fields() const override {
    const auto all = kDistributedView.fields();
    return {all.begin(), all.end()};
  }
  void Emit(Sink* sink) const override;

 private:
  /// Values of one row; the last three are of calls, which only some steps have.
  struct Sums {
    StepParts parts;
    std::optional<int64_t> calls = {};
    int64_t latency_ns = 0;
    int64_t transfer_ns = 0;
  };
  /// Of a rank; calls outside of steps form one more.
  using ByStep = std::map<std::optional<size_t>, TbLengths>;
  static Sums MeanOf(const TbRecording& recording, const ByStep& by_step);
  static void EmitRow(std::string_view rank, std::string_view step, const Sums& sums, Sink* sink);
};

void TbDistributed::EmitRow(std::string_view rank, std::string_view step, const Sums& sums,
                            Sink* sink) {
  const StepParts& parts = sums.parts;
  const int64_t other_ns = OtherOf(parts);
  const auto share = [&](int64_t part) {
    if (parts.total_ns == 0) return Cell{};
    return Cell{100.0 * static_cast<double>(part) / static_cast<double>(parts.total_ns)};
  };
  const auto of_calls = [&](int64_t value) { return sums.calls ? Cell{value} : Cell{}; };
  const std::vector<Cell> cells = {Text(rank),
                                   Text(step),
                                   Integer(parts.total_ns),
                                   Integer(parts.computation_ns),
                                   Integer(parts.overlap_ns),
                                   Integer(parts.communication_ns),
                                   Integer(other_ns),
                                   Cell{},
                                   share(parts.computation_ns),
                                   share(parts.overlap_ns),
                                   share(parts.communication_ns),
                                   share(other_ns),
                                   Integer(sums.calls),
                                   of_calls(sums.latency_ns),
                                   of_calls(sums.latency_ns - sums.transfer_ns),
                                   of_calls(sums.transfer_ns),
                                   Cell{}};
  sink->Row(cells);
}

TbDistributed::Sums TbDistributed::MeanOf(const TbRecording& recording, const ByStep& by_step) {
  Sums mean;
  StepParts& parts = mean.parts;
  int64_t other_ns = 0;
  for (const StepParts& own : recording.steps) {
    for (const auto part :
         {&StepParts::computation_ns, &StepParts::overlap_ns, &StepParts::communication_ns}) {
      parts.*part = SaturatingSum(parts.*part, own.*part);
    }
    other_ns = SaturatingSum(other_ns, OtherOf(own));
  }
  parts.total_ns = CutMean(other_ns, recording.steps.size());
  for (const auto part :
       {&StepParts::computation_ns, &StepParts::overlap_ns, &StepParts::communication_ns}) {
    parts.*part = CutMean(parts.*part, recording.steps.size());
    parts.total_ns = SaturatingSum(parts.total_ns, parts.*part);
  }
  int64_t wait_ns = 0;
  int64_t transfer_ns = 0;
  int64_t calls = 0;
  for (const auto& [step, lengths] : by_step) {
    const int64_t own_ns = lengths.transfer_ns();
    calls += lengths.calls;
    transfer_ns = SaturatingSum(transfer_ns, own_ns);
    wait_ns = SaturatingSum(wait_ns, lengths.latency_ns() - own_ns);
  }
  mean.calls = calls / static_cast<int64_t>(std::max<size_t>(by_step.size(), 1));
  mean.transfer_ns = CutMean(transfer_ns, by_step.size());
  mean.latency_ns = SaturatingSum(mean.transfer_ns, CutMean(wait_ns, by_step.size()));
  return mean;
}

void TbDistributed::Emit(Sink* sink) const {
  if (!ranks_.Refusal().empty()) return;
  const TbRanks::Transfers shortest = ranks_.ShortestOf();
  for (const auto& [rank, recordings] : ranks_.ranks()) {
    const TbRecording& recording = recordings.front();
    ByStep by_step;
    for (size_t i = 0; i < recording.calls.size(); ++i) {
      by_step[recording.calls[i].step].Add(recording.calls[i], shortest[i]);
    }
    for (size_t i = 0; i < recording.steps.size(); ++i) {
      Sums own;
      own.parts = recording.steps[i];
      const auto found = by_step.find(i);
      if (found != by_step.end()) {
        own.calls = found->second.calls;
        own.latency_ns = found->second.latency_ns();
        own.transfer_ns = found->second.transfer_ns();
      }
      EmitRow(rank, std::to_string(own.parts.number), own, sink);
    }
    EmitRow(rank, "mean", MeanOf(recording, by_step), sink);
  }
}

constexpr Field kTbDistributedCallFields[] = {
    kRankField,
    {"kind", "Kind", "", FieldType::kText, 20, "name of the collective's range", Fold::kKey},
    {"calls", "Calls", "", FieldType::kInteger, 7, "ranges of that name", Fold::kSum},
    {"total_bytes", "Bytes(B)", "B", FieldType::kInteger, 13,
     "sum of the sizes of their inputs; 0 for types that the plugin does not know", Fold::kSum},
    {"mean_bytes", "Mean(B)", "B", FieldType::kInteger, 13, "total_bytes / calls, rounded",
     Fold::kNone},
    {"latency_ns", "Latency(ns)", "ns", FieldType::kInteger, 13,
     "time in which any of their ranges and kernels ran", Fold::kSum},
    {"mean_latency_ns", "MeanLat(ns)", "ns", FieldType::kInteger, 13,
     "latency_ns / calls, rounded to microseconds", Fold::kNone},
    {"transfer_ns", "Transfer(ns)", "ns", FieldType::kInteger, 13,
     "time in which any of their transfers ran: the end part of each range, as long as the "
     "shortest range of all ranks",
     Fold::kSum},
    {"mean_transfer_ns", "MeanTrans(ns)", "ns", FieldType::kInteger, 13,
     "transfer_ns / calls, rounded to microseconds", Fold::kNone},
};

/// Rounded to a multiple of `unit`, halves to even.
int64_t RoundedMean(int64_t sum, int64_t count, int64_t unit) {
  const double mean = static_cast<double>(sum) / static_cast<double>(count);
  return static_cast<int64_t>(std::nearbyint(mean / static_cast<double>(unit))) * unit;
}

class TbCollectives : public TbPartial {
 public:
  TbCollectives() : TbPartial("collectives") {}
  std::vector<Field> Fields() const override {
    return {std::begin(kTbDistributedCallFields), std::end(kTbDistributedCallFields)};
  }
  void Emit(Sink* sink) const override {
    if (!ranks_.Refusal().empty()) return;
    const TbRanks::Transfers shortest = ranks_.ShortestOf();
    for (const auto& [rank, recordings] : ranks_.ranks()) {
      const std::vector<TbCollective>& calls = recordings.front().calls;
      std::map<std::string, TbLengths> by_name;
      for (size_t i = 0; i < calls.size(); ++i) by_name[calls[i].name].Add(calls[i], shortest[i]);
      for (const auto& [name, lengths] : by_name) {
        const int64_t latency_ns = lengths.latency_ns();
        const int64_t transfer_ns = lengths.transfer_ns();
        const std::vector<Cell> cells = {Text(rank),
                                         Text(name),
                                         Integer(lengths.calls),
                                         Integer(lengths.size_bytes),
                                         Integer(RoundedMean(lengths.size_bytes, lengths.calls, 1)),
                                         Integer(latency_ns),
                                         Integer(RoundedMean(latency_ns, lengths.calls, 1000)),
                                         Integer(transfer_ns),
                                         Integer(RoundedMean(transfer_ns, lengths.calls, 1000))};
        sink->Row(cells);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Partial> MakeTbDistributed(const ViewOptions& options) {
  static_cast<void>(options);
  return std::make_unique<TbDistributed>();
}

std::unique_ptr<Partial> MakeTbCollectives(const ViewOptions& options) {
  if (!options.by.empty()) {
    throw UsageError(
        fmt::format("--by {}: the view collectives has none with --compat tb", options.by[0]));
  }
  return std::make_unique<TbCollectives>();
}

}  // namespace oplens::prof
