#include "prof/run/call_work.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "parse/join/joined.h"
#include "parse/join/launch_sweep.h"
#include "parse/join/range_sweep.h"

namespace oplens::prof {

CallWork::CallWork(const parse::Joined& joined, const DeviceWork& work,
                   const parse::CallTree& calls)
    : trace_(joined.trace()), work_(work), calls_(trace_.launches.size(), kNone) {
  const std::vector<LaunchIndex> origins = Origins();
  const std::span<const parse::CallTree::Call> all = calls.all();
  parse::OpenRanges open;
  size_t next = 0;
  size_t end = 0;
  for (size_t i = 0; i < origins.size(); ++i) {
    const LaunchCall& launch = trace_.launches[origins[i]];
    if (i == 0 || launch.thread != trace_.launches[origins[i - 1]].thread) {
      open.Clear();
      next = calls.BeginOf(launch.thread);
      end = next + calls.Of(launch.thread).size();
    }
    for (; next < end && trace_.ranges[all[next].range].start_ns <= launch.start_ns; ++next) {
      const Range& range = trace_.ranges[all[next].range];
      open.Push(static_cast<uint32_t>(next), range.start_ns, range.end_ns, 0);
    }
    open.MoveTo(launch.start_ns, parse::ComparedEnd(launch, trace_.clock_resolution_ns));
    calls_[origins[i]] = open.Innermost(0);
  }
}

uint32_t CallWork::CallOfKernel(size_t kernel) const {
  return At(OriginOf(trace_.kernels[kernel]));
}

/// The API calls that work comes from, by thread and start.
std::vector<LaunchIndex> CallWork::Origins() const {
  std::vector<bool> wanted(trace_.launches.size(), false);
  const auto want = [&](LaunchIndex launch) {
    if (launch != kNoLaunch) wanted[launch] = true;
  };
  for (const DeviceEvent& event : work_.events()) want(work_.OriginOf(event));
  for (const Kernel& kernel : trace_.kernels) want(OriginOf(kernel));
  std::vector<LaunchIndex> origins;
  for (LaunchIndex launch = 0; launch < wanted.size(); ++launch) {
    if (wanted[launch]) origins.push_back(launch);
  }
  const auto key = [&](LaunchIndex launch) {
    return std::tuple(trace_.launches[launch].thread, trace_.launches[launch].start_ns);
  };
  std::sort(origins.begin(), origins.end(),
            [&](LaunchIndex a, LaunchIndex b) { return key(a) < key(b); });
  return origins;
}

}  // namespace oplens::prof
