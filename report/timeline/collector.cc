#include "report/timeline/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "parse/model/kernel_names.h"
#include "parse/model/kernel_record.h"
#include "prof/run/device_work.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "report/data/pack.h"
#include "report/timeline/counters.h"
#include "report/timeline/path_strip.h"
#include "report/timeline/windows.h"

namespace oplens::report {
namespace {

/// Of the critical paths of all inputs.
constexpr size_t kMostBucketsOfPaths = 65536;

std::string_view CollectorWordOf(prof::StepSource source) {
  switch (source) {
    case prof::StepSource::kRanges:
      return "ranges";
    case prof::StepSource::kPattern:
      return "pattern";
    case prof::StepSource::kRepetition:
      return "repetition";
    case prof::StepSource::kNone:
      break;
  }
  return "none";
}

Rank RankOf(const prof::Run& run) {
  Rank rank;
  rank.rank = std::string(run.rank());
  const auto extent = prof::RunExtent(run.trace(), run.device_work());
  rank.origin_ns = run.origin_ns();
  if (extent) rank.duration_ns = std::max<int64_t>(Since(extent->end_ns, rank.origin_ns), 0);
  for (const Device& device : run.trace().devices) {
    rank.devices.push_back({device.id, std::string(run.trace().strings.View(device.name))});
  }
  rank.steps_from = CollectorWordOf(run.steps().source());
  for (const prof::Step& step : run.steps().all()) {
    const auto since = [&](int64_t time_ns) { return Since(time_ns, rank.origin_ns); };
    rank.steps.push_back({step.number, since(step.span.start_ns), since(step.span.end_ns),
                          since(step.host.start_ns), since(step.host.end_ns), step.complete});
  }
  return rank;
}

/// The events of each stream, by start.
std::vector<std::vector<uint32_t>> ByStream(std::span<const prof::DeviceEvent> events) {
  std::map<std::pair<int32_t, int32_t>, std::vector<uint32_t>> streams;
  std::vector<uint32_t>* last = nullptr;
  std::pair<int32_t, int32_t> last_key;
  for (size_t i = 0; i < events.size(); ++i) {
    const std::pair key(events[i].device_id, events[i].stream_id);
    if (last == nullptr || key != last_key) last = &streams[key];
    last_key = key;
    last->push_back(static_cast<uint32_t>(i));
  }
  std::vector<std::vector<uint32_t>> lists;
  for (auto& [key, list] : streams) lists.push_back(std::move(list));
  return lists;
}

}  // namespace

void Collector::Begin(const prof::Run* run) {
  run_ = run;
  kernel_signatures_.clear();
  records_.clear();
  record_devices_.clear();
  device_bytes_ = 0;
  if (run != nullptr) kernel_signatures_.assign(run->trace().kernels.size(), Signatures::kNone);
}

void Collector::Add(const prof::PricedKernel& kernel) {
  const KernelRecord& record = *kernel.record;
  if (kernel.work < kernel_signatures_.size()) {
    kernel_signatures_[kernel.work] = timeline_.signatures.OfKernel(
        kernel, run_->device_work().IsCommunication(kernel.work) ? EventClass::kCommunication
                                                                 : EventClass::kCompute);
    return;
  }
  if (!record.timed() || !record.start_ns || kernel.work != prof::PricedKernel::kNoWork) return;
  LaneEvent event;
  event.start_ns = *record.start_ns;
  event.duration_ns = std::max<int64_t>(record.duration_ns, 0);
  event.signature = timeline_.signatures.OfKernel(kernel, EventClass::kCompute);
  const std::string rank(record.rank.value_or(std::string_view()));
  records_[{rank, record.device_id, record.stream_id}].push_back(event);
  std::string& device = record_devices_[rank][record.device_id];
  if (device.empty() && record.device_name) device = *record.device_name;
}

Lane Collector::StreamOf(const StreamKey& key) const {
  Lane lane;
  lane.rank = std::get<0>(key);
  lane.device = std::get<1>(key);
  lane.stream = std::get<2>(key);
  lane.name = fmt::format("stream {}", lane.stream);
  return lane;
}

/// Fills a lane with its events; packs no more than may fit.
void Collector::PackStream(const std::vector<LaneEvent>& events, std::span<const Window> windows,
                           Lane* lane) {
  lane->events = events.size();
  lane->start_ns = events.front().start_ns;
  lane->end_ns = lane->start_ns;
  for (const LaneEvent& event : events) lane->end_ns = std::max(lane->end_ns, event.end_ns());
  lane->levels = MakePyramid(events, timeline_.signatures.size());
  const size_t most = options_.limit_bytes / std::max<size_t>(options_.inputs, 1);
  std::vector<std::pair<size_t, size_t>> order;  // (window, chunk); chunks in windows come first.
  const auto part_of = [&](size_t chunk) {
    const size_t begin = chunk * EventChunk::kMaxEvents;
    return std::span(events).subspan(begin,
                                     std::min(events.size() - begin, EventChunk::kMaxEvents));
  };
  lane->chunks.resize((events.size() + EventChunk::kMaxEvents - 1) / EventChunk::kMaxEvents);
  for (size_t i = 0; i < lane->chunks.size(); ++i) {
    EventChunk& chunk = lane->chunks[i];
    chunk.start_ns = part_of(i).front().start_ns;
    chunk.count = part_of(i).size();
    chunk.covers_from_ns = chunk.start_ns;
    chunk.covers_to_ns = i + 1 < lane->chunks.size() ? part_of(i + 1).front().start_ns : INT64_MAX;
    const int64_t last_ns = part_of(i).back().start_ns;
    while (chunk.window < windows.size() && (last_ns < windows[chunk.window].host.start_ns ||
                                             chunk.start_ns >= windows[chunk.window].host.end_ns)) {
      ++chunk.window;
    }
    if (chunk.window == windows.size()) chunk.window = EventChunk::kNoWindow;
    order.emplace_back(chunk.window, i);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [window, i] : order) {
    if (device_bytes_ >= most) break;
    lane->chunks[i] = PackEvents(part_of(i), false, lane->chunks[i].covers_to_ns);
    lane->chunks[i].window = window;
    device_bytes_ += Base64Length(lane->chunks[i].packed.size());
  }
}

uint32_t Collector::SignatureOf(const prof::DeviceEvent& event) {
  const Trace& trace = run_->trace();
  switch (event.work) {
    case prof::WorkClass::kCopy:
      return timeline_.signatures.OfCopy(trace.copies[event.index]);
    case prof::WorkClass::kFill:
      return timeline_.signatures.OfFill(trace.sets[event.index]);
    case prof::WorkClass::kReplay:
      return timeline_.signatures.OfReplay(trace.graph_replays[event.index]);
    case prof::WorkClass::kCompute:
    case prof::WorkClass::kCommunication:
      break;
  }
  const uint32_t known = kernel_signatures_[event.index];
  if (known != Signatures::kNone) return known;
  return timeline_.signatures.OfName(run_->names().Of(trace.kernels[event.index]).base,
                                     EventClass::kCompute);
}

/// The lanes of a run's streams, and the place of each GPU event on them.
std::vector<Lane> Collector::MakeStreams(std::vector<StreamPlace>* places) {
  const int64_t origin_ns = timeline_.ranks.back().origin_ns;
  const std::string rank(run_->rank());
  const std::vector<Window> windows = WindowsOf(run_->steps().all(), origin_ns);
  const std::span<const prof::DeviceEvent> events = run_->work().events();
  places->resize(events.size());
  std::vector<Lane> lanes;
  std::vector<LaneEvent> of_lane;
  for (const std::vector<uint32_t>& list : ByStream(events)) {
    const prof::DeviceEvent& first = events[list.front()];
    Lane lane = StreamOf({rank, first.device_id, first.stream_id});
    of_lane.clear();
    of_lane.reserve(list.size());
    for (const uint32_t i : list) {
      (*places)[i] = {static_cast<uint32_t>(lanes.size()), static_cast<uint32_t>(of_lane.size())};
      LaneEvent& shown = of_lane.emplace_back();
      shown.start_ns = Since(events[i].start_ns, origin_ns);
      shown.duration_ns = events[i].duration_ns();
      shown.signature = SignatureOf(events[i]);
    }
    PackStream(of_lane, windows, &lane);
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

/// The size limit for host events of the input: a quarter of its limit is for tables and the
/// overview, the rest for events, of which host events get at least three tenths of the limit.
size_t Collector::HostBytes() const {
  const size_t part = options_.limit_bytes / std::max<size_t>(options_.inputs, 1);
  const size_t events = part / 4 * 3;
  return std::max(part / 10 * 3, events - std::min(events, device_bytes_));
}

void Collector::End(const prof::Run* run) {
  if (run == nullptr) return EndRecords();
  run_ = run;
  timeline_.ranks.push_back(RankOf(*run));
  const int64_t origin_ns = timeline_.ranks.back().origin_ns;
  std::vector<StreamPlace> places;
  std::vector<Lane> streams = MakeStreams(&places);
  kernel_signatures_.clear();
  kernel_signatures_.shrink_to_fit();
  StripMaker strips(timeline_.ranks.back().rank, origin_ns, run->steps().all().size(),
                    kMostBucketsOfPaths / std::max<size_t>(options_.inputs, 1));
  const PathPairs path = CriticalPairsOf(*run, &strips);
  for (PathStrip& strip : strips.Take()) timeline_.strips.push_back(std::move(strip));
  HostLanes host(*run, origin_ns, HostBytes(), options_.limit_bytes, &timeline_);
  if (options_.host) host.Make(path);
  // Lanes of threads precede lanes of streams.
  const auto first_stream = static_cast<uint32_t>(timeline_.lanes.size());
  for (StreamPlace& place : places) place.lane += first_stream;
  std::move(streams.begin(), streams.end(), std::back_inserter(timeline_.lanes));
  AddLaunches(host, places);
  AddPaths(path, host, places);
  for (Counter& counter : MemoryCounters(run->trace(), origin_ns, std::string(run->rank()))) {
    timeline_.counters.push_back(std::move(counter));
  }
}

/// nullopt if its chunk was not made.
std::optional<Link::End> Collector::PlaceOf(const StreamPlace& place) const {
  if (place.lane >= timeline_.lanes.size()) return std::nullopt;
  Link::End end;
  end.lane = place.lane;
  end.chunk = static_cast<uint32_t>(place.at / EventChunk::kMaxEvents);
  end.place = static_cast<uint32_t>(place.at % EventChunk::kMaxEvents);
  if (timeline_.lanes[end.lane].chunks[end.chunk].packed.empty()) return std::nullopt;
  return end;
}

/// Links calls to the work that they launched. `places`: of the events of Run::work().
void Collector::AddLaunches(const HostLanes& host, std::span<const StreamPlace> places) {
  const std::span<const prof::DeviceEvent> events = run_->work().events();
  for (size_t i = 0; i < events.size(); ++i) {
    const LaunchIndex launch = run_->work().LaunchOf(events[i]);
    if (launch == kNoLaunch) continue;
    const std::optional<Link::End> from = host.PlaceOfCall(launch);
    const std::optional<Link::End> to = from ? PlaceOf(places[i]) : std::nullopt;
    if (to) timeline_.links.push_back({Link::Kind::kLaunch, *from, *to});
  }
}

/// Links events along the critical path.
void Collector::AddPaths(const PathPairs& path, const HostLanes& host,
                         std::span<const StreamPlace> places) {
  // The path covers all work, but only a part may be shown; both are ordered by start.
  const std::span<const prof::DeviceEvent> all = run_->device_work().events();
  const std::span<const prof::DeviceEvent> events = run_->work().events();
  std::vector<uint32_t> shown_of;
  if (all.size() != events.size()) {
    shown_of.assign(all.size(), UINT32_MAX);
    for (size_t i = 0, shown = 0; i < all.size() && shown < events.size(); ++i) {
      const bool same = all[i].work == events[shown].work && all[i].index == events[shown].index;
      if (same) shown_of[i] = static_cast<uint32_t>(shown++);
    }
  }
  const auto place_of = [&](const prof::PathSubject& subject) -> std::optional<Link::End> {
    switch (subject.kind) {
      case prof::PathSubject::Kind::kRange:
        return host.PlaceOfRange(subject.index);
      case prof::PathSubject::Kind::kCall:
        return host.PlaceOfCall(subject.index);
      case prof::PathSubject::Kind::kWork: {
        const uint32_t shown = shown_of.empty() ? subject.index : shown_of[subject.index];
        return shown < places.size() ? PlaceOf(places[shown]) : std::nullopt;
      }
      case prof::PathSubject::Kind::kNothing:
        break;
    }
    return std::nullopt;
  };
  path.ForEach([&](const prof::PathSubject& before, const prof::PathSubject& after) {
    const std::optional<Link::End> from = place_of(before);
    const std::optional<Link::End> to = from ? place_of(after) : std::nullopt;
    if (to) timeline_.links.push_back({Link::Kind::kCritical, *from, *to});
  });
}

/// Records contain only kernels: each rank begins with its first one.
void Collector::EndRecords() {
  std::map<std::string, prof::Interval> extents;
  for (auto& [key, events] : records_) {
    std::stable_sort(events.begin(), events.end(), [](const LaneEvent& a, const LaneEvent& b) {
      return a.start_ns < b.start_ns;
    });
    const auto [at, is_new] =
        extents.try_emplace(std::get<0>(key), prof::Interval{events.front().start_ns, INT64_MIN});
    at->second.start_ns = std::min(at->second.start_ns, events.front().start_ns);
    for (const LaneEvent& event : events) {
      at->second.end_ns = std::max(at->second.end_ns, event.end_ns());
    }
  }
  for (const auto& [name, extent] : extents) {
    Rank& rank = timeline_.ranks.emplace_back();
    rank.rank = name;
    rank.origin_ns = extent.start_ns;
    rank.duration_ns = Since(extent.end_ns, extent.start_ns);
    rank.steps_from = "none";
    for (const auto& [id, device] : record_devices_[name]) rank.devices.push_back({id, device});
  }
  for (auto& [key, events] : records_) {
    const int64_t origin_ns = extents.at(std::get<0>(key)).start_ns;
    for (LaneEvent& event : events) event.start_ns = Since(event.start_ns, origin_ns);
    Lane lane = StreamOf(key);
    PackStream(events, {}, &lane);
    timeline_.lanes.push_back(std::move(lane));
  }
  records_.clear();
}

void Collector::NameRun(std::string_view run) {
  Timeline& all = timeline_;
  const bool several = all.ranks.size() > named_.ranks + 1;
  const auto name = [&](std::string* rank) {
    *rank = several ? fmt::format("{}, rank {}", run, *rank) : std::string(run);
  };
  for (size_t i = named_.ranks; i < all.ranks.size(); ++i) {
    name(&all.ranks[i].rank);
    all.ranks[i].run = run;
  }
  for (size_t i = named_.lanes; i < all.lanes.size(); ++i) name(&all.lanes[i].rank);
  for (size_t i = named_.counters; i < all.counters.size(); ++i) name(&all.counters[i].rank);
  for (size_t i = named_.strips; i < all.strips.size(); ++i) name(&all.strips[i].rank);
  for (size_t i = named_.host; i < all.host.size(); ++i) name(&all.host[i].rank);
  named_ = {all.ranks.size(), all.lanes.size(), all.counters.size(), all.strips.size(),
            all.host.size()};
}

}  // namespace oplens::report
