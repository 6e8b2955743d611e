#include "prof/run/device_work.h"

#include <algorithm>
#include <tuple>

#include "ops/kernels/communication.h"
#include "parse/model/kernel_names.h"

namespace oplens::prof {
namespace {

/// Whether it has a time from which a length can be had.
template <typename Work>
bool HasTime(const Work& work) {
  int64_t duration_ns = 0;
  return (work.start_ns != 0 || work.end_ns != 0) &&
         !__builtin_sub_overflow(work.end_ns, work.start_ns, &duration_ns) && duration_ns >= 0;
}

}  // namespace

DeviceWork::DeviceWork(const parse::Joined& joined) : trace_(joined.trace()) {
  Classify(joined);
  events_.reserve(trace_.kernels.size() + trace_.copies.size() + trace_.sets.size() +
                  trace_.graph_replays.size());
  const auto add_all = [&](const auto& list, auto class_of) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (!HasTime(list[i])) {
        ++untimed_;
        continue;
      }
      events_.push_back({list[i].start_ns, list[i].end_ns, static_cast<uint32_t>(i),
                         list[i].device_id, list[i].stream_id, class_of(i)});
    }
  };
  add_all(trace_.kernels, [&](size_t i) {
    return communication_[i] ? WorkClass::kCommunication : WorkClass::kCompute;
  });
  add_all(trace_.copies, [](size_t) { return WorkClass::kCopy; });
  add_all(trace_.sets, [](size_t) { return WorkClass::kFill; });
  add_all(trace_.graph_replays, [](size_t) { return WorkClass::kReplay; });
  std::sort(events_.begin(), events_.end(), [](const DeviceEvent& a, const DeviceEvent& b) {
    return std::tie(a.start_ns, a.work, a.index) < std::tie(b.start_ns, b.work, b.index);
  });
  FindExtent();
}

void DeviceWork::FindExtent() {
  first_ns_ = events_.empty() ? 0 : events_.front().start_ns;
  last_ns_ = first_ns_;
  for (const DeviceEvent& event : events_) last_ns_ = std::max(last_ns_, event.end_ns);
}

void DeviceWork::Classify(const parse::Joined& joined) {
  enum : uint8_t { kUnasked, kNo, kYes };
  std::vector<uint8_t> by_name(trace_.strings.size(), kUnasked);
  const auto is_named = [&](StringId name) {
    uint8_t& known = by_name[name];
    if (known == kUnasked) {
      known = ops::IsCommunicationKernel(trace_.strings.View(name)) ? kYes : kNo;
    }
    return known == kYes;
  };
  communication_.resize(trace_.kernels.size());
  for (size_t i = 0; i < trace_.kernels.size(); ++i) {
    const Kernel& kernel = trace_.kernels[i];
    communication_[i] = trace_.DetailsOf(kernel).communication != kNoItem || is_named(kernel.name);
  }
  static_cast<void>(joined);
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
