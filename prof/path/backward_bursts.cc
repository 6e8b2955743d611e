#include "prof/path/backward_bursts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "parse/join/call_tree.h"
#include "parse/join/forward_backward.h"
#include "parse/join/joined.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"

namespace oplens::prof {
namespace {

/// When a thread begins calls, of operators or of those given, ascending.
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

/// Counts times before one that goes up from question to question.
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

/// The thread with most ranges that has no nodes, by process.
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
  size_t begun = 0;         // By the caller before the burst,
  size_t begun_by_end = 0;  // and before the end of the burst so far.
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
    const std::pair pair = {trace.ranges[node].thread,
                            trace.ranges[joined.links().ForwardOf(number)].thread};
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

}  // namespace oplens::prof
