#include "prof/run/host_moments.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "parse/join/call_tree.h"
#include "parse/join/forward_backward.h"
#include "parse/join/joined.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace_needs.h"

namespace oplens::prof {
namespace {

/// Starts of a thread's calls, of operators or of `calls`, ascending.
std::vector<int64_t> BeginningsOf(const parse::Joined& joined, ThreadIndex thread,
                                  std::span<const LaunchIndex> calls) {
  const Trace& trace = joined.trace();
  std::vector<int64_t> times_ns;
  for (size_t i = joined.threads().BeginOf(thread); i < joined.threads().EndOf(thread); ++i) {
    if (!parse::IsHostCall(joined, static_cast<uint32_t>(i))) continue;
    times_ns.push_back(trace.ranges[i].start_ns);
  }
  const auto of_ranges = static_cast<std::ptrdiff_t>(times_ns.size());
  const auto thread_of = [&](LaunchIndex call) { return trace.launches[call].thread; };
  auto call = std::partition_point(calls.begin(), calls.end(),
                                   [&](LaunchIndex item) { return thread_of(item) < thread; });
  for (; call != calls.end() && thread_of(*call) == thread; ++call) {
    times_ns.push_back(trace.launches[*call].start_ns);
  }
  std::inplace_merge(times_ns.begin(), times_ns.begin() + of_ranges, times_ns.end());
  return times_ns;
}

/// Counts times before a time that ascends over queries.
class Counter {
 public:
  explicit Counter(std::span<const int64_t> times_ns) : times_ns_(times_ns) {}

  size_t Before(int64_t time_ns) {
    size_t step = 1;
    while (count_ + step <= times_ns_.size() && times_ns_[count_ + step - 1] < time_ns) {
      count_ += step;
      step *= 2;
    }
    const auto end =
        times_ns_.begin() + static_cast<std::ptrdiff_t>(std::min(count_ + step, times_ns_.size()));
    const auto place =
        std::lower_bound(times_ns_.begin() + static_cast<std::ptrdiff_t>(count_), end, time_ns);
    count_ = static_cast<size_t>(place - times_ns_.begin());
    return count_;
  }

 private:
  std::span<const int64_t> times_ns_;
  size_t count_ = 0;
};

/// Per process, the thread with most ranges among those without nodes.
ThreadIndex ThreadWithoutNodes(const parse::Joined& joined, int64_t process_id) {
  ThreadIndex best = kNoThread;
  size_t most = 0;
  for (ThreadIndex thread = 0; thread < joined.threads().thread_count(); ++thread) {
    if (joined.contexts().HasNodes(thread) ||
        joined.trace().threads[thread].process_id != process_id) {
      continue;
    }
    const size_t ranges = joined.threads().EndOf(thread) - joined.threads().BeginOf(thread);
    if (ranges > most) {
      most = ranges;
      best = thread;
    }
  }
  return best;
}

void AddBursts(const parse::Joined& joined, ThreadIndex engine, ThreadIndex caller,
               std::span<const int64_t> beginnings_ns, std::vector<BackwardBurst>* bursts) {
  const Trace& trace = joined.trace();
  Counter beginnings(beginnings_ns);
  BackwardBurst burst = {0, 0, engine, caller, true};
  size_t begun = 0;         // Calls of the caller begun before the burst,
  size_t begun_by_end = 0;  // and before its end so far.
  bool any = false;
  const auto close = [&] {
    if (any && burst.end_ns > burst.begin_ns) bursts->push_back(burst);
  };
  for (size_t i = joined.threads().BeginOf(engine); i < joined.threads().EndOf(engine); ++i) {
    const Range& range = trace.ranges[i];
    if (range.open() || range.kind == RangeKind::kStep || joined.leaks().Has(i)) continue;
    if (range.end_ns <= range.start_ns || (any && range.end_ns <= burst.end_ns)) continue;
    if (!any || range.start_ns > burst.end_ns) {
      const size_t by_start = beginnings.Before(range.start_ns);
      if (!any || by_start != begun_by_end) {
        close();
        burst = {range.start_ns, range.end_ns, engine, caller, true};
        begun = by_start;
        any = true;
      }
    }
    burst.end_ns = range.end_ns;
    begun_by_end = beginnings.Before(range.end_ns);
    if (begun_by_end != begun) burst.waits = false;
  }
  close();
}

bool IsLong(const LaunchCall& call) {
  return call.end_ns > call.start_ns &&
         static_cast<uint64_t>(call.end_ns) - static_cast<uint64_t>(call.start_ns) >=
             static_cast<uint64_t>(kLongCallNs);
}

/// Freeing memory waits for all work that may use it.
bool NameWaits(std::string_view api) {
  return api.find("Synchronize") != std::string_view::npos || api == "cudaFree" ||
         api == "cuMemFree_v2" || api == "cuMemFree" || api == "hipFree";
}

bool IsBetweenHostAndDevice(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToDevice:
    case CopyKind::kDeviceToHost:
    case CopyKind::kHostToArray:
    case CopyKind::kArrayToHost:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<ThreadIndex> CallersOfEngines(const parse::Joined& joined) {
  const parse::StepContexts& contexts = joined.contexts();
  const Trace& trace = joined.trace();
  std::vector<ThreadIndex> callers(joined.threads().thread_count(), kNoThread);
  std::map<std::pair<ThreadIndex, ThreadIndex>, int64_t> votes;  // By engine and caller.
  std::pair<ThreadIndex, ThreadIndex> last = {kNoThread, kNoThread};
  int64_t* last_votes = nullptr;
  for (const uint32_t node : contexts.nodes()) {
    const uint32_t number = joined.links().RunOf(node).node;
    if (number == 0) continue;
    const std::pair pair = {trace.ThreadOf(trace.ranges[node]),
                            trace.ThreadOf(trace.ranges[joined.links().ForwardOf(number)])};
    if (last_votes == nullptr || pair != last) last_votes = &votes[pair];
    last = pair;
    ++*last_votes;
  }
  std::vector<int64_t> most(callers.size(), 0);
  for (const auto& [pair, count] : votes) {
    if (count <= most[pair.first]) continue;
    most[pair.first] = count;
    callers[pair.first] = pair.second;
  }
  std::map<int64_t, ThreadIndex> others;  // By process.
  for (ThreadIndex thread = 0; thread < callers.size(); ++thread) {
    if (callers[thread] == thread) {
      callers[thread] = kNoThread;
    } else if (callers[thread] == kNoThread && contexts.IsEngineThread(thread)) {
      const int64_t process = trace.threads[thread].process_id;
      const auto [place, is_new] = others.try_emplace(process, kNoThread);
      if (is_new) place->second = ThreadWithoutNodes(joined, process);
      callers[thread] = place->second;
    }
  }
  return callers;
}

std::vector<BackwardBurst> FindBackwardBursts(const parse::Joined& joined,
                                              std::span<const ThreadIndex> callers,
                                              std::span<const LaunchIndex> calls) {
  std::vector<BackwardBurst> bursts;
  std::map<ThreadIndex, std::vector<int64_t>> beginnings;  // By caller.
  for (ThreadIndex thread = 0; thread < callers.size(); ++thread) {
    const ThreadIndex caller = callers[thread];
    if (caller == kNoThread) continue;
    const auto [place, is_new] = beginnings.try_emplace(caller);
    if (is_new) place->second = BeginningsOf(joined, caller, calls);
    AddBursts(joined, thread, caller, place->second, &bursts);
  }
  return bursts;
}

HostMoments::HostMoments(const parse::Joined& joined, const DeviceWork& work)
    : joined_(joined),
      trace_(joined.trace()),
      work_(work),
      launches_work_(trace_.launches.size(), false) {
  for (const DeviceEvent& event : work_.events()) {
    const LaunchIndex launch = work_.LaunchOf(event);
    if (launch != kNoLaunch) launches_work_[launch] = true;
  }
  std::vector<Placed> found;
  FindWaits(&found);
  FindCopies(&found);
  FindCalls();
  FindBursts(&found);
  Place(std::move(found));
}

/// Call after FindWaits, whose calls are included.
void HostMoments::FindCalls() {
  std::vector<bool> wanted = launches_work_;
  for (const HostWait& wait : waits_) wanted[wait.call] = true;
  for (LaunchIndex call = 0; call < trace_.launches.size(); ++call) {
    if (wanted[call] || IsLong(trace_.launches[call])) calls_.push_back(call);
  }
  SortCalls();
}

/// Bucket sort by thread: the calls of a thread are mostly in order.
void HostMoments::SortCalls() {
  std::vector<size_t> next(trace_.threads.size() + 1, 0);
  for (const LaunchIndex call : calls_) ++next[trace_.launches[call].thread + 1];
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  const std::vector<size_t> bounds = next;
  std::vector<LaunchIndex> sorted(calls_.size());
  for (const LaunchIndex call : calls_) sorted[next[trace_.launches[call].thread]++] = call;
  const auto before = [&](LaunchIndex a, LaunchIndex b) {
    const LaunchCall& left = trace_.launches[a];
    const LaunchCall& right = trace_.launches[b];
    return std::tuple(left.start_ns, right.end_ns, a) < std::tuple(right.start_ns, left.end_ns, b);
  };
  for (size_t thread = 0; thread + 1 < bounds.size(); ++thread) {
    const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(bounds[thread]);
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(bounds[thread + 1]);
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
  }
  calls_ = std::move(sorted);
}

void HostMoments::FindWaits(std::vector<Placed>* found) {
  const auto add = [&](LaunchIndex call, int64_t end_ns, ItemIndex wait) {
    found->push_back({{end_ns, static_cast<uint32_t>(waits_.size()), HostMoment::Kind::kWait},
                      trace_.launches[call].thread});
    waits_.push_back({call, wait});
  };
  std::vector<bool> told(trace_.launches.size(), false);
  for (size_t i = 0; i < trace_.synchronizations.size(); ++i) {
    const Synchronization& wait = trace_.synchronizations[i];
    if (wait.launch == kNoLaunch || told[wait.launch]) continue;
    told[wait.launch] = true;
    if (wait.kind == WaitKind::kStreamWaitEvent) continue;
    const int64_t end_ns = std::max(wait.end_ns, trace_.launches[wait.launch].end_ns);
    add(wait.launch, end_ns, static_cast<ItemIndex>(i));
  }
  enum : uint8_t { kNotAsked, kNo, kYes };
  std::vector<uint8_t> names(trace_.strings.size(), kNotAsked);
  for (LaunchIndex call = 0; call < trace_.launches.size(); ++call) {
    const LaunchCall& made = trace_.launches[call];
    if (told[call] || launches_work_[call] || !IsLong(made)) continue;
    uint8_t& name = names[made.api];
    if (name == kNotAsked) name = NameWaits(trace_.strings.View(made.api)) ? kYes : kNo;
    if (name == kYes) add(call, made.end_ns, kNoItem);
  }
}

void HostMoments::FindCopies(std::vector<Placed>* found) {
  const std::span<const DeviceEvent> events = work_.events();
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].work != WorkClass::kCopy) continue;
    const MemoryCopy& copy = trace_.copies[events[i].index];
    if (copy.launch == kNoLaunch || !IsBetweenHostAndDevice(copy.copy_kind)) continue;
    const LaunchCall& call = trace_.launches[copy.launch];
    if (copy.start_ns < call.start_ns || copy.end_ns > call.end_ns) continue;
    found->push_back({{call.end_ns, i, HostMoment::Kind::kCopied}, call.thread});
  }
}

void HostMoments::FindBursts(std::vector<Placed>* found) {
  callers_ = CallersOfEngines(joined_);
  bursts_ = FindBackwardBursts(joined_, callers_, calls_);
  for (uint32_t i = 0; i < bursts_.size(); ++i) {
    const BackwardBurst& burst = bursts_[i];
    found->push_back({{burst.begin_ns, i, HostMoment::Kind::kHandOff}, burst.caller});
    found->push_back({{burst.begin_ns, i, HostMoment::Kind::kBegin}, burst.engine});
    found->push_back({{burst.end_ns, i, HostMoment::Kind::kBurstEnd}, burst.engine});
    if (!burst.waits) continue;
    found->push_back({{burst.end_ns, i, HostMoment::Kind::kReturn}, burst.caller});
  }
}

/// Merges `found` into the calls that launch work.
void HostMoments::Place(std::vector<Placed> found) {
  const auto key = [](const Placed& item) {
    return std::tuple(item.thread, item.moment.time_ns, item.moment.kind, item.moment.item);
  };
  std::sort(found.begin(), found.end(),
            [&](const Placed& a, const Placed& b) { return key(a) < key(b); });
  bounds_.assign(trace_.threads.size() + 1, 0);
  moment_of_call_.assign(trace_.launches.size(), kNone);
  burst_moments_.resize(bursts_.size());
  size_t next = 0;
  const auto add = [&](const HostMoment& moment, ThreadIndex thread) {
    const auto place = static_cast<uint32_t>(moments_.size());
    if (moment.kind == HostMoment::Kind::kCall) moment_of_call_[moment.item] = place;
    if (moment.kind == HostMoment::Kind::kHandOff) burst_moments_[moment.item].hand_off = place;
    if (moment.kind == HostMoment::Kind::kBegin) burst_moments_[moment.item].begin = place;
    if (moment.kind == HostMoment::Kind::kBurstEnd) burst_moments_[moment.item].end = place;
    moments_.push_back(moment);
    ++bounds_[thread + 1];
  };
  moments_.reserve(calls_.size() + found.size());
  for (const LaunchIndex index : calls_) {
    if (!launches_work_[index]) continue;
    const LaunchCall& call = trace_.launches[index];
    const Placed placed = {{call.start_ns, index, HostMoment::Kind::kCall}, call.thread};
    for (; next < found.size() && key(found[next]) < key(placed); ++next) {
      add(found[next].moment, found[next].thread);
    }
    add(placed.moment, placed.thread);
  }
  for (; next < found.size(); ++next) add(found[next].moment, found[next].thread);
  for (size_t i = 1; i < bounds_.size(); ++i) bounds_[i] += bounds_[i - 1];
}

}  // namespace oplens::prof
