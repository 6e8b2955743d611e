#include "prof/views/losses.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/ratio.h"
#include "base/saturating.h"
#include "parse/model/kernel_record.h"
#include "parse/model/recording_advice.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/loss_counts.h"
#include "prof/run/run.h"
#include "prof/views/rank_order.h"
#include "prof/views/saved_partial.h"

namespace oplens::prof {
namespace {

constexpr Field kLossesFields[] = {
    {"rank", "Rank", "", FieldType::kText, 6, "number of the process; empty where it is not known",
     Fold::kKey},
    {"loss", "Loss", "", FieldType::kText, 24, "what is lost, as one word", Fold::kKey},
    {"count", "Count", "", FieldType::kInteger, 10, "how many events, ranges, steps or records",
     Fold::kSum},
    {"time_ns", "Time(ns)", "ns", FieldType::kInteger, 14,
     "sum of the durations of the device events that it is about; unknown where it is about none",
     Fold::kSum},
    {"share_pct", "Share%", "%", FieldType::kDecimal, 8,
     "100 x time_ns / sum of the durations of all device events", Fold::kNone},
    {"why", "Why", "", FieldType::kText, Field::kShared, "what happened", Fold::kNone},
    {"mend", "Mend", "", FieldType::kText, Field::kShared,
     "the flag or call that records it; empty where there is none", Fold::kNone},
};

struct LossText {
  std::string_view word;
  std::string_view why;
  Loss loss;
  Lack lack;
  bool timed;  ///< Whether its time means something.
};

constexpr LossText kLosses[] = {
    {"calls-not-recorded", "device events without a launch: the file holds no API calls",
     Loss::kNoApiCalls, Lack::kLaunches, true},
    {"launch-before-recording", "device events that were launched before the recording began",
     Loss::kEarlyLaunch, Lack::kEarlyLaunches, true},
    {"launch-unnumbered", "kernels without a correlation id: their launch cannot be found",
     Loss::kNoCorrelation, Lack::kLaunches, true},
    {"launch-missing", "device events whose launch is not in the file", Loss::kMissingCall,
     Lack::kLostRecords, true},
    {"capture-missing",
     "kernels that a CUDA graph replayed, whose capture is not in the file: their ops are not "
     "known",
     Loss::kNoCapture, Lack::kGraphKernels, true},
    {"graph-kernels-hidden",
     "replays of CUDA graphs whose kernels are not in the file; their time is an upper bound",
     Loss::kHiddenKernels, Lack::kGraphKernels, true},
    {"no-time", "device events without a time, or that end before they start", Loss::kNoTime,
     Lack::kKernelTimes, false},
    {"no-range", "kernels that were launched outside of all ranges and ops", Loss::kNoRange,
     Lack::kRanges, true},
    {"no-op", "kernels that ranges surround, but no op", Loss::kNoOp, Lack::kOps, true},
    {"range-open", "ranges that were never closed: they give no op to the kernels in them",
     Loss::kOpenRange, Lack::kRangeEnds, true},
    {"range-leaked", "ranges left out: more than 8 of one text on a thread were never closed",
     Loss::kLeakedRange, Lack::kRangeEnds, true},
    {"step-cut", "steps that the recording holds only a part of", Loss::kCutStep, Lack::kWholeSteps,
     false},
    {"records-dropped", "records of the GPU and of API calls that the recorder could not keep",
     Loss::kLostRecords, Lack::kLostRecords, false},
    {"ranges-dropped", "calls for ranges that the recorder could not keep", Loss::kLostRanges,
     Lack::kLostRecords, false},
    {"kernel-missing", "launches whose kernel had not ended when the recording did",
     Loss::kUnfinishedLaunch, Lack::kLateKernels, false},
    {"file-cut", "the file ends early: anything may be missing", Loss::kFileCut, Lack::kWholeSteps,
     false},
};
static_assert(std::size(kLosses) == kLossCount);

class Losses : public SavedPartial<Losses> {
 public:
  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->ranks_);
  }

  void Begin(const Run* run) override { records_ = run == nullptr; }
  void Add(const PricedKernel& kernel) override;
  void AddReplay(const PricedKernel& replay) override;
  void End(const Run* run) override;
  void Merge(const Partial& other) override;
  std::vector<Field> Fields() const override {
    return {std::begin(kLossesFields), std::end(kLossesFields)};
  }
  void Emit(Sink* sink) const override;

 private:
  struct Rank {
    Family family = Family::kUnknown;
    LossCounts losses;

    template <typename Bytes, typename Self>
    static void Transfer(Bytes* bytes, Self* self) {
      bytes->Values(&self->family, &self->losses.has_ops);
      bytes->Sums(&self->losses.device_ns);
      for (auto& count : self->losses.counts) bytes->Sums(&count.count, &count.time_ns);
    }
  };

  Rank& RankOf(const PricedKernel& row) {
    return ranks_[std::string(row.record->rank.value_or(std::string_view()))];
  }
  static std::string_view MendOf(const Rank& rank, const LossText& text);
  static void EmitRow(std::string_view name, const Rank& rank, const LossText& text, Sink* sink);

  std::map<std::string, Rank, RankBefore> ranks_;
  bool records_ = false;  // Whether the input at hand holds records only.
};

void Losses::Add(const PricedKernel& kernel) {
  if (!records_) return;
  const ReasonSet reasons = kernel.record->reasons;
  const bool timed = kernel.record->timed();
  const int64_t ns = timed ? std::max(kernel.record->duration_ns, int64_t{0}) : 0;
  LossCounts& losses = RankOf(kernel).losses;
  SaturatingAdd(&losses.device_ns, ns);
  if (!timed) losses.Add(Loss::kNoTime, 1);
  if (reasons.Has(Reason::kNoLaunchCall)) {
    losses.Add(Loss::kMissingCall, 1, ns);
  } else if (reasons.Has(Reason::kGraphKernel)) {
    losses.Add(Loss::kNoCapture, 1, ns);
  } else if (reasons.Has(Reason::kNoMarker) || reasons.Has(Reason::kOnlyLeakedRanges)) {
    losses.Add(Loss::kNoRange, 1, ns);
  }
}

void Losses::AddReplay(const PricedKernel& replay) {
  if (!records_) return;
  const int64_t ns = std::max(replay.record->duration_ns, int64_t{0});
  LossCounts& losses = RankOf(replay).losses;
  SaturatingAdd(&losses.device_ns, ns);
  losses.Add(Loss::kHiddenKernels, 1, ns);
}

void Losses::End(const Run* run) {
  if (run == nullptr) return;
  Rank& rank = ranks_[std::string(run->rank())];
  rank.family = run->trace().family;
  rank.losses.Add(CountLosses(*run));
}

void Losses::Merge(const Partial& other) {
  for (const auto& [name, more] : dynamic_cast<const Losses&>(other).ranks_) {
    Rank& rank = ranks_[name];
    rank.family = std::max(rank.family, more.family);
    rank.losses.Add(more.losses);
  }
}

std::string_view Losses::MendOf(const Rank& rank, const LossText& text) {
  // Where operators are recorded, what none of them launched has none.
  if (text.loss == Loss::kNoOp && rank.losses.has_ops) return {};
  const std::string_view flag = RecordingFlag(text.lack, rank.family);
  return flag.empty() ? RecordingRemedy(text.lack, rank.family) : flag;
}

void Losses::EmitRow(std::string_view name, const Rank& rank, const LossText& text, Sink* sink) {
  const LossCounts::Count& count = rank.losses.counts[static_cast<size_t>(text.loss)];
  const std::array<Cell, std::size(kLossesFields)> cells = {
      Text(name),
      Text(text.word),
      Integer(count.count),
      text.timed ? Integer(count.time_ns) : Cell{},
      text.timed ? Decimal(Percent(count.time_ns, rank.losses.device_ns)) : Cell{},
      Text(text.why),
      Text(MendOf(rank, text))};
  sink->Row(cells);
}

void Losses::Emit(Sink* sink) const {
  for (const auto& [name, rank] : ranks_) {
    std::vector<const LossText*> order;
    const auto& counts = rank.losses.counts;
    for (const LossText& text : kLosses) {
      if (counts[static_cast<size_t>(text.loss)].count > 0) order.push_back(&text);
    }
    std::stable_sort(order.begin(), order.end(), [&](const LossText* a, const LossText* b) {
      return counts[static_cast<size_t>(a->loss)].time_ns >
             counts[static_cast<size_t>(b->loss)].time_ns;
    });
    for (const LossText* text : order) EmitRow(name, rank, *text, sink);
  }
}

}  // namespace

std::span<const Field> LossesFields() { return kLossesFields; }

std::unique_ptr<Partial> MakeLosses(const ViewOptions&) { return std::make_unique<Losses>(); }

}  // namespace oplens::prof
