#include "prof/run/steady_idle.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/saturating.h"
#include "parse/join/joined.h"
#include "parse/model/trace.h"
#include "prof/run/class_times.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"

namespace oplens::prof {

SteadyTime::SteadyTime(const Run& run) : of_run(run.steps().source() == StepSource::kNone) {
  const std::span<const Step> steps = run.steps().all();
  const bool any = std::ranges::any_of(steps, [](const Step& step) { return step.steady(); });
  for (const Step& step : steps) counts.push_back(step.steady() || !any);
  if (of_run) {
    windows = WindowsOf(run);
    return;
  }
  const std::vector<Interval> all = WindowsOf(run.steps());
  for (size_t i = 0; i < all.size(); ++i) {
    if (counts[i]) windows.push_back(all[i]);
  }
}

bool SteadyTime::Holds(const Run& run, const Kernel& kernel, uint32_t index) const {
  const size_t step = run.StepOf(kernel, index);
  return step == Steps::kNone ? of_run : bool{counts[step]};
}

bool IdleSubjects::IsLonger(const Part& a, const Part& b) {
  return std::pair(a.first, b.second.time.start_ns) > std::pair(b.first, a.second.time.start_ns);
}

/// Parts of one API call, by its name, or held back by one thing. Where the host is late, its
/// launches are not the subject.
uint64_t IdleSubjects::SubjectOf(const Trace& trace, const IdlePart& part) {
  if (part.cause == IdleCause::kQueued) return static_cast<uint64_t>(part.held);
  if (part.cause == IdleCause::kLaunch || part.call == kNoLaunch) return kNoCall;
  return trace.launches[part.call].api;
}

void IdleSubjects::Add(const Trace& trace, const IdlePart& part) {
  Sums& sums = calls_[SubjectOf(trace, part)];
  const int64_t length_ns = LengthOf(part.time);
  longest_ns_ = std::max(longest_ns_, length_ns);
  SaturatingAdd(&sums.time_ns, length_ns);
  if (part.call == kNoLaunch || part.call != sums.last_call) ++sums.count;
  sums.last_call = part.call;
  std::vector<Part>& longest = sums.longest;
  const Part one = {length_ns, part};
  if (longest.size() == kMostParts) {
    if (!IsLonger(one, longest.front())) return;  // As most.
    std::pop_heap(longest.begin(), longest.end(), IsLonger);
    longest.pop_back();
  }
  longest.push_back(one);
  std::push_heap(longest.begin(), longest.end(), IsLonger);
}

RootSubject IdleSubjects::Find(const Run& run) const {
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
    sites.AskAlong(one.thread, one.time);
  }
  std::vector<CallSite> found;
  std::vector<CallSites::Stretch> stretches;
  sites.FindAlong(&stretches);
  for (const CallSites::Stretch& stretch : stretches) {
    found.push_back(stretch.site);
    lengths_ns.push_back(LengthOf(stretch.time));
    calls.push_back(sums.longest[stretch.number].second.call);
  }
  if (most->first != kNoCall) {
    subject.call = run.trace().strings.View(run.trace().launches[part.call].api);
    subject.count = sums.count;
  }
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

/// The number of calls in an operator; 0 if it is not known, since not all parts are kept.
int64_t IdleSubjects::CountIn(std::string_view op, const CallSites& sites,
                              const std::vector<CallSite>& found,
                              const std::vector<LaunchIndex>& calls, const Sums& sums) {
  if (sums.longest.size() == kMostParts) return 0;
  std::set<LaunchIndex> in_op;
  for (size_t i = 0; i < found.size(); ++i) {
    if (sites.texts()[found[i].op] == op) in_op.insert(calls[i]);
  }
  return static_cast<int64_t>(in_op.size());
}

/// The text that most of the time has, if it is at least half of all.
std::string IdleSubjects::MostOf(const CallSites& sites, const std::vector<CallSite>& found,
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

namespace {

/// Adds a gap to SteadyIdle::late, if it is one of these.
void AddLateWork(const Run& run, const IdleGap& gap, SteadyIdle* idle) {
  if (gap.next == nullptr) return;
  const size_t first_part = idle->host_parts.size();
  LateWork late;
  late.start_ns = gap.time.start_ns;
  late.end_ns = gap.time.end_ns;
  late.event = static_cast<uint32_t>(gap.next - run.device_work().events().data());
  late.first_part = first_part & INT32_MAX;
  late.begins = gap.time.start_ns == idle->time.windows[gap.window].start_ns ? 1 : 0;
  const auto of = [&](IdleCause cause) { return gap.ns[static_cast<size_t>(cause)]; };
  late.launch_ns = of(IdleCause::kLaunch);
  late.sync_ns = of(IdleCause::kSync);
  late.queued_ns = of(IdleCause::kQueued);
  int64_t host_ns = 0;
  for (const IdlePart& part : gap.parts) {
    if (GroupOf(part.cause) != IdleGroup::kHost) continue;
    SaturatingAdd(&host_ns, LengthOf(part.time));
    std::vector<Interval>& times = idle->host_parts;
    if (times.size() > first_part && times.back().end_ns == part.time.start_ns) {
      times.back().end_ns = part.time.end_ns;
    } else {
      times.push_back(part.time);
    }
  }
  if (host_ns > 0 || late.sync_ns > 0 || late.queued_ns > 0) {
    idle->late.push_back(late);
  } else {
    idle->host_parts.resize(first_part);
  }
}

/// Prepares what needs no steps: another thread may be finding them.
const Run& WithHostActivity(const Run& run) {
  const DeviceWork& work = run.device_work();
  for (const DeviceEvent& event : work.events()) {
    const LaunchIndex launch = work.LaunchOf(event);
    if (launch == kNoLaunch) continue;
    run.host_activity().Prepare(run.trace().launches[launch].thread);
    break;  // Most runs launch from one thread.
  }
  return run;
}

}  // namespace

int64_t SteadyIdle::HostNs(size_t i) const {
  int64_t host_ns = 0;
  for (const Interval& part : HostPartsOf(i)) SaturatingAdd(&host_ns, LengthOf(part));
  return host_ns;
}

SteadyIdle::SteadyIdle(const Run& run) : time(WithHostActivity(run)) {
  for (const Interval& window : time.windows) SaturatingAdd(&total_ns, LengthOf(window));
  FindIdleGaps(run, time.windows, IdleOf::kRank, [&](const IdleGap& gap) {
    for (const IdlePart& part : gap.parts) {
      const int64_t length_ns = LengthOf(part.time);
      const bool ends = part.cause == IdleCause::kTail;
      if (time.of_run && (ends || part.cause == IdleCause::kColdStart)) {
        total_ns -= length_ns;
        SaturatingAdd(ends ? &end_ns : &cold_ns, length_ns);
        continue;
      }
      SaturatingAdd(&ns[static_cast<size_t>(part.cause)], length_ns);
      const IdleGroup group = GroupOf(part.cause);
      if (group != IdleGroup::kNone) groups[static_cast<size_t>(group)].Add(run.trace(), part);
      if (part.cause == IdleCause::kApiCall || part.cause == IdleCause::kPageableCopy ||
          part.cause == IdleCause::kModuleLoad) {
        call_parts.push_back(part);
      }
    }
    AddLateWork(run, gap, this);
  });
  ClassSweep sweep(time.windows);
  for (const DeviceEvent& event : run.device_work().events()) {
    sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  for (const ClassTimes& one : sweep.Finish()) busy.Add(one);
}

}  // namespace oplens::prof
