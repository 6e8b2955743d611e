#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <vector>

#include "parse/model/kernel_record.h"
#include "parse/model/recording_advice.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/loss_counts.h"
#include "prof/run/run.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

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

struct RankLosses {
  Max<Family> family;
  LossCounts losses;

  static constexpr std::tuple kMembers{&RankLosses::family, &RankLosses::losses};
};

struct LossRow {
  const RankName& rank;
  const RankLosses& of_rank;
  const LossText& text;
  const LossCounts::OfKind& sums;
};

std::string_view MendOf(const LossRow& row) {
  // Where operators are recorded, what none of them launched has none.
  if (row.text.loss == Loss::kNoOp && row.of_rank.losses.has_ops) return {};
  const Family family = row.of_rank.family.value;
  const std::string_view flag = RecordingFlag(row.text.lack, family);
  return flag.empty() ? RecordingRemedy(row.text.lack, family) : flag;
}

constexpr Column<LossRow> kLossesColumns[] = {
    {kRankField, [](const LossRow& row) { return CellOf(row.rank); }},
    {{"loss", "Loss", "", FieldType::kText, 24, "what is lost, in one word", Fold::kKey},
     [](const LossRow& row) { return Text(row.text.word); }},
    FigureColumn<&LossCounts::OfKind::count>{"count", "Count", "", 10,
                                             "number of events, ranges, steps or records"},
    {{"time_ns", "Time(ns)", "ns", FieldType::kInteger, 14,
      "sum of the durations of the device events concerned; unknown if there are none", Fold::kSum},
     [](const LossRow& row) { return row.text.timed ? CellOf(row.sums.time_ns) : Cell{}; }},
    {{"share_pct", "Share%", "%", FieldType::kDecimal, 8,
      "100 x time_ns / sum of the durations of all device events"},
     [](const LossRow& row) {
       const int64_t all_ns = row.of_rank.losses.device_ns;
       if (!row.text.timed || all_ns <= 0) return Cell{};
       return Cell{100.0 * static_cast<double>(row.sums.time_ns) / static_cast<double>(all_ns)};
     }},
    {{"why", "Why", "", FieldType::kText, Field::kShared, "what happened"},
     [](const LossRow& row) { return Text(row.text.why); }},
    {{"mend", "Mend", "", FieldType::kText, Field::kShared,
      "flag or call that records it; empty if there is none"},
     [](const LossRow& row) { return Text(MendOf(row)); }},
};

class Losses : public GroupedPartial<RankName, RankLosses, LossRow> {
 public:
  explicit Losses(const ViewOptions& options)
      : GroupedPartial("losses", options, {}, kLossesColumns) {}

  void Begin(const Run* run) override { records_ = run == nullptr; }
  void Add(const PricedKernel& kernel) override;
  void AddReplay(const PricedKernel& replay) override;
  void End(const Run* run) override;
  void Save(ByteWriter* bytes) const override { bytes->Values(&rows_); }
  void Load(ByteReader* bytes) override { bytes->Values(&rows_); }

 private:
  LossCounts& LossesOf(const PricedKernel& row) {
    return rows_[RankName(row.record->rank.value_or(std::string_view()))].losses;
  }
  void EmitGroup(const RankName& rank, const RankLosses& of_rank,
                 TableOf<LossRow>* table) const override;

  bool records_ = false;  // Whether the input at hand holds records only.
};

void Losses::Add(const PricedKernel& kernel) {
  if (!records_) return;
  const ReasonSet reasons = kernel.record->reasons;
  const bool timed = kernel.record->timed();
  const int64_t ns = timed ? std::max(kernel.record->duration_ns, int64_t{0}) : 0;
  LossCounts& losses = LossesOf(kernel);
  losses.device_ns += ns;
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
  LossCounts& losses = LossesOf(replay);
  losses.device_ns += ns;
  losses.Add(Loss::kHiddenKernels, 1, ns);
}

void Losses::End(const Run* run) {
  if (run == nullptr) return;
  RankLosses& rank = rows_[RankName(run->rank())];
  rank.family.value = run->trace().family;
  MergeInto(&rank.losses, CountLosses(*run));
}

void Losses::EmitGroup(const RankName& rank, const RankLosses& of_rank,
                       TableOf<LossRow>* table) const {
  const LossCounts& losses = of_rank.losses;
  std::vector<const LossText*> order;
  for (const LossText& text : kLosses) {
    if (losses.Of(text.loss).count > 0) order.push_back(&text);
  }
  std::stable_sort(order.begin(), order.end(), [&](const LossText* a, const LossText* b) {
    return losses.Of(a->loss).time_ns > losses.Of(b->loss).time_ns;
  });
  for (const LossText* text : order) {
    table->Add({rank, of_rank, *text, losses.Of(text->loss)});
  }
}

}  // namespace

extern constexpr View kLossesView = {
    .name = "losses",
    .help = "what is missing in the recording, and how to record it",
    .fields = FieldsWithoutBy<kLossesColumns>,
    .make = MakePartial<Losses>,
    .narrow = "count,time_ns,share_pct,why",
    .important = "loss,time_ns,count,mend,share_pct,why",
    .whole = true,
    .may_be_empty = true,
    .saved_form = 1};

}  // namespace oplens::prof
