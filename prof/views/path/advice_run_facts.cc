// Facts of a run as a whole for the advice rules.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "parse/join/joined.h"
#include "parse/model/trace.h"
#include "parse/model/trace_devices.h"
#include "parse/model/waiting_calls.h"
#include "prof/run/call_sites.h"
#include "prof/run/class_times.h"
#include "prof/run/collective_calls.h"
#include "prof/run/collective_kind.h"
#include "prof/run/device_times.h"
#include "prof/run/device_work.h"
#include "prof/run/interval_set.h"
#include "prof/run/run.h"
#include "prof/run/steady_idle.h"
#include "prof/run/step_times.h"
#include "prof/run/steps.h"
#include "prof/views/path/advice_facts.h"

namespace oplens::prof {
namespace {

using advice::RankFacts;
using advice::StepFact;
using advice::Sums;
using advice::Topic;

/// Applies a predicate once per distinct text.
class TextFilter {
 public:
  TextFilter(const Trace& trace, bool (*fits)(std::string_view text))
      : strings_(trace.strings), fits_(fits), known_(trace.strings.size(), 0) {}
  bool Fits(StringId text) {
    uint8_t& known = known_[text];
    if (known == 0) known = fits_(strings_.View(text)) ? 2 : 1;
    return known == 2;
  }

 private:
  const StringPool& strings_;
  bool (*fits_)(std::string_view text);
  std::vector<uint8_t> known_;
};

/// Calls and copies to be counted under their place on the host.
class PlacedFacts {
 public:
  explicit PlacedFacts(const Run& run) : sites_(run.joined()) {}

  void Add(Topic topic, std::string_view what, ThreadIndex thread, int64_t time_ns,
           const Sums& sums) {
    sites_.Ask(thread, time_ns);
    asked_.push_back({topic, what, sums});
  }
  void Finish(RankFacts* facts) {
    const std::vector<CallSite> places = sites_.Find();
    std::string place;
    for (size_t i = 0; i < asked_.size(); ++i) {
      const std::string& op = sites_.texts()[places[i].op];
      const std::string& frame = sites_.texts()[places[i].frame];
      place.assign(asked_[i].what);
      if (!op.empty()) place.append(" in ").append(op);
      if (!frame.empty()) place.append(" at ").append(frame);
      facts->At(asked_[i].topic).Add(place, asked_[i].sums);
    }
  }

 private:
  struct Asked {
    Topic topic;
    std::string_view what;  // Points into the trace, or a literal.
    Sums sums;
  };
  CallSites sites_;
  std::vector<Asked> asked_;
};

/// Per thread, the calls that wait for a GPU, by end.
class Waits {
 public:
  explicit Waits(const Trace& trace) : trace_(trace), of_(trace.threads.size() + 1) {
    TextFilter waits(trace, IsWaitingCall);
    for (size_t i = 0; i < trace.launches.size(); ++i) {
      const LaunchCall& call = trace.launches[i];
      if (waits.Fits(call.api)) Of(call.thread).push_back(static_cast<LaunchIndex>(i));
    }
    for (std::vector<LaunchIndex>& calls : of_) {
      std::sort(calls.begin(), calls.end(), [&](LaunchIndex a, LaunchIndex b) {
        return std::tie(trace.launches[a].end_ns, a) < std::tie(trace.launches[b].end_ns, b);
      });
    }
  }

  /// The last call that ended in (since, until]; null if none.
  const LaunchCall* EndedIn(ThreadIndex thread, int64_t since_ns, int64_t until_ns) {
    const std::vector<LaunchIndex>& calls = Of(thread);
    const auto behind = std::upper_bound(
        calls.begin(), calls.end(), until_ns,
        [&](int64_t time, LaunchIndex call) { return time < trace_.launches[call].end_ns; });
    if (behind == calls.begin()) return nullptr;
    const LaunchCall& call = trace_.launches[*(behind - 1)];
    return call.end_ns > since_ns ? &call : nullptr;
  }

 private:
  std::vector<LaunchIndex>& Of(ThreadIndex thread) {
    return of_[std::min<size_t>(thread, of_.size() - 1)];
  }

  const Trace& trace_;
  std::vector<std::vector<LaunchIndex>> of_;  // By thread; the last is for calls without a thread.
};

/// The time of a wait for the host that a call which waited for a GPU costs: without that wait the
/// host would be ahead by its duration.
/// `host_ns`: of the gap, waits for the host or for work that it waited for.
int64_t BlockedNs(int64_t host_ns, const LaunchCall& wait) {
  return std::min(host_ns, LengthOf({wait.start_ns, wait.end_ns}));
}

/// Gives `host_ns` of a gap's waits for the host to a topic: the last ones.
void TakeHostParts(std::span<const Interval> parts, Topic topic, int64_t host_ns,
                   AdviceClaims* claims) {
  for (size_t i = parts.size(); i > 0 && host_ns > 0; --i) {
    Interval part = parts[i - 1];
    part.start_ns = std::max(part.start_ns, SaturatingDifference(part.end_ns, host_ns));
    host_ns -= LengthOf(part);
    claims->TakeTime(topic, part);
  }
}

void AddLateWork(const Run& run, RankFacts* facts, AdviceClaims* claims, PlacedFacts* placed) {
  const Trace& trace = run.trace();
  Waits waits(trace);
  TextFilter replays(trace,
                     [](std::string_view api) { return api.find("GraphLaunch") != api.npos; });
  const SteadyIdle& idle = run.steady_idle();
  for (uint32_t i = 0; i < idle.late.size(); ++i) {
    const LateWork& late = idle.late[i];
    const DeviceEvent& event = run.device_work().events()[late.event];
    if (event.IsKernel()) claims->SetWaitBefore(event.index, i);
    const LaunchIndex launch = run.device_work().LaunchOf(event);
    if (launch == kNoLaunch) continue;
    const LaunchCall& call = trace.launches[launch];
    int64_t host_ns = idle.HostNs(i);
    if (const LaunchCall* wait = waits.EndedIn(call.thread, late.start_ns, call.start_ns)) {
      const int64_t waited_ns = SaturatingSum(host_ns, late.sync_ns);
      const int64_t lost_ns = BlockedNs(waited_ns, *wait);
      placed->Add(Topic::kBlocking, trace.strings.View(wait->api), wait->thread, wait->start_ns,
                  {1, LengthOf({wait->start_ns, wait->end_ns}), lost_ns});
      claims->TakeCall(static_cast<LaunchIndex>(wait - trace.launches.data()),
                       {late.start_ns, late.end_ns}, lost_ns);
      claims->OfWait(i) = Topic::kBlocking;
      host_ns = std::min(host_ns, waited_ns - lost_ns);
    } else if (replays.Fits(call.api)) {
      // The host's time before the launch is not the graph's.
      const int64_t graph_ns = SaturatingSum(late.launch_ns, late.queued_ns);
      const int64_t start_ns = SaturatingDifference(late.end_ns, graph_ns);
      facts->At(Topic::kGraphLaunch).Add(trace.strings.View(call.api), {1, graph_ns, graph_ns});
      claims->TakeTime(Topic::kGraphLaunch, {start_ns, SaturatingSum(start_ns, graph_ns)});
      claims->OfWait(i) = Topic::kGraphLaunch;
      host_ns -= late.launch_ns;
    } else {
      continue;  // TakeWaits has it.
    }
    if (host_ns <= 0) continue;
    const Topic topic = TopicOfHostWait(*facts, late, host_ns);
    facts->At(topic).Add({}, {1, host_ns, host_ns});
    TakeHostParts(idle.HostPartsOf(i), topic, host_ns, claims);
  }
  const IdleSubjects& host = idle.groups[static_cast<size_t>(IdleGroup::kHost)];
  facts->longest_host_ns = host.longest_ns();
  const RootSubject subject = host.Find(run);
  facts->host_place = subject.op;
  if (!subject.frame.empty()) facts->host_place += fmt::format(" at {}", subject.frame);
}

bool TakesDriverMemory(std::string_view api) {
  constexpr std::string_view kCalls[] = {"Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister"};
  if (api.find("Async") != api.npos) return false;  // From a pool, ordered by a stream.
  return std::ranges::any_of(kCalls,
                             [&](std::string_view part) { return api.find(part) != api.npos; });
}

/// Waits in long API calls, and in the calls of copies of pageable memory.
void AddCallParts(const Run& run, const RankFacts& facts, AdviceClaims* claims,
                  PlacedFacts* placed) {
  const Trace& trace = run.trace();
  TextFilter takes(trace, TakesDriverMemory);
  LaunchIndex last = kNoLaunch;
  for (const IdlePart& part : run.steady_idle().call_parts) {
    if (part.cause == IdleCause::kModuleLoad || part.call == kNoLaunch) continue;
    const LaunchCall& call = trace.launches[part.call];
    // A program without marked steps may still be filling its cache.
    const bool allocates = facts.has_steps && takes.Fits(call.api);
    const Topic topic = part.cause == IdleCause::kPageableCopy ? Topic::kPageable
                        : allocates                            ? Topic::kAllocation
                                                               : Topic::kApiCall;
    const int64_t length_ns = LengthOf(part.time);
    placed->Add(topic, trace.strings.View(call.api), part.thread, part.time.start_ns,
                {part.call == last ? 0 : 1, length_ns, length_ns});
    claims->TakeTime(topic, part.time);
    last = part.call;
  }
}

void AddTimes(const Run& run, RankFacts* facts) {
  std::set<int32_t> devices;
  for (const DeviceEvent& event : run.device_work().events()) devices.insert(event.device_id);
  facts->gpus = static_cast<int64_t>(devices.size());
  const SteadyIdle& idle = run.steady_idle();
  facts->total_ns = idle.total_ns;
  facts->idle_ns = idle.ns;
  facts->comm_exposed_ns = idle.busy.ns[kCommunicationBit];
  facts->memcpy_exposed_ns = idle.busy.ns[kMemoryBit];
  facts->compute_alone_ns =
      SaturatingSum(idle.busy.ns[kComputeBit], idle.busy.ns[kComputeBit | kMemoryBit]);
}

void AddAdviceRunFactsSteps(const Run& run, RankFacts* facts) {
  const std::span<const Step> steps = run.steps().all();
  // A period of kernels is a repetition: of a layer, a token, a step. Rules of steps are not for
  // it.
  const StepSource source = run.steps().source();
  facts->has_steps = source == StepSource::kRanges || source == StepSource::kPattern;
  const std::vector<StepTimes>& times = run.step_times();
  const std::vector<bool>& counts = run.steady_idle().time.counts;
  const int64_t origin_ns = run.origin_ns();
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto part = [&](const auto& list, TimeClass of) {
      return list[static_cast<size_t>(of)].value_or(0);
    };
    const int64_t total_ns = LengthOf(steps[i].span);
    const int64_t loader_ns = part(times[i].parts, TimeClass::kDataLoader);
    const StepFact fact{LengthOf({origin_ns, steps[i].span.start_ns}), steps[i].number, total_ns,
                        loader_ns, steps[i].state};
    if (!counts[i]) {
      if (steps[i].complete) facts->left_out.push_back(fact);
      continue;
    }
    facts->steps.push_back(fact);
    SaturatingAdd(&facts->dataloader_ns, loader_ns);
  }
  std::sort(facts->steps.begin(), facts->steps.end());
  std::sort(facts->left_out.begin(), facts->left_out.end());
}

/// Copies between host and GPU, by what nothing else on the GPUs hides.
void AddCopies(const Run& run, AdviceClaims* claims, PlacedFacts* placed) {
  const Trace& trace = run.trace();
  if (trace.copies.empty()) return;
  IntervalSet busy;
  for (const DeviceEvent& event : run.device_work().events()) {
    if (event.work != WorkClass::kCopy) busy.Add({event.start_ns, event.end_ns});
  }
  for (const DeviceEvent& event : run.device_work().events()) {
    if (event.work != WorkClass::kCopy || !IsWithin(run.steady_idle().time.windows, event.start_ns))
      continue;
    const MemoryCopy& copy = trace.copies[event.index];
    const bool pageable = IsPageable(copy);
    const bool pinned =
        copy.source_kind == MemoryKind::kPinned || copy.target_kind == MemoryKind::kPinned;
    if (!pageable && !pinned) continue;
    const LaunchIndex launch = run.device_work().LaunchOf(event);
    const LaunchCall none;
    const LaunchCall& call = launch == kNoLaunch ? none : trace.launches[launch];
    const MemoryKind host = pageable ? MemoryKind::kPageable : MemoryKind::kPinned;
    const int64_t hidden_ns = busy.Within({event.start_ns, event.end_ns}).length_ns();
    const Topic topic = pageable ? Topic::kPageable : Topic::kPinned;
    const int64_t gain_ns = std::max<int64_t>(0, event.duration_ns() - hidden_ns);
    placed->Add(topic, copy.source_kind == host ? "host to GPU" : "GPU to host",
                launch == kNoLaunch ? kNoThread : call.thread, call.start_ns,
                {1, event.duration_ns(), gain_ns});
    claims->TakeCopy(event.index, topic, gain_ns);
    if (pageable && launch != kNoLaunch) claims->TakePageableCall(launch);
  }
}

void AddCollectives(const Run& run, RankFacts* facts) {
  const std::vector<Interval>& windows = run.steady_idle().time.windows;
  for (const CollectiveCall& call : run.collectives()) {
    if (call.time != CollectiveTime::kKernel || !IsWithin(windows, call.start_ns)) continue;
    facts->nccl = true;
    const std::string_view kind = CollectiveWord(call.facts.kind);
    const Sums sums = {1, std::max<int64_t>(call.latency_ns, 0),
                       std::max<int64_t>(call.exposed_ns, 0)};
    facts->At(Topic::kCollective).Add(kind, sums);
    const int64_t bytes = call.facts.size_bytes;
    if (bytes < 0 || bytes >= advice::kSmallMessageBytes || IsPointToPoint(call.facts.kind) ||
        call.facts.kind == CollectiveKind::kBarrier) {
      continue;
    }
    facts->At(Topic::kSmallCollective).Add(fmt::format("{} of {} bytes", kind, bytes), sums);
  }
}

void AddMemory(const Trace& trace, RankFacts* facts) {
  struct Peak {
    int64_t allocated = 0;
    int64_t reserved = 0;
    int64_t allocated_then = 0;
  };
  std::map<int32_t, Peak> peaks;
  for (const MemoryEvent& event : trace.memory_events) {
    if (event.source != MemorySource::kFramework || event.device_id < 0) continue;
    facts->has_memory = true;
    Peak& peak = peaks[event.device_id];
    peak.allocated = std::max(peak.allocated, event.total_allocated_bytes);
    if (event.total_reserved_bytes > peak.reserved) {
      peak.reserved = event.total_reserved_bytes;
      peak.allocated_then = event.total_allocated_bytes;
    } else if (event.total_reserved_bytes == peak.reserved) {
      peak.allocated_then = std::max(peak.allocated_then, event.total_allocated_bytes);
    }
  }
  for (const auto& [id, peak] : peaks) {
    RankFacts one;
    one.peak_allocated_bytes = peak.allocated;
    one.peak_reserved_bytes = peak.reserved;
    one.allocated_at_peak_bytes = peak.allocated_then;
    if (const Device* const device = FindDevice(trace, id).device) {
      one.memory_bytes = device->memory_bytes;
    }
    facts->Merge(one);
  }
}

void AddParallel(const Trace& trace, RankFacts* facts) {
  for (StringId text = 0; text < trace.strings.size(); ++text) {
    const std::string_view name = trace.strings.View(text);
    facts->data_parallel |= name == "DataParallel.forward";
    facts->distributed_data_parallel |= name == "DistributedDataParallel.forward";
    facts->gloo |= name.starts_with("gloo:");
    facts->nccl |= name.starts_with("nccl:");
  }
}

}  // namespace

void GatherRunFacts(const Run& run, advice::RankFacts* facts, AdviceClaims* claims) {
  const Trace& trace = run.trace();
  facts->has_run = true;
  facts->has_launches = !trace.launches.empty();
  facts->file_cut = trace.lost.file_cut;
  facts->family = trace.family;
  AddMemory(trace, facts);
  AddParallel(trace, facts);
  if (run.device_work().events().empty() || run.steady_idle().time.windows.empty()) return;
  PlacedFacts placed(run);
  AddTimes(run, facts);
  AddAdviceRunFactsSteps(run, facts);
  AddLateWork(run, facts, claims, &placed);
  AddCallParts(run, *facts, claims, &placed);
  AddCopies(run, claims, &placed);
  AddCollectives(run, facts);
  if (facts->dataloader_ns > 0) {
    facts->At(Topic::kDataLoader).Add({}, {1, facts->dataloader_ns, facts->dataloader_ns});
  }
  placed.Finish(facts);
}

}  // namespace oplens::prof
