#include "prof/compat/hta/events.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "prof/compat/hta/activity.h"

namespace oplens::prof {
namespace {

bool HoldsPattern(std::string_view text, const re2::RE2& pattern) {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

/// As PyTorch's profiler names it; ROCm reports no kind of memory except "Host".
std::string CopyName(const MemoryCopy& copy) {
  const auto title = [](MemoryKind kind, bool host) {
    const std::string_view known = MemoryKindTitle(kind);
    return !known.empty() ? known : host ? "Host" : "Unknown";
  };
  return fmt::format("Memcpy {} ({} -> {})", CopyKindWord(copy.copy_kind),
                     title(copy.source_kind, copy.copy_kind == CopyKind::kHostToDevice),
                     title(copy.target_kind, copy.copy_kind == CopyKind::kDeviceToHost));
}

int64_t HtaClampedUs(double us) {
  constexpr double kMost = 4e15;
  return std::isnan(us) ? 0 : static_cast<int64_t>(std::clamp(us, -kMost, kMost));
}

}  // namespace

double HtaMicroseconds(int64_t ns) {
  return static_cast<double>(static_cast<long double>(ns) / 1000.0L);
}

int64_t HtaWholeUs(double us) {
  constexpr double kLimit = 9e18;
  return static_cast<int64_t>(std::clamp(us, -kLimit, kLimit));
}

int64_t HtaStartUs(double us) { return HtaClampedUs(std::ceil(us)); }
int64_t HtaEndUs(double us) { return HtaClampedUs(std::floor(us)); }

std::string HtaShortName(std::string_view name) {
  if (HtaClassOf(name) == HtaClass::kMemory || name.find_first_of("<(") == std::string_view::npos) {
    return std::string(name);
  }
  std::string kept;
  // Removes the text up to the opening bracket; without one, everything before.
  const auto close = [&kept](char opening) {
    const size_t at = kept.rfind(opening);
    kept.resize(at == std::string::npos ? 0 : at);
  };
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '-' && i + 1 < name.size() && name[i + 1] == '>') {
      ++i;  // The arrow "->" is no bracket.
    } else if (name[i] == '>') {
      close('<');
    } else if (name[i] == ')') {
      close('(');
    } else {
      kept += name[i];
    }
  }
  return kept.substr(kept.rfind(' ') + 1);
}

double HtaQuantile(std::span<const double> values, double part) {
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - std::floor(place));
}

std::optional<int64_t> HtaLastStepUs(const Trace& trace) {
  std::set<StringId> steps;  // Names.
  int64_t last_ns = INT64_MIN;
  const auto add_step = [&](StringId name, int64_t start_ns) {
    steps.insert(name);
    last_ns = std::max(last_ns, start_ns);
  };
  for (const Range& range : trace.ranges) {
    if (range.kind == RangeKind::kStep) add_step(range.text, range.start_ns);
  }
  // The shadows of host steps on the GPU count too.
  for (const DeviceAnnotation& annotation : trace.device_annotations) {
    const std::string_view text = trace.strings.View(annotation.text);
    if (text.starts_with("ProfilerStep#")) add_step(annotation.text, annotation.start_ns);
  }
  if (steps.size() < 2) return std::nullopt;
  return HtaWholeUs(std::ceil(HtaMicroseconds(last_ns)));
}

std::string_view HtaClassWord(HtaClass kind) {
  constexpr std::string_view kWords[kHtaClassCount] = {"COMPUTATION", "COMMUNICATION", "MEMORY",
                                                       "OTHER"};
  return kWords[static_cast<size_t>(kind)];
}

HtaClass HtaClassOf(std::string_view name) {
  static const auto* const communication = new re2::RE2("^(?:nccl|hip|hccl)|ncclKernel");
  static const auto* const memory = new re2::RE2("^(?:(?:hip)?Mem(?:cpy|set)|dma)");
  static const auto* const no_computation = new re2::RE2(
      "Memcpy|Memset|dma|Sync|^Stream Wait "
      "Event|^cuda.*LaunchKernel|^(?:runFunction|job_exe|packet|"
      "pe_exe|cpum_exe_subgraph|collective_subgraph_execution)");
  if (HoldsPattern(name, *communication)) return HtaClass::kCommunication;
  if (HoldsPattern(name, *memory)) return HtaClass::kMemory;
  return HoldsPattern(name, *no_computation) ? HtaClass::kOther : HtaClass::kComputation;
}

HtaEvents::HtaEvents(const Trace& trace) : trace_(trace), last_step_us_(HtaLastStepUs(trace)) {
  AddKernels();
  AddTransfers();
  AddWaits();
  AddOperators();
  AddAccelerators();
}

bool HtaEvents::IsCut(LaunchIndex launch) const {
  if (!last_step_us_) return false;
  return launch == kNoLaunch ||
         HtaWholeUs(std::ceil(HtaMicroseconds(trace_.launches[launch].start_ns))) >= *last_step_us_;
}

uint32_t HtaEvents::Name(std::string text) {
  kinds_.push_back(HtaClassOf(text));
  names_.push_back(std::move(text));
  return static_cast<uint32_t>(names_.size() - 1);
}

void HtaEvents::Add(int64_t start_ns, int64_t end_ns, uint32_t name) {
  int64_t duration_ns = 0;
  if (__builtin_sub_overflow(end_ns, start_ns, &duration_ns)) return;
  const double start_us = HtaMicroseconds(start_ns);
  AddMoment(start_us, start_us + HtaMicroseconds(duration_ns), name);
}

void HtaEvents::AddMoment(double start_us, double end_us, uint32_t name) {
  events_.push_back(
      {HtaWholeUs(std::ceil(start_us)), HtaWholeUs(std::floor(end_us)), name, kinds_[name]});
}

void HtaEvents::AddKernels() {
  constexpr uint32_t kNew = UINT32_MAX;
  std::vector<uint32_t> known(trace_.strings.size(), kNew);
  for (const Kernel& kernel : trace_.kernels) {
    if (kernel.stream_id < 0 || IsCut(kernel.launch)) continue;
    uint32_t& name = known[kernel.name];
    if (name == kNew) name = Name(std::string(trace_.strings.View(kernel.name)));
    Add(kernel.start_ns, kernel.end_ns, name);
  }
}

void HtaEvents::AddTransfers() {
  std::map<std::string, uint32_t> known;
  const auto name_of = [&](std::string text) {
    const auto [place, is_new] = known.emplace(std::move(text), 0);
    if (is_new) place->second = Name(place->first);
    return place->second;
  };
  for (const MemoryCopy& copy : trace_.copies) {
    if (copy.stream_id < 0 || IsCut(copy.launch)) continue;
    Add(copy.start_ns, copy.end_ns, name_of(CopyName(copy)));
  }
  for (const MemorySet& set : trace_.sets) {
    if (set.stream_id < 0 || IsCut(set.launch)) continue;
    Add(set.start_ns, set.end_ns, name_of("Memset (Device)"));
  }
}

void HtaEvents::AddWaits() {
  if (trace_.synchronizations.empty()) return;
  const uint32_t name = Name("Stream Sync");
  for (const Synchronization& wait : trace_.synchronizations) {
    if ((wait.stream_id < 0 && !wait.of_all_streams) || IsCut(wait.launch)) continue;
    Add(wait.start_ns, wait.end_ns, name);
  }
}

void HtaEvents::AddOperators() {
  for (const Range& range : trace_.ranges) {
    const Operator* const op = trace_.OperatorOf(range);
    if (op == nullptr || range.open() || !op->stream) continue;
    if (last_step_us_ && HtaWholeUs(std::ceil(HtaMicroseconds(range.start_ns))) >= *last_step_us_)
      continue;
    Add(range.start_ns, range.end_ns, Name(std::string(trace_.strings.View(range.text))));
  }
}

void HtaEvents::AddAccelerators() {
  if (trace_.accelerator_events.empty()) return;
  std::unordered_map<int64_t, LaunchIndex> launches;  // By correlation id.
  if (last_step_us_) {
    for (size_t i = 0; i < trace_.launches.size(); ++i) {
      launches[trace_.launches[i].correlation_id] = static_cast<LaunchIndex>(i);
    }
  }
  std::unordered_map<StringId, uint32_t> names;
  for (const TorchEvent& event : trace_.accelerator_events) {
    const auto launch = launches.find(event.correlation_id);
    if (event.thread_id == -1 || IsCut(launch == launches.end() ? kNoLaunch : launch->second)) {
      continue;
    }
    const auto [name, is_new] = names.emplace(event.name, 0);
    if (is_new) name->second = Name(std::string(trace_.strings.View(event.name)));
    AddMoment(event.start_us, event.end_us, name->second);
  }
}

std::vector<HtaInterval> MergeHtaEvents(std::span<const HtaEvent> events, unsigned classes) {
  std::vector<HtaInterval> sorted;
  for (const HtaEvent& event : events) {
    if ((classes >> static_cast<unsigned>(event.kind) & 1) == 0) continue;
    sorted.push_back({event.start_us, event.end_us});
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const HtaInterval& a, const HtaInterval& b) {
    return a.start_us < b.start_us;
  });
  std::vector<HtaInterval> merged;
  int64_t last_end_us = INT64_MIN;  // Of all events so far, including those of other intervals.
  for (const HtaInterval& event : sorted) {
    if (merged.empty() || event.start_us > last_end_us) {
      merged.push_back(event);
    } else {
      merged.back().end_us = std::max(merged.back().end_us, event.end_us);
    }
    last_end_us = std::max(last_end_us, event.end_us);
  }
  return merged;
}

int64_t HtaLengthUs(std::span<const HtaInterval> intervals) {
  int64_t length = 0;
  for (const HtaInterval& interval : intervals) {
    int64_t own = 0;
    if (__builtin_sub_overflow(interval.end_us, interval.start_us, &own) ||
        __builtin_add_overflow(length, own, &length)) {
      return INT64_MAX / 1000;
    }
  }
  return length;
}

void AddHtaMoments(std::span<const HtaInterval> intervals, int64_t weight,
                   std::vector<HtaMoment>* moments) {
  for (const HtaInterval& interval : intervals) moments->push_back({interval.start_us, weight});
  for (const HtaInterval& interval : intervals) moments->push_back({interval.end_us, -weight});
}

void SortHtaMoments(std::vector<HtaMoment>* moments) {
  std::vector<int64_t> times_us;
  for (const HtaMoment& moment : *moments) times_us.push_back(moment.time_us);
  std::vector<HtaMoment> sorted;
  for (const uint32_t place : HtaOrder(times_us)) sorted.push_back((*moments)[place]);
  *moments = std::move(sorted);
}

}  // namespace oplens::prof
