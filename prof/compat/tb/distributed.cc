#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/saturating.h"
#include "prof/compat/tb/ranks.h"
#include "prof/compat/tb/views.h"
#include "prof/run/run.h"
#include "prof/views/time_keys.h"
#include "prof/views/views.h"

namespace oplens::prof {
namespace {

int64_t OtherOf(const StepParts& parts) {
  return parts.total_ns - parts.computation_ns - parts.overlap_ns - parts.communication_ns;
}

/// The mean of a sum over steps, cut to whole microseconds.
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
    const auto all = kDistributedView.fields();
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
  /// Of a rank; calls in no step stand for one more.
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
