#include "prof/views/path/rank_verdict.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/saturating.h"
#include "parse/model/trace.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steady_idle.h"
#include "prof/run/steps.h"
#include "prof/verdicts/root_cause.h"

namespace oplens::prof {
namespace {

std::string_view CauseWordOf(const RootCause& cause) {
  constexpr std::string_view kGroups[kIdleGroupCount] = {
      "host",       "module-load",   "api-call", "sync", "pageable-copy",
      "dataloader", "communication", "queued",   "tail", "unknown"};
  if (cause.kind == RootKind::kBusy) return "busy";
  if (cause.kind == RootKind::kCommunication) return "collectives";
  if (cause.kind == RootKind::kCopies) return "copies";
  return kGroups[static_cast<size_t>(cause.group)];
}

}  // namespace

void VerdictFinder::Begin(const Run* run) {
  run_ = run;
  kernel_ns_ = 0;
  ops_ns_.clear();
  if (run == nullptr) return;
  // Now, while other views begin beside it.
  if (!run->device_work().events().empty()) run->steady_idle();
  // Replays that hide their kernels: nothing is known of their ops.
  for (const GraphReplay& replay : run->trace().graph_replays) {
    SaturatingAdd(&kernel_ns_, LengthOf({replay.start_ns, replay.end_ns}));
  }
}

void VerdictFinder::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || kernel.work == PricedKernel::kNoWork || kernel.replay) return;
  const Kernel& own = run_->trace().kernels[kernel.work];
  if (!run_->steady_idle().time.Holds(*run_, own, kernel.work)) return;
  const int64_t length_ns = LengthOf({own.start_ns, own.end_ns});
  SaturatingAdd(&kernel_ns_, length_ns);
  if (kernel.op.empty()) return;
  auto known = ops_ns_.find(kernel.op);
  if (known == ops_ns_.end()) known = ops_ns_.emplace(std::string(kernel.op), 0).first;
  SaturatingAdd(&known->second, length_ns);
}

std::optional<RankVerdict> VerdictFinder::End() {
  if (run_ == nullptr || run_->device_work().events().empty()) return std::nullopt;
  const SteadyIdle& idle = run_->steady_idle();
  if (idle.time.windows.empty()) return std::nullopt;
  RankTimes times;
  times.repeats = run_->steps().source() == StepSource::kRepetition;
  times.steps = idle.time.of_run ? 0 : static_cast<int64_t>(idle.time.windows.size());
  times.total_ns = idle.total_ns;
  times.cold_ns = idle.cold_ns;
  times.end_ns = idle.end_ns;
  times.idle_ns = idle.ns;
  times.communication_ns = idle.busy.ns[kCommunicationBit];
  times.copies_ns = idle.busy.ns[kMemoryBit];
  times.kernel_ns = kernel_ns_;
  const auto most =
      std::max_element(ops_ns_.begin(), ops_ns_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != ops_ns_.end()) {
    times.op = most->first;
    times.op_ns = most->second;
  }
  const RootCause cause = RootCauseOf(times);
  RootSubject subject;
  if (cause.kind == RootKind::kIdle) {
    subject = idle.groups[static_cast<size_t>(cause.group)].Find(*run_);
  }
  RankVerdict verdict;
  verdict.steps = times.steps;
  verdict.total_ns = times.total_ns;
  verdict.idle_ns = times.idle();
  verdict.time_ns = cause.time_ns;
  verdict.cause = CauseWordOf(cause);
  verdict.sentence = RootCauseSentence(times, cause, subject);
  verdict.command = RootCauseCommand(cause);
  verdict.call = std::move(subject.call);
  verdict.op = cause.kind == RootKind::kBusy ? times.op : std::move(subject.op);
  verdict.frame = std::move(subject.frame);
  return verdict;
}

}  // namespace oplens::prof
