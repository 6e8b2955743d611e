#include "parse/join/launch_sweep.h"

#include <algorithm>

namespace oplens::parse {

int64_t ComparedEnd(const LaunchCall& call, int64_t clock_resolution_ns) {
  if (clock_resolution_ns <= 1) return call.end_ns;
  const int64_t slack = 2 * clock_resolution_ns;
  if (call.end_ns - call.start_ns > slack) return call.end_ns - slack;
  return call.start_ns < kNeverClosed ? call.start_ns + 1 : call.start_ns;
}

LaunchSweep::LaunchSweep(const RangeKnowledge& known, const GpuWork& work, OpCalls* calls)
    : known_(known),
      work_(work),
      reader_(known, calls),
      callers_(known),
      around_work_(work.count(), kNone) {
  // Usually enough; unused capacity takes no memory.
  lists_.all.reserve(work.count());
  constexpr size_t kUsualDepth = 8;
  lists_.ranges.reserve(work.count() * kUsualDepth);
  for (ThreadIndex thread = 0; thread < known.threads.thread_count(); ++thread) {
    SweepThread(thread);
  }
  FindForwardPlaces();
  callers_.Answer(&reader_);
}

void LaunchSweep::SweepThread(ThreadIndex thread) {
  const std::span<const WorkIndex> work = work_.Of(thread);
  if (work.empty()) return;
  reader_.Begin(thread);
  const int64_t leaked_since_ns = known_.leaks.SinceOn(thread);
  LaunchIndex launch = kNoLaunch;
  uint32_t around = kNone;
  uint64_t version = 0;
  bool leaked = false;
  for (const WorkIndex index : work) {
    const LaunchIndex origin = work_.OriginOf(index);
    if (origin != launch) {
      launch = origin;
      const LaunchCall& call = known_.trace.launches[origin];
      reader_.MoveTo(call.start_ns, ComparedEnd(call, known_.trace.clock_resolution_ns));
      const bool leaked_now = leaked_since_ns <= call.start_ns;
      if (around == kNone || version != reader_.version() || leaked != leaked_now) {
        lists_.all.push_back(reader_.Collect(&lists_));
        version = reader_.version();
        leaked = leaked_now;
        lists_.all.back().callers = AskCallers(call, lists_.all.back());
      } else if (const uint32_t callers = AskCallers(call, lists_.all[around]);
                 callers != lists_.all[around].callers) {
        // The same ranges, but another thread waits.
        lists_.all.push_back(Surroundings(lists_.all[around]));
        lists_.all.back().callers = callers;
      }
      around = static_cast<uint32_t>(lists_.all.size() - 1);
    }
    around_work_[index] = around;
  }
}

uint32_t LaunchSweep::AskCallers(const LaunchCall& call, const Surroundings& around) {
  return callers_.Ask(call, around.phase, reader_.OutermostContext());
}

void LaunchSweep::FindForwardPlaces() {
  const uint32_t count = known_.links.count();
  if (count == 0) return;
  std::vector<bool> has_kernel(size_t{count} + 1, false);
  std::vector<bool> wanted(size_t{count} + 1, false);  // Its surroundings.
  std::vector<bool> silent(size_t{count} + 1, false);
  for (const Surroundings& around : lists_.all) {
    if (around.phase == Phase::kBackward) silent[around.node().node] = true;
    wanted[around.served()] = true;
    if (known_.every_forward) wanted[around.node().node] = true;
  }
  for (WorkIndex work = 0; work < known_.trace.kernels.size(); ++work) {
    if (around_work_[work] == kNone) continue;
    const Surroundings& around = lists_.all[around_work_[work]];
    // The record of a kernel has the surroundings of these forward ops. But a kernel in a node has
    // those of the node: for an op inside it that made a node itself (gradients of gradients), they
    // are kept for the kernels of the latter.
    if (around.phase == Phase::kBackward) {
      if (!lists_.Of(around, Around::kForwards).empty()) wanted[around.node().node] = true;
      continue;
    }
    for (const uint32_t range : lists_.Of(around, Around::kForwards)) {
      has_kernel[known_.links.NumberOf(range)] = true;
    }
  }
  std::vector<uint32_t> numbers;
  for (uint32_t number = 1; number <= count; ++number) {
    silent[number] = silent[number] && !has_kernel[number];
    if (silent[number] || wanted[number]) numbers.push_back(number);
  }
  SweepForwards(&numbers, silent);
}

void LaunchSweep::SweepForwards(std::vector<uint32_t>* numbers, const std::vector<bool>& silent) {
  const ForwardBackward& links = known_.links;
  // Ranges are ordered by thread and start.
  std::sort(numbers->begin(), numbers->end(),
            [&](uint32_t a, uint32_t b) { return links.ForwardOf(a) < links.ForwardOf(b); });
  const ThreadIndex* thread = nullptr;
  for (const uint32_t number : *numbers) {
    const Range& forward = known_.trace.ranges[links.ForwardOf(number)];
    if (thread == nullptr || *thread != forward.thread) reader_.Begin(forward.thread);
    thread = &forward.thread;
    reader_.MoveToRange(links.ForwardOf(number));
    const auto around = static_cast<uint32_t>(lists_.all.size());
    lists_.all.push_back(reader_.Collect(&lists_));
    places_.push_back({number, around, silent[number]});
  }
  std::sort(places_.begin(), places_.end(),
            [](const ForwardPlace& a, const ForwardPlace& b) { return a.number < b.number; });
}

LaunchSweep::ForwardPlace LaunchSweep::PlaceOf(uint32_t forward) const {
  const auto place =
      std::lower_bound(places_.begin(), places_.end(), forward,
                       [](const ForwardPlace& a, uint32_t number) { return a.number < number; });
  return place != places_.end() && place->number == forward ? *place : ForwardPlace();
}

}  // namespace oplens::parse
