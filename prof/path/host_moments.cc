#include "prof/path/host_moments.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "parse/join/joined.h"
#include "parse/model/trace_needs.h"

namespace oplens::prof {
namespace {

bool IsLong(const LaunchCall& call) {
  return call.end_ns > call.start_ns &&
         static_cast<uint64_t>(call.end_ns) - static_cast<uint64_t>(call.start_ns) >=
             static_cast<uint64_t>(kLongCallNs);
}

/// Freeing memory waits for all that may use it.
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

/// After the waits, whose calls are among them.
void HostMoments::FindCalls() {
  std::vector<bool> wanted = launches_work_;
  for (const HostWait& wait : waits_) wanted[wait.call] = true;
  for (LaunchIndex call = 0; call < trace_.launches.size(); ++call) {
    if (wanted[call] || IsLong(trace_.launches[call])) calls_.push_back(call);
  }
  SortCalls();
}

/// They mostly are in order, but for their threads.
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
  enum : uint8_t { kUnasked, kNo, kYes };
  std::vector<uint8_t> names(trace_.strings.size(), kUnasked);
  for (LaunchIndex call = 0; call < trace_.launches.size(); ++call) {
    const LaunchCall& made = trace_.launches[call];
    if (told[call] || launches_work_[call] || !IsLong(made)) continue;
    uint8_t& name = names[made.api];
    if (name == kUnasked) name = NameWaits(trace_.strings.View(made.api)) ? kYes : kNo;
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

/// Merges what was found into the calls that launch work.
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
