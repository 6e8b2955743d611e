#include "prof/views/collectives/load_maker.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "parse/model/trace.h"
#include "prof/run/class_times.h"
#include "prof/run/device_times.h"
#include "prof/run/host_activity.h"
#include "prof/run/interval_set.h"
#include "prof/run/run.h"
#include "prof/verdicts/run_times.h"
#include "prof/views/collectives/rank_groups.h"
#include "prof/views/common/host_mark.h"

namespace oplens::prof {
namespace {

/// Work of a host that a range's text names.
std::optional<HostWork> HostWorkIn(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (IsDataLoaderRange(text)) return HostWork::kDataLoader;
  if (text == "<built-in function collect>" || has("gc.collect")) return HostWork::kGarbage;
  // Not torch/utils/checkpoint.py, which computes again what it did not keep.
  if (has("torch/serialization.py") || has("torch/distributed/checkpoint/") ||
      has("save_checkpoint")) {
    return HostWork::kCheckpoint;
  }
  return std::nullopt;
}

bool IsAllocatorCall(std::string_view api) {
  return api == "cudaMalloc" || api == "cudaFree" || api == "cudaHostAlloc" ||
         api == "cudaMallocHost";
}

/// The GPU that most kernels ran on; "": not known.
std::string_view GpuNameOf(const Trace& trace) {
  std::map<int64_t, size_t> kernels;
  for (const Kernel& kernel : trace.kernels) ++kernels[kernel.device_id];
  const auto most = std::ranges::max_element(kernels, {}, [](const auto& of) { return of.second; });
  if (most == kernels.end()) return "";
  for (const Device& device : trace.devices) {
    if (device.id == most->first) return trace.strings.View(device.name);
  }
  return "";
}

/// The peer of a matched send or receive; nullopt: its number is not known.
std::optional<int64_t> PeerIn(const CollectiveRow& row, int64_t own) {
  if (!IsPointToPoint(row.call.kind) || row.share.ranks != 2 || own < 0) return std::nullopt;
  int64_t first = -1;
  int64_t second = -1;
  if (std::sscanf(row.group->ranks.c_str(), "[%" SCNd64 ", %" SCNd64 "]", &first, &second) != 2) {
    return std::nullopt;
  }
  if (first == own) return second;
  return second == own ? std::optional(first) : std::nullopt;
}

}  // namespace

LoadMaker::LoadMaker(const Run& run) : run_(run), places_(run) {
  const Trace& trace = run.trace();
  load_.number = trace.rank < 0 ? -1 : trace.rank;
  load_.world_size = trace.world_size < 0 ? -1 : trace.world_size;
  load_.origin_ns = run.origin_ns();
  load_.gpu = GpuNameOf(trace);
  if (trace.node >= 0) {
    load_.node = std::to_string(trace.node);
  } else if (!trace.host.empty()) {
    load_.node = MarkedHost(trace.host);
  }
  load_.began_ns = TimeOfDay(run.origin_ns(), trace.clock_offset_ns);
  FindDeviceTimes();
  FindHostTimes();
}

void LoadMaker::FindDeviceTimes() {
  const auto steps = run_.steps().all();
  const std::vector<Interval> windows = WindowsOf(run_.steps());
  ClassSweep sweep(windows);
  for (const DeviceEvent& event : run_.device_work().events()) {
    sweep.Add(ClassBitOf(event.work), event.start_ns, event.end_ns);
  }
  const std::vector<ClassTimes> times = sweep.Finish();
  for (size_t i = 0; i < steps.size(); ++i) {
    LoadStep& step = load_.steps.emplace_back();
    step.number = steps[i].number;
    step.steady = steps[i].steady();
    step.total_ns = LengthOf(windows[i]);
    step.compute_ns = times[i].AnyOf(kComputeBit);
    const int64_t busy_ns = times[i].AnyOf(kComputeBit | kCommunicationBit);
    step.other_ns = std::max<int64_t>(0, int64_t{step.total_ns} - busy_ns);
    step.copy_ns = times[i].AnyOf(kComputeBit | kCommunicationBit | kMemoryBit) - busy_ns;
  }
}

void LoadMaker::FindHostTimes() {
  const Trace& trace = run_.trace();
  std::array<std::vector<Interval>, kHostWorks> lists;
  std::vector<int8_t> known(trace.strings.size(), -2);  // By text: -1 is no such work.
  for (const Range& range : trace.ranges) {
    if (range.open()) continue;
    int8_t& work = known[range.text];
    if (work == -2) {
      const auto found = HostWorkIn(trace.strings.View(range.text));
      work = found ? static_cast<int8_t>(*found) : int8_t{-1};
    }
    if (work >= 0) lists[static_cast<size_t>(work)].push_back({range.start_ns, range.end_ns});
  }
  std::vector<int8_t> allocates(trace.strings.size(), -2);
  for (const LaunchCall& call : trace.launches) {
    int8_t& does = allocates[call.api];
    if (does == -2) does = IsAllocatorCall(trace.strings.View(call.api)) ? 1 : -1;
    if (does == 1) {
      lists[static_cast<size_t>(HostWork::kAllocator)].push_back({call.start_ns, call.end_ns});
    }
  }
  const std::vector<Interval> windows = WindowsOf(run_.steps());
  for (size_t work = 0; work < kHostWorks; ++work) {
    if (lists[work].empty()) continue;
    const IntervalSet whole(std::move(lists[work]));
    for (size_t i = 0; i < windows.size(); ++i) {
      load_.steps[i].host_ns[work] = whole.Within(windows[i]).length_ns();
    }
  }
}

void LoadMaker::Keep(const std::vector<PlaceTimesMaker::Named>& longest) {
  for (const auto& [name, times] : longest) {
    LoadPlace& place = load_.places.emplace_back();
    place.op = times->place.op == 0 ? std::string() : name.op;
    place.layer = times->place.layer == 0 ? std::string() : name.layer;
    place.kernels = times->kernels;
    place.flops = times->flops;
    place.times_ns.resize(load_.steps.size());
    for (const auto& [step, time_ns] : times->times_ns) place.times_ns[step] += time_ns;
  }
}

RankLoad LoadMaker::Take() {
  const size_t places = RankLoad::kMostTimes / std::max<size_t>(1, load_.steps.size());
  const size_t ops = std::clamp<size_t>(places / 2, 1, RankLoad::kMostOps);
  Keep(places_.LongestOps(ops));
  Keep(places_.LongestLayers(
      std::clamp<size_t>(places - std::min(places, ops), 1, RankLoad::kMostLayers)));
  return std::move(load_);
}

void AddCallsTo(std::span<const CollectiveRow> calls, RankLoad* load) {
  std::map<int64_t, uint32_t> steps;
  for (uint32_t i = 0; i < load->steps.size(); ++i) steps.try_emplace(load->steps[i].number, i);
  std::map<const CollectiveGroup*, LoadGroup*> groups;
  for (const CollectiveRow& row : calls) {
    if (row.recording->origin_ns != load->origin_ns) continue;
    const int64_t wait_ns = row.wait_ns();
    if (row.share.ranks < 2 || wait_ns < 0) continue;
    if (row.share.last_rank != nullptr && !row.came_last()) {
      load->waited_ns[*row.share.last_rank] += wait_ns;
    } else if (const auto peer = PeerIn(row, load->number); peer && wait_ns > 0) {
      load->peers_ns[std::to_string(*peer)] += wait_ns;  // Of two, who does not wait came last.
    }
    const auto number = row.step();
    const auto at = number ? steps.find(*number) : steps.end();
    if (at == steps.end()) continue;
    LoadStep& step = load->steps[at->second];
    step.wait_ns += wait_ns;
    ++step.calls;
    // Without all of its ranks the transfer is an upper bound only.
    if (row.group->size > 0 && row.group->size != int64_t{row.share.ranks}) continue;
    LoadGroup*& group = groups[row.group];
    if (group == nullptr) {
      group = &load->groups[GroupIdentity(*row.group)];
      group->name = row.group->name;
      group->ranks = row.group->ranks;
      group->size = row.group->size;
    }
    GroupStep& sums = group->steps[at->second];
    ++sums.calls;
    sums.transfer_ns += row.share.transfer_ns;
    sums.exposed_ns += std::clamp<int64_t>(row.call.exposed_ns, 0, row.share.transfer_ns);
    if (row.call.kind != CollectiveKind::kAllToAll || !row.share.residual_ns) continue;
    ++sums.ends;
    sums.end_ns += *row.share.residual_ns;
    sums.end_exposed_ns += std::max<int64_t>(0, row.call.exposed_ns);
  }
}

}  // namespace oplens::prof
