// Facts of a run as a whole for the advice rules.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
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
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "prof/views/common/step_times.h"
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

void AddGaps(const Run& run, const std::vector<Interval>& windows, RankFacts* facts,
             std::vector<uint32_t>* waits_ns, PlacedFacts* placed) {
  const Trace& trace = run.trace();
  Waits waits(trace);
  waits_ns->assign(trace.kernels.size(), 0);
  FindIdleGaps(run, windows, IdleOf::kDevice, [&](const IdleGap& gap) {
    for (size_t i = 0; i < kIdleCauseCount; ++i) SaturatingAdd(&facts->idle_ns[i], gap.ns[i]);
    SaturatingAdd(&facts->cold_ns, gap.ns[static_cast<size_t>(IdleCause::kColdStart)]);
    if (gap.next == nullptr) return;
    const LaunchIndex launch = run.device_work().LaunchOf(*gap.next);
    if (launch == kNoLaunch) return;
    const auto of = [&](IdleCause cause) { return gap.ns[static_cast<size_t>(cause)]; };
    int64_t host_ns = 0;
    for (const IdleCause cause : {IdleCause::kLaunch, IdleCause::kHostOp, IdleCause::kPython}) {
      SaturatingAdd(&host_ns, of(cause));
    }
    const LaunchCall& call = trace.launches[launch];
    SaturatingAdd(&facts->cold_ns, of(IdleCause::kModuleLoad));
    const LaunchCall* wait = waits.EndedIn(call.thread, gap.time.start_ns, call.start_ns);
    if (wait != nullptr) {
      // Without the wait, the host would be ahead by its duration.
      const int64_t wait_ns = LengthOf({wait->start_ns, wait->end_ns});
      const int64_t lost_ns = SaturatingSum(host_ns, of(IdleCause::kSync));
      placed->Add(Topic::kBlocking, trace.strings.View(wait->api), wait->thread, wait->start_ns,
                  {1, wait_ns, std::min(lost_ns, wait_ns)});
      host_ns = std::min(host_ns, lost_ns - std::min(lost_ns, wait_ns));
    }
    SaturatingAdd(&facts->host_bound_ns, host_ns);
    if (gap.next->IsKernel() && host_ns <= advice::kLaunchWaitNs) {
      (*waits_ns)[gap.next->index] = static_cast<uint32_t>(host_ns);
    }
  });
}

void AddWindow(const Run& run, const std::vector<Interval>& windows, RankFacts* facts) {
  std::set<int32_t> devices;
  for (const DeviceEvent& event : run.device_work().events()) devices.insert(event.device_id);
  facts->gpus = static_cast<int64_t>(devices.size());
  for (const Interval& window : windows) SaturatingAdd(&facts->window_ns, LengthOf(window));
}

void AddAdviceRunFactsSteps(const Run& run, RankFacts* facts) {
  const std::span<const Step> steps = run.steps().all();
  // A period of kernels is a repetition: of a layer, a token, a step. Rules of steps are not for
  // it.
  const StepSource source = run.steps().source();
  facts->has_steps = source == StepSource::kRanges || source == StepSource::kPattern;
  const std::vector<StepTimes> times = StepTimesOf(run);
  const bool all =
      std::none_of(steps.begin(), steps.end(), [](const Step& s) { return s.steady(); });
  const int64_t origin_ns = run.origin_ns();
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto part = [&](const auto& list, TimeClass of) {
      return list[static_cast<size_t>(of)].value_or(0);
    };
    const int64_t total_ns = LengthOf(steps[i].span);
    const int64_t loader_ns = part(times[i].parts, TimeClass::kDataLoader);
    const StepFact fact{LengthOf({origin_ns, steps[i].span.start_ns}), steps[i].number, total_ns,
                        loader_ns, steps[i].state};
    if (!steps[i].steady() && !all) {
      if (steps[i].complete) facts->left_out.push_back(fact);
      continue;
    }
    facts->steps.push_back(fact);
    SaturatingAdd(&facts->steps_ns, total_ns);
    SaturatingAdd(&facts->dataloader_ns, loader_ns);
    SaturatingAdd(&facts->comm_exposed_ns, part(times[i].exposed, TimeClass::kComm));
    SaturatingAdd(&facts->memcpy_exposed_ns, part(times[i].exposed, TimeClass::kMemcpy));
  }
  std::sort(facts->steps.begin(), facts->steps.end());
  std::sort(facts->left_out.begin(), facts->left_out.end());
}

void AddCopies(const Run& run, const std::vector<Interval>& windows, PlacedFacts* placed) {
  const Trace& trace = run.trace();
  for (const DeviceEvent& event : run.device_work().events()) {
    if (event.work != WorkClass::kCopy || !IsWithin(windows, event.start_ns)) continue;
    const MemoryCopy& copy = trace.copies[event.index];
    if (!IsPageable(copy)) continue;
    const LaunchIndex launch = run.device_work().LaunchOf(event);
    const LaunchCall none;
    const LaunchCall& call = launch == kNoLaunch ? none : trace.launches[launch];
    const bool to_device = copy.source_kind == MemoryKind::kPageable;
    placed->Add(Topic::kPageable, to_device ? "host to GPU" : "GPU to host",
                launch == kNoLaunch ? kNoThread : call.thread, call.start_ns,
                {1, event.duration_ns(), event.duration_ns()});
  }
}

bool TakesDriverMemory(std::string_view api) {
  constexpr std::string_view kCalls[] = {"Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister"};
  if (api.find("Async") != api.npos) return false;  // From a pool, ordered by a stream.
  return std::ranges::any_of(kCalls,
                             [&](std::string_view part) { return api.find(part) != api.npos; });
}

/// Allocations from the driver in all steps except the first.
void AddAllocations(const Run& run, PlacedFacts* placed) {
  const auto steps = run.steps().all();
  if (run.steps().source() == StepSource::kNone || steps.size() < 2) return;
  const Trace& trace = run.trace();
  TextFilter takes(trace, TakesDriverMemory);
  for (const LaunchCall& call : trace.launches) {
    if (!takes.Fits(call.api)) continue;
    if (call.start_ns < steps[1].host.start_ns || call.start_ns >= steps.back().host.end_ns) {
      continue;
    }
    const int64_t length_ns = LengthOf({call.start_ns, call.end_ns});
    placed->Add(Topic::kAllocation, trace.strings.View(call.api), call.thread, call.start_ns,
                {1, length_ns, length_ns});
  }
}

void AddCollectives(const Run& run, const std::vector<Interval>& windows, RankFacts* facts) {
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

void GatherRunFacts(const Run& run, advice::RankFacts* facts, std::vector<uint32_t>* waits_ns) {
  const Trace& trace = run.trace();
  facts->has_run = true;
  facts->has_launches = !trace.launches.empty();
  AddMemory(trace, facts);
  AddParallel(trace, facts);
  const std::vector<Interval> windows = WindowsOf(run);
  if (run.device_work().events().empty() || windows.empty()) return;
  PlacedFacts placed(run);
  AddGaps(run, windows, facts, waits_ns, &placed);
  AddWindow(run, windows, facts);
  AddAdviceRunFactsSteps(run, facts);
  AddCopies(run, windows, &placed);
  AddAllocations(run, &placed);
  AddCollectives(run, windows, facts);
  placed.Finish(facts);
}

}  // namespace oplens::prof
