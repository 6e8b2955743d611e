#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "base/saturating.h"
#include "base/sums.h"
#include "parse/join/for_each_op.h"
#include "parse/join/gpu_work.h"
#include "parse/join/inference.h"
#include "parse/join/joined.h"
#include "parse/join/range_roles.h"
#include "parse/join/surroundings.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/kernel_record.h"
#include "parse/model/recording_advice.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"
#include "prof/views/common/grouped_partial.h"
#include "prof/views/common/rank_order.h"
#include "prof/views/common/time_keys.h"

namespace oplens::prof {
namespace {

/// What a recording may have lost.
enum class Loss : uint8_t {
  // Device events without a launching call, by cause
  kNoApiCalls,     ///< The file has no API calls.
  kEarlyLaunch,    ///< The file's first call came later.
  kNoCorrelation,  ///< It has no valid correlation id.
  kMissingCall,    ///< No call has its correlation id.
  // Work of graphs
  kNoCapture,      ///< Kernels whose capturing call is not in the file.
  kHiddenKernels,  ///< Replays whose kernels are not in the file.
  kNoTime,         ///< Device events.
  kNoRange,        ///< Kernels within no range.
  kNoOp,           ///< Kernels within ranges but no op, except communication.
  kOpenRange,      ///< Ranges, with the time of the kernels launched in them.
  kLeakedRange,    ///< As kOpenRange; time of the kernels with no other range.
  kCutStep,
  // Counted by the recorder
  kLostRecords,
  kLostRanges,
  kUnfinishedLaunch,
  kFileCut,
};
constexpr size_t kLossCount = 16;

/// What was lost of each kind, and the time of what remains of it.
struct LossCounts {
  struct OfKind {
    Sum count;
    Sum time_ns;
  };
  Any has_ops;    ///< The profiler recorded operators.
  Sum device_ns;  ///< Total duration of all device events.
  std::array<OfKind, kLossCount> counts;

  void Add(Loss loss, int64_t count, int64_t time_ns = 0);
  const OfKind& Of(Loss loss) const { return counts[static_cast<size_t>(loss)]; }
};

/// 0 without a usable time.
template <typename Work>
int64_t DurationOf(const Work& work) {
  int64_t duration_ns = 0;
  if (__builtin_sub_overflow(work.end_ns, work.start_ns, &duration_ns)) return 0;
  return std::max(duration_ns, int64_t{0});
}

/// Determines why a device event has no launch.
class LaunchGaps {
 public:
  explicit LaunchGaps(const Trace& trace) : unnumbered_(trace.unnumbered_calls) {
    for (const LaunchCall& call : trace.launches) {
      first_ns_ = std::min(first_ns_, call.start_ns);
      any_ = true;
      if (call.correlation_id <= 0 || call.thread >= trace.threads.size()) continue;
      const int64_t process = trace.threads[call.thread].process_id;
      const auto [place, is_new] = first_ids_.emplace(process, call.correlation_id);
      if (!is_new) place->second = std::min(place->second, call.correlation_id);
      first_id_ = std::min(first_id_, call.correlation_id);
    }
  }

  Loss CauseOf(const Kernel& kernel) const {
    if (!any_ && !unnumbered_) return Loss::kNoApiCalls;
    if (kernel.correlation_id <= 0) return Loss::kNoCorrelation;
    const auto of_process = first_ids_.find(kernel.process_id);
    // Correlation ids ascend with the calls of a process.
    const int64_t first = of_process == first_ids_.end() ? first_id_ : of_process->second;
    const bool early =
        kernel.correlation_id < first || (kernel.timed() && kernel.start_ns < first_ns_);
    return early ? Loss::kEarlyLaunch : Loss::kMissingCall;
  }

  /// For a copy or fill, whose correlation id the trace does not keep.
  Loss CauseOf(int64_t start_ns) const {
    if (!any_) return unnumbered_ ? Loss::kNoCorrelation : Loss::kNoApiCalls;
    return start_ns < first_ns_ ? Loss::kEarlyLaunch : Loss::kMissingCall;
  }

 private:
  bool any_ = false;
  bool unnumbered_;
  int64_t first_ns_ = std::numeric_limits<int64_t>::max();
  int64_t first_id_ = std::numeric_limits<int64_t>::max();
  std::map<int64_t, int64_t> first_ids_;  // By process.
};

bool HasOp(const parse::Joined& joined, const parse::Surroundings& around) {
  bool any = false;
  parse::ForEachOp(joined, around, [&](StringId, StringId) { any = true; });
  return any;
}

void CountKernels(const Run& run, const LaunchGaps& gaps, LossCounts* losses) {
  const parse::Joined& joined = run.joined();
  const parse::Surroundings* last = nullptr;  // Calls within the same ranges share one.
  bool last_has_op = false;
  for (size_t i = 0; i < run.trace().kernels.size(); ++i) {
    const Kernel& kernel = run.trace().kernels[i];
    const int64_t ns = DurationOf(kernel);
    if (kernel.launch == kNoLaunch) {
      losses->Add(gaps.CauseOf(kernel), 1, ns);
      continue;
    }
    if (kernel.graph && kernel.capture == kNoLaunch) {
      // The file may hold the capture, and not say that it is this kernel's.
      const parse::Inferred* inferred = joined.inference().Of(i);
      const bool matched = inferred != nullptr && inferred->evidence == Evidence::kCapture;
      if (!matched) losses->Add(Loss::kNoCapture, 1, ns);
      continue;
    }
    const parse::Surroundings* around = joined.SurroundingsOf(static_cast<parse::WorkIndex>(i));
    if (around == nullptr) continue;
    if (around != last) {
      last = around;
      last_has_op = HasOp(joined, *around);
    }
    if (around->open_range) losses->Add(Loss::kOpenRange, 0, ns);
    if (around->only_leaks) {
      losses->Add(Loss::kLeakedRange, 0, ns);
    } else if (around->nothing) {
      losses->Add(Loss::kNoRange, 1, ns);
    } else if (!last_has_op && !run.work().IsCommunication(i)) {
      losses->Add(Loss::kNoOp, 1, ns);
    }
  }
}

void CountRanges(const Run& run, LossCounts* losses) {
  const std::vector<Range>& ranges = run.trace().ranges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!ranges[i].open()) continue;
    losses->Add(run.joined().leaks().Has(i) ? Loss::kLeakedRange : Loss::kOpenRange, 1);
  }
}

void LossCounts::Add(Loss loss, int64_t count, int64_t time_ns) {
  OfKind& sum = counts[static_cast<size_t>(loss)];
  sum.count += count;
  sum.time_ns += time_ns;
}

/// One pass over the device events, ranges and calls of a run.
LossCounts CountLosses(const Run& run) {
  const Trace& trace = run.trace();
  LossCounts losses;
  const LaunchGaps gaps(trace);
  CountKernels(run, gaps, &losses);
  const auto count_transfers = [&](const auto& list) {
    for (const auto& work : list) {
      if (work.launch == kNoLaunch) losses.Add(gaps.CauseOf(work.start_ns), 1, DurationOf(work));
    }
  };
  count_transfers(trace.copies);
  count_transfers(trace.sets);
  for (const GraphReplay& replay : trace.graph_replays) {
    losses.Add(Loss::kHiddenKernels, 1, DurationOf(replay));
  }
  CountRanges(run, &losses);
  for (const Step& step : run.steps().all()) losses.Add(Loss::kCutStep, step.complete ? 0 : 1);
  losses.has_ops.value = !trace.operators.empty();
  losses.Add(Loss::kNoTime, run.work().untimed());
  losses.Add(Loss::kLostRecords, trace.lost.records);
  losses.Add(Loss::kLostRanges, trace.lost.ranges);
  losses.Add(Loss::kUnfinishedLaunch, trace.lost.unfinished_launches);
  losses.Add(Loss::kFileCut, trace.lost.file_cut ? 1 : 0);
  for (const DeviceEvent& event : run.work().events()) {
    losses.device_ns += event.duration_ns();
  }
  return losses;
}

struct LossText {
  std::string_view word;
  std::string_view why;
  Loss loss;
  MissingFact lack;
  bool timed;  ///< Whether its time is meaningful.
};

constexpr LossText kLosses[] = {
    {"calls-not-recorded", "device events without a launch: the file holds no API calls",
     Loss::kNoApiCalls, MissingFact::kLaunches, true},
    {"launch-before-recording", "device events that were launched before the recording began",
     Loss::kEarlyLaunch, MissingFact::kEarlyLaunches, true},
    {"launch-unnumbered", "device events without a correlation id: their launch cannot be found",
     Loss::kNoCorrelation, MissingFact::kLaunches, true},
    {"launch-missing", "device events whose launch is not in the file", Loss::kMissingCall,
     MissingFact::kLostRecords, true},
    {"capture-missing",
     "kernels that a CUDA graph replayed, whose capture is not in the file: their ops are not "
     "recorded",
     Loss::kNoCapture, MissingFact::kGraphKernels, true},
    {"graph-kernels-hidden",
     "replays of CUDA graphs whose kernels are not in the file; their time is an upper bound",
     Loss::kHiddenKernels, MissingFact::kGraphKernels, true},
    {"no-time", "device events without a time, or that end before they start", Loss::kNoTime,
     MissingFact::kKernelTimes, false},
    {"no-range", "kernels that were launched outside of all ranges and ops", Loss::kNoRange,
     MissingFact::kRanges, true},
    {"no-op", "kernels that ranges surround, but no recorded op", Loss::kNoOp, MissingFact::kOps,
     true},
    {"range-open", "ranges that were never closed: they give no op to the kernels in them",
     Loss::kOpenRange, MissingFact::kRangeEnds, true},
    {"range-leaked", "ranges left out: more than 8 of one text on a thread were never closed",
     Loss::kLeakedRange, MissingFact::kRangeEnds, true},
    {"step-cut", "steps that the recording holds only a part of", Loss::kCutStep,
     MissingFact::kWholeSteps, false},
    {"records-dropped", "records of the GPU and of API calls that the recorder could not keep",
     Loss::kLostRecords, MissingFact::kLostRecords, false},
    {"ranges-dropped", "calls for ranges that the recorder could not keep", Loss::kLostRanges,
     MissingFact::kLostRecords, false},
    {"kernel-missing", "launches whose kernel had not ended when the recording did",
     Loss::kUnfinishedLaunch, MissingFact::kLateKernels, false},
    {"file-cut", "the file ends early: anything may be missing", Loss::kFileCut,
     MissingFact::kWholeSteps, false},
};
static_assert(std::size(kLosses) == kLossCount);

struct RankLosses {
  Max<Family> family;
  LossCounts losses;
};

struct LossRow {
  const RankName& rank;
  const RankLosses& of_rank;
  const LossText& text;
  const LossCounts::OfKind& sums;
};

std::string_view RemedyOf(const LossRow& row) {
  // The calls are recorded, without the numbers.
  if (row.text.loss == Loss::kNoCorrelation) return {};
  // If operators are recorded, kernels that none of them launched have no op: no remedy.
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
     [](const LossRow& row) { return Text(RemedyOf(row)); }},
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

  bool records_ = false;  // Whether the current input has records only.
};

void Losses::Add(const PricedKernel& kernel) {
  if (!records_) return;
  const ReasonSet reasons = kernel.record->reasons;
  const bool timed = kernel.record->timed();
  const int64_t ns = timed ? std::max(kernel.record->duration_ns, int64_t{0}) : 0;
  LossCounts& losses = LossesOf(kernel);
  losses.device_ns += ns;
  if (!timed) losses.Add(Loss::kNoTime, 1);
  if (reasons.Has(Reason::kUnnumberedLaunch)) {
    losses.Add(Loss::kNoCorrelation, 1, ns);
  } else if (reasons.Has(Reason::kNoLaunchCall)) {
    losses.Add(Loss::kMissingCall, 1, ns);
  } else if (reasons.Has(Reason::kGraphKernel)) {
    const bool matched = kernel.record->evidence == Evidence::kCapture;
    if (!matched) losses.Add(Loss::kNoCapture, 1, ns);
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
