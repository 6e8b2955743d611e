#include "prof/views/path/rank_verdict.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/saturating.h"
#include "parse/join/joined.h"
#include "prof/price/priced_kernel.h"
#include "prof/run/call_sites.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/run.h"
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

/// The parts of idle time of one group of causes.
class GroupParts {
 public:
  void Add(const Trace& trace, const IdlePart& part) {
    Sums& sums = calls_[SubjectOf(trace, part)];
    const int64_t length_ns = LengthOf(part.time);
    SaturatingAdd(&sums.time_ns, length_ns);
    if (part.call == kNoLaunch || part.call != sums.last_call) ++sums.count;
    sums.last_call = part.call;
    sums.longest.push_back({length_ns, part});
    std::push_heap(sums.longest.begin(), sums.longest.end(), IsLonger);
    if (sums.longest.size() <= kMostParts) return;
    std::pop_heap(sums.longest.begin(), sums.longest.end(), IsLonger);
    sums.longest.pop_back();
  }

  /// What most of the time is about, and where the host was during most of that.
  RootSubject Find(const Run& run) const {
    RootSubject subject;
    if (calls_.empty()) return subject;
    const auto most =
        std::max_element(calls_.begin(), calls_.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second.time_ns, b.first) < std::pair(b.second.time_ns, a.first);
        });
    const Sums& sums = most->second;
    const IdlePart& part = sums.longest.front().second;
    subject.time_ns = sums.time_ns;
    if (part.cause == IdleCause::kQueued) {
      subject.call = HeldByWord(part.held);
      return subject;
    }
    CallSites sites(run.joined());
    std::vector<int64_t> lengths_ns;
    std::vector<LaunchIndex> calls;
    for (const Part& kept : sums.longest) {
      const IdlePart& one = kept.second;
      subject.longest_ns = std::max(subject.longest_ns, kept.first);
      sites.ForEachStretch(one.thread, one.time, [&](int64_t start_ns, int64_t end_ns) {
        sites.Ask(one.thread, start_ns);
        lengths_ns.push_back(LengthOf({start_ns, end_ns}));
        calls.push_back(one.call);
      });
    }
    if (most->first != kNoCall) {
      subject.call = run.trace().strings.View(run.trace().launches[part.call].api);
      subject.count = sums.count;
    }
    const std::vector<CallSite> found = sites.Find();
    int64_t op_ns = 0;
    int64_t frame_ns = 0;
    subject.op = MostOf(sites, found, lengths_ns, sums.time_ns, &CallSite::op, &op_ns);
    subject.all_of_op = op_ns >= sums.time_ns - sums.time_ns / 10;
    if (!subject.call.empty() && !subject.op.empty()) {
      subject.count = CountIn(subject.op, sites, found, calls, sums);
    }
    subject.frame = MostOf(sites, found, lengths_ns, sums.time_ns, &CallSite::frame, &frame_ns);
    return subject;
  }

 private:
  static constexpr uint64_t kNoCall = UINT64_MAX;
  static constexpr size_t kMostParts = 1024;
  using Part = std::pair<int64_t, IdlePart>;
  static bool IsLonger(const Part& a, const Part& b) {
    return std::pair(a.first, b.second.time.start_ns) > std::pair(b.first, a.second.time.start_ns);
  }
  struct Sums {
    int64_t time_ns = 0;
    int64_t count = 0;
    LaunchIndex last_call = kNoLaunch;
    std::vector<Part> longest;  // A heap: the shortest is in front.
  };

  /// Parts of one API call, by its name, or held back by one thing. Where the host is late, its
  /// launches are not the subject.
  static uint64_t SubjectOf(const Trace& trace, const IdlePart& part) {
    if (part.cause == IdleCause::kQueued) return static_cast<uint64_t>(part.held);
    if (part.cause == IdleCause::kLaunch || part.call == kNoLaunch) return kNoCall;
    return trace.launches[part.call].api;
  }

  /// The number of calls in an operator; 0 if it is not known, since not all parts are kept.
  static int64_t CountIn(std::string_view op, const CallSites& sites,
                         const std::vector<CallSite>& found, const std::vector<LaunchIndex>& calls,
                         const Sums& sums) {
    if (sums.longest.size() == kMostParts) return 0;
    std::set<LaunchIndex> in_op;
    for (size_t i = 0; i < found.size(); ++i) {
      if (sites.texts()[found[i].op] == op) in_op.insert(calls[i]);
    }
    return static_cast<int64_t>(in_op.size());
  }

  /// The text that most of the time has, if it is at least half of all.
  static std::string MostOf(const CallSites& sites, const std::vector<CallSite>& found,
                            const std::vector<int64_t>& lengths_ns, int64_t all_ns,
                            uint32_t CallSite::*text, int64_t* most_ns) {
    std::map<std::string_view, int64_t> times_ns;
    for (size_t i = 0; i < found.size(); ++i) {
      const std::string& name = sites.texts()[found[i].*text];
      if (!name.empty()) SaturatingAdd(&times_ns[name], lengths_ns[i]);
    }
    const auto most =
        std::max_element(times_ns.begin(), times_ns.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == times_ns.end() || most->second < all_ns - most->second) return {};
    *most_ns = most->second;
    return std::string(most->first);
  }

  std::map<uint64_t, Sums> calls_;
};

}  // namespace

void VerdictFinder::Begin(const Run* run) {
  run_ = run;
  counts_.clear();
  kernel_ns_ = 0;
  ops_ns_.clear();
  if (run == nullptr) return;
  const std::span<const Step> steps = run->steps().all();
  const bool any = std::ranges::any_of(steps, [](const Step& step) { return step.steady(); });
  for (const Step& step : steps) counts_.push_back(step.steady() || !any);
}

void VerdictFinder::Add(const PricedKernel& kernel) {
  if (run_ == nullptr || kernel.work == PricedKernel::kNoWork || kernel.replay) return;
  const Kernel& own = run_->trace().kernels[kernel.work];
  const size_t step = run_->StepOf(own, kernel.work);
  if (step == Steps::kNone ? run_->steps().source() != StepSource::kNone : !counts_[step]) return;
  const int64_t length_ns = LengthOf({own.start_ns, own.end_ns});
  SaturatingAdd(&kernel_ns_, length_ns);
  if (kernel.op.empty()) return;
  auto known = ops_ns_.find(kernel.op);
  if (known == ops_ns_.end()) known = ops_ns_.emplace(std::string(kernel.op), 0).first;
  SaturatingAdd(&known->second, length_ns);
}

std::vector<Interval> VerdictFinder::Windows() const {
  if (run_->steps().source() == StepSource::kNone) return WindowsOf(*run_);
  const std::vector<Interval> all = WindowsOf(run_->steps());
  std::vector<Interval> windows;
  for (size_t i = 0; i < all.size(); ++i) {
    if (counts_[i]) windows.push_back(all[i]);
  }
  return windows;
}

std::optional<RankVerdict> VerdictFinder::End() {
  if (run_ == nullptr || run_->device_work().events().empty()) return std::nullopt;
  const std::vector<Interval> windows = Windows();
  if (windows.empty()) return std::nullopt;
  RankTimes times;
  const bool of_run = run_->steps().source() == StepSource::kNone;
  times.repeats = run_->steps().source() == StepSource::kRepetition;
  times.steps = of_run ? 0 : static_cast<int64_t>(windows.size());
  for (const Interval& window : windows) SaturatingAdd(&times.total_ns, LengthOf(window));
  std::array<GroupParts, kIdleGroupCount> groups;
  FindIdleGaps(*run_, windows, IdleOf::kRank, [&](const IdleGap& gap) {
    for (const IdlePart& part : gap.parts) {
      const int64_t length_ns = LengthOf(part.time);
      if (of_run && part.cause == IdleCause::kColdStart) {
        times.total_ns -= length_ns;
        SaturatingAdd(&times.cold_ns, length_ns);
        continue;
      }
      SaturatingAdd(&times.idle_ns[static_cast<size_t>(part.cause)], length_ns);
      const IdleGroup group = GroupOf(part.cause);
      if (group != IdleGroup::kNone) groups[static_cast<size_t>(group)].Add(run_->trace(), part);
    }
  });
  ClassSweep sweep(windows);
  for (const DeviceEvent& event : run_->device_work().events()) {
    sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  for (const ClassTimes& one : sweep.Finish()) {
    SaturatingAdd(&times.communication_ns, one.ns[kCommunicationBit]);
    SaturatingAdd(&times.copies_ns, one.ns[kMemoryBit]);
  }
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
    subject = groups[static_cast<size_t>(cause.group)].Find(*run_);
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
