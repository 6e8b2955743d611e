#include "prof/run/loss_counts.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/saturating.h"
#include "parse/join/for_each_op.h"
#include "parse/join/gpu_work.h"
#include "parse/join/joined.h"
#include "parse/join/surroundings.h"
#include "parse/join/thread_ranges.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/step.h"
#include "prof/run/steps.h"
namespace oplens::prof {
namespace {

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
  explicit LaunchGaps(const Trace& trace) {
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
    if (!any_) return Loss::kNoApiCalls;
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
    if (!any_) return Loss::kNoApiCalls;
    return start_ns < first_ns_ ? Loss::kEarlyLaunch : Loss::kMissingCall;
  }

 private:
  bool any_ = false;
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
      losses->Add(Loss::kNoCapture, 1, ns);
      continue;
    }
    const parse::Surroundings* around = joined.AroundOf(static_cast<parse::WorkIndex>(i));
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

}  // namespace

void LossCounts::Add(Loss loss, int64_t count, int64_t time_ns) {
  OfKind& sum = counts[static_cast<size_t>(loss)];
  sum.count += count;
  sum.time_ns += time_ns;
}

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

}  // namespace oplens::prof
