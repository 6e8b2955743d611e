#include "prof/run/device_work.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "ops/kernels/communication.h"
#include "parse/join/gpu_work.h"
#include "parse/join/joined.h"
#include "parse/join/surroundings.h"

namespace oplens::prof {
namespace {

/// Whether its times give a duration.
template <typename Work>
bool HasTime(const Work& work) {
  int64_t duration_ns = 0;
  return (work.start_ns != 0 || work.end_ns != 0) &&
         !__builtin_sub_overflow(work.end_ns, work.start_ns, &duration_ns) && duration_ns >= 0;
}

/// The answer for a text.
enum class DeviceWorkVerdict : uint8_t {
  kUnasked,
  kNo,
  kYes,
  kNever,  ///< No, overriding other evidence.
};

/// Evaluates each distinct text once.
class Verdicts {
 public:
  Verdicts(const StringPool& strings, DeviceWorkVerdict (*judge)(std::string_view text))
      : strings_(strings), judge_(judge), known_(strings.size(), DeviceWorkVerdict::kUnasked) {}

  DeviceWorkVerdict Of(StringId text) {
    DeviceWorkVerdict& verdict = known_[text];
    if (verdict == DeviceWorkVerdict::kUnasked) verdict = judge_(strings_.View(text));
    return verdict;
  }

 private:
  const StringPool& strings_;
  DeviceWorkVerdict (*judge_)(std::string_view text);
  std::vector<DeviceWorkVerdict> known_;  // By text.
};

/// Recognises kernels launched by a collective: the innermost range around their call is one.
class CollectiveCalls {
 public:
  explicit CollectiveCalls(const parse::Joined& joined)
      : joined_(joined), ranges_(joined.trace().strings, [](std::string_view name) {
          return ops::IsCommunicationRange(name) ? DeviceWorkVerdict::kYes : DeviceWorkVerdict::kNo;
        }) {}

  bool Launched(size_t kernel) {
    const auto* around = joined_.SurroundingsOf(static_cast<parse::WorkIndex>(kernel));
    if (around != last_) {
      last_ = around;
      answer_ = around != nullptr && IsCollective(*around);
    }
    return answer_;
  }

 private:
  bool IsCollective(const parse::Surroundings& around) {
    // Ranges of a thread are numbered in opening order.
    std::optional<uint32_t> innermost;
    for (const auto list :
         {parse::Around::kOps, parse::Around::kSequences, parse::Around::kPaths}) {
      for (const uint32_t range : joined_.RangesOf(around, list)) {
        innermost = std::max(innermost.value_or(range), range);
      }
    }
    return innermost &&
           ranges_.Of(joined_.trace().ranges[*innermost].text) == DeviceWorkVerdict::kYes;
  }

  const parse::Joined& joined_;
  Verdicts ranges_;
  const parse::Surroundings* last_ = nullptr;  // Calls within the same ranges share one.
  bool answer_ = false;
};

}  // namespace

void Extend(int64_t start_ns, int64_t end_ns, std::optional<Interval>* extent) {
  if (end_ns < start_ns) return;
  if (!*extent) {
    *extent = Interval{start_ns, end_ns};
    return;
  }
  (*extent)->start_ns = std::min((*extent)->start_ns, start_ns);
  (*extent)->end_ns = std::max((*extent)->end_ns, end_ns);
}

std::optional<Interval> HostExtent(const Trace& trace, const DeviceWork& work) {
  std::optional<Interval> extent;
  for (const Range& range : trace.ranges) {
    const bool ends = !range.open() && range.end_ns >= range.start_ns;
    Extend(range.start_ns, ends ? range.end_ns : range.start_ns, &extent);
  }
  for (const DeviceEvent& event : work.events()) {
    const LaunchIndex launch = work.LaunchOf(event);
    if (launch == kNoLaunch) continue;
    Extend(trace.launches[launch].start_ns, trace.launches[launch].end_ns, &extent);
  }
  return extent;
}

std::optional<Interval> RunExtent(const Trace& trace, const DeviceWork& work) {
  std::optional<Interval> extent = HostExtent(trace, work);
  if (!work.events().empty()) Extend(work.first_ns(), work.last_ns(), &extent);
  return extent;
}

DeviceWork::DeviceWork(const parse::Joined& joined) : trace_(joined.trace()) {
  Classify(joined);
  events_.reserve(trace_.kernels.size() + trace_.copies.size() + trace_.sets.size() +
                  trace_.graph_replays.size());
  const auto before = [](const DeviceEvent& a, const DeviceEvent& b) {
    return std::tie(a.start_ns, a.work, a.index) < std::tie(b.start_ns, b.work, b.index);
  };
  // Each list mostly ascends.
  const auto add_all = [&](const auto& list, auto class_of) {
    const auto known = static_cast<std::ptrdiff_t>(events_.size());
    for (size_t i = 0; i < list.size(); ++i) {
      if (!HasTime(list[i])) {
        ++untimed_;
        continue;
      }
      events_.push_back({list[i].start_ns, list[i].end_ns, static_cast<uint32_t>(i),
                         list[i].device_id, list[i].stream_id, class_of(i)});
    }
    const auto added = events_.begin() + known;
    if (!std::is_sorted(added, events_.end(), before)) std::sort(added, events_.end(), before);
    std::inplace_merge(events_.begin(), added, events_.end(), before);
  };
  add_all(trace_.kernels, [&](size_t i) {
    return communication_[i] ? WorkClass::kCommunication : WorkClass::kCompute;
  });
  add_all(trace_.copies, [](size_t) { return WorkClass::kCopy; });
  add_all(trace_.sets, [](size_t) { return WorkClass::kFill; });
  add_all(trace_.graph_replays, [](size_t) { return WorkClass::kReplay; });
  FindExtent();
}

void DeviceWork::FindExtent() {
  first_ns_ = events_.empty() ? 0 : events_.front().start_ns;
  last_ns_ = first_ns_;
  for (const DeviceEvent& event : events_) last_ns_ = std::max(last_ns_, event.end_ns);
}

void DeviceWork::Classify(const parse::Joined& joined) {
  Verdicts by_name(trace_.strings, [](std::string_view name) {
    if (ops::IsCommunicationKernel(name)) return DeviceWorkVerdict::kYes;
    return ops::IsTensorKernel(name) ? DeviceWorkVerdict::kNever : DeviceWorkVerdict::kNo;
  });
  CollectiveCalls calls(joined);
  communication_.resize(trace_.kernels.size());
  for (size_t i = 0; i < trace_.kernels.size(); ++i) {
    const Kernel& kernel = trace_.kernels[i];
    const DeviceWorkVerdict verdict = by_name.Of(kernel.name);
    communication_[i] = verdict == DeviceWorkVerdict::kYes ||
                        trace_.DetailsOf(kernel).communication != kNoItem ||
                        (verdict == DeviceWorkVerdict::kNo && calls.Launched(i));
  }
}

LaunchIndex DeviceWork::LaunchOf(const DeviceEvent& event) const {
  switch (event.work) {
    case WorkClass::kCopy:
      return trace_.copies[event.index].launch;
    case WorkClass::kFill:
      return trace_.sets[event.index].launch;
    case WorkClass::kReplay:
      return trace_.graph_replays[event.index].launch;
    default:
      return trace_.kernels[event.index].launch;
  }
}

LaunchIndex DeviceWork::OriginOf(const DeviceEvent& event) const {
  const LaunchIndex capture = event.IsKernel() ? trace_.kernels[event.index].capture : kNoLaunch;
  return capture != kNoLaunch ? capture : LaunchOf(event);
}

}  // namespace oplens::prof
