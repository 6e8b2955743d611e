#include "prof/views/tb_distributed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/saturating.h"
#include "prof/run/class_times.h"
#include "prof/run/tb_collectives.h"
#include "prof/run/tb_steps.h"
#include "prof/views/distributed.h"
#include "prof/views/overview_classes.h"
#include "prof/views/rank_order.h"
#include "prof/views/step_times.h"
#include "prof/views/time_keys.h"

namespace oplens::prof {
namespace {

/// A step with the chart's four parts.
struct StepParts {
  int64_t number = 0;
  int64_t total_ns = 0;
  int64_t computation_ns = 0;
  int64_t overlap_ns = 0;
  int64_t communication_ns = 0;
};

/// One profile of a rank.
struct Recording {
  std::vector<StepParts> steps;
  std::vector<TbCollective> calls;
  bool communicates = false;  ///< Something is communication by the plugin's rules.
};

std::vector<StepParts> PartsOf(const std::vector<Step>& steps, const ClassIntervals& classes) {
  const std::vector<StepTimes> times = TensorBoardTimesOf(steps, classes);
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

/// What both views need of all ranks.
class TbRanks {
 public:
  void Add(const Run& run) {
    Recording& recording = ranks_[std::string(run.rank())].emplace_back();
    const std::vector<Step> steps = TensorBoardSteps(run.trace(), run.work());
    if (steps.empty()) return;
    const ClassIntervals classes = TimeClassesOf(run, Compat::kTensorBoard);
    recording.steps = PartsOf(steps, classes);
    recording.communicates = !classes.Of(static_cast<size_t>(TimeClass::kComm)).empty();
    recording.calls = FindTbCollectives(run, steps);
  }

  void Merge(const TbRanks& other) {
    for (const auto& [name, recordings] : other.ranks_) {
      auto& own = ranks_[name];
      own.insert(own.end(), recordings.begin(), recordings.end());
    }
  }

  /// Why the plugin shows nothing; "" where it does.
  std::string Refusal() const {
    const Recording* first = nullptr;
    for (const auto& [name, recordings] : ranks_) {
      if (recordings.size() > 1) return "several profiles have one rank";
      const Recording& own = recordings.front();
      if (!own.communicates || own.calls.empty()) {
        return "the plugin knows no collective in the profile of a rank";
      }
      if (first == nullptr) first = &own;
      if (own.calls.size() != first->calls.size()) {
        return "ranks have different counts of calls";
      }
      for (size_t i = 0; i < own.calls.size(); ++i) {
        if (own.calls[i].ranges.size() != first->calls[i].ranges.size()) {
          return "ranks have different counts of kernels of a call";
        }
      }
    }
    return first == nullptr ? "there is no profile" : "";
  }

  /// The transfers of each range of each call: as long as the shortest of all ranks, at its end.
  /// Ranks must not be refused.
  using Transfers = std::vector<std::vector<int64_t>>;  // By call and range: length.
  Transfers ShortestOf() const {
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

  const std::map<std::string, std::vector<Recording>, RankBefore>& ranks() const { return ranks_; }

 private:
  std::map<std::string, std::vector<Recording>, RankBefore> ranks_;
};

/// Some calls of a rank: how long any of their ranges lasted, and any of their transfers.
struct Lengths {
  std::vector<Interval> ranges;
  std::vector<Interval> transfers;
  int64_t calls = 0;
  int64_t size_bytes = 0;

  void Add(const TbCollective& call, const std::vector<int64_t>& shortest) {
    ++calls;
    size_bytes = SaturatingSum(size_bytes, call.size_bytes);
    for (size_t j = 0; j < call.ranges.size(); ++j) {
      const Interval& range = call.ranges[j];
      ranges.push_back(range);
      transfers.push_back({std::max(range.start_ns, range.end_ns - shortest[j]), range.end_ns});
    }
  }
  int64_t latency_ns() const { return IntervalSet(ranges).length_ns(); }
  int64_t transfer_ns() const { return IntervalSet(transfers).length_ns(); }
};

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
    if (records_) return {fmt::format("{}: records do not tell this: give the profile", view_)};
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
    const auto all = DistributedFields();
    return {all.begin(), all.end()};
  }
  void Emit(Sink* sink) const override;

 private:
  /// What one row shows; the last three are of calls, which only some steps have.
  struct Sums {
    StepParts parts;
    std::optional<int64_t> calls = {};
    int64_t latency_ns = 0;
    int64_t transfer_ns = 0;
  };
  static void EmitRow(std::string_view rank, std::string_view step, const Sums& sums, Sink* sink);
};

void TbDistributed::EmitRow(std::string_view rank, std::string_view step, const Sums& sums,
                            Sink* sink) {
  const StepParts& parts = sums.parts;
  const int64_t other_ns =
      parts.total_ns - parts.computation_ns - parts.overlap_ns - parts.communication_ns;
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

/// The mean of a sum over steps, cut to whole microseconds.
int64_t CutMean(int64_t sum_ns, size_t steps) {
  constexpr int64_t kNsPerUs = 1000;
  return sum_ns / static_cast<int64_t>(std::max<size_t>(steps, 1)) / kNsPerUs * kNsPerUs;
}

void TbDistributed::Emit(Sink* sink) const {
  if (!ranks_.Refusal().empty()) return;
  const TbRanks::Transfers shortest = ranks_.ShortestOf();
  for (const auto& [rank, recordings] : ranks_.ranks()) {
    const Recording& recording = recordings.front();
    // Calls in no step stand for one more.
    std::map<std::optional<size_t>, Lengths> by_step;
    for (size_t i = 0; i < recording.calls.size(); ++i) {
      by_step[recording.calls[i].step].Add(recording.calls[i], shortest[i]);
    }
    Sums mean;
    int64_t other_ns = 0;
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
      for (const auto part : {&StepParts::computation_ns, &StepParts::overlap_ns,
                              &StepParts::communication_ns, &StepParts::total_ns}) {
        mean.parts.*part = SaturatingSum(mean.parts.*part, own.parts.*part);
      }
    }
    other_ns = mean.parts.total_ns - mean.parts.computation_ns - mean.parts.overlap_ns -
               mean.parts.communication_ns;
    int64_t wait_ns = 0;
    int64_t calls = 0;
    for (const auto& [step, lengths] : by_step) {
      const int64_t transfer_ns = lengths.transfer_ns();
      calls += lengths.calls;
      mean.transfer_ns = SaturatingSum(mean.transfer_ns, transfer_ns);
      wait_ns = SaturatingSum(wait_ns, lengths.latency_ns() - transfer_ns);
    }
    const size_t steps = recording.steps.size();
    mean.calls = calls / static_cast<int64_t>(std::max<size_t>(by_step.size(), 1));
    mean.transfer_ns = CutMean(mean.transfer_ns, by_step.size());
    mean.latency_ns = mean.transfer_ns + CutMean(wait_ns, by_step.size());
    mean.parts.total_ns = 0;
    for (const auto part :
         {&StepParts::computation_ns, &StepParts::overlap_ns, &StepParts::communication_ns}) {
      mean.parts.*part = CutMean(mean.parts.*part, steps);
      mean.parts.total_ns += mean.parts.*part;
    }
    mean.parts.total_ns += CutMean(other_ns, steps);
    EmitRow(rank, "mean", mean, sink);
  }
}

constexpr Field kCallFields[] = {
    kRankField,
    {"kind", "Kind", "", FieldType::kText, 20, "name of the collective's range", Fold::kKey},
    {"calls", "Calls", "", FieldType::kInteger, 7, "ranges of that name", Fold::kSum},
    {"total_bytes", "Bytes(B)", "B", FieldType::kInteger, 13,
     "sum of the sizes of their inputs; of types that the plugin does not know 0", Fold::kSum},
    {"mean_bytes", "Mean(B)", "B", FieldType::kInteger, 13, "total_bytes / calls, rounded",
     Fold::kNone},
    {"latency_ns", "Latency(ns)", "ns", FieldType::kInteger, 13,
     "time in which any of their ranges and kernels ran", Fold::kSum},
    {"mean_latency_ns", "MeanLat(ns)", "ns", FieldType::kInteger, 13,
     "latency_ns / calls, rounded to microseconds", Fold::kNone},
    {"transfer_ns", "Transfer(ns)", "ns", FieldType::kInteger, 13,
     "the same of their transfers: the shortest range of all ranks, at the end of each",
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
    return {std::begin(kCallFields), std::end(kCallFields)};
  }
  void Emit(Sink* sink) const override {
    if (!ranks_.Refusal().empty()) return;
    const TbRanks::Transfers shortest = ranks_.ShortestOf();
    for (const auto& [rank, recordings] : ranks_.ranks()) {
      const std::vector<TbCollective>& calls = recordings.front().calls;
      std::map<std::string, Lengths> by_name;
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
