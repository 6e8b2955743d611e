#include "report/timeline/host_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace oplens::report {
namespace {

/// A run with no more events than this keeps those of all steps.
constexpr size_t kWholeRunEvents = 131072;
constexpr size_t kMaxDepth = 255;

std::string NameOf(const Trace& trace, const Thread& thread) {
  const std::string_view name = trace.strings.View(thread.name);
  return name.empty() ? fmt::format("thread {}", thread.thread_id) : std::string(name);
}

}  // namespace

HostLanes::HostLanes(const prof::Run& run, int64_t origin_ns, size_t max_events, Timeline* timeline)
    : run_(run),
      trace_(run.trace()),
      origin_ns_(origin_ns),
      max_events_(max_events),
      timeline_(*timeline),
      names_(run.joined(), &timeline->signatures) {}

void HostLanes::SortCalls() {
  const size_t threads = trace_.threads.size();
  call_bounds_.assign(threads + 1, 0);
  for (const LaunchCall& call : trace_.launches) {
    if (call.thread < threads) ++call_bounds_[call.thread + 1];
  }
  for (size_t i = 0; i < threads; ++i) call_bounds_[i + 1] += call_bounds_[i];
  calls_.resize(call_bounds_.back());
  std::vector<size_t> next = call_bounds_;
  for (size_t i = 0; i < trace_.launches.size(); ++i) {
    const LaunchCall& call = trace_.launches[i];
    if (call.thread < threads) calls_[next[call.thread]++] = static_cast<LaunchIndex>(i);
  }
  const auto before = [this](LaunchIndex a, LaunchIndex b) {
    const LaunchCall& first = trace_.launches[a];
    const LaunchCall& second = trace_.launches[b];
    if (first.start_ns != second.start_ns) return first.start_ns < second.start_ns;
    return first.end_ns != second.end_ns ? first.end_ns > second.end_ns : a < b;
  };
  for (size_t i = 0; i < threads; ++i) {
    const auto begin = calls_.begin() + static_cast<std::ptrdiff_t>(call_bounds_[i]);
    const auto end = calls_.begin() + static_cast<std::ptrdiff_t>(call_bounds_[i + 1]);
    // Those that nothing refers to stand behind the others, each sorted for the most part.
    const auto rest = std::is_sorted_until(begin, end, before);
    if (std::is_sorted(rest, end, before)) {
      std::inplace_merge(begin, rest, end, before);
    } else {
      std::sort(begin, end, before);
    }
  }
}

/// Ranges and calls of a thread by their starts, with what is around them; of equal starts ranges
/// come first.
template <typename F>
void HostLanes::ForEach(ThreadIndex thread, F visit) const {
  const parse::ThreadRanges& ranges = run_.joined().threads();
  size_t range = thread < ranges.thread_count() ? ranges.BeginOf(thread) : 0;
  const size_t range_end = thread < ranges.thread_count() ? ranges.EndOf(thread) : 0;
  size_t call = call_bounds_[thread];
  const size_t call_end = call_bounds_[thread + 1];
  std::vector<int64_t> open;  // Ends of what is around.
  while (range < range_end || call < call_end) {
    HostEvent event;
    int64_t start_ns = 0;
    const bool range_next =
        range < range_end && (call == call_end || trace_.ranges[range].start_ns <=
                                                      trace_.launches[calls_[call]].start_ns);
    if (range_next) {
      const Range& at = trace_.ranges[range];
      event.index = static_cast<uint32_t>(range++);
      if (run_.joined().leaks().Has(event.index)) continue;
      start_ns = at.start_ns;
      event.end_ns = at.open() ? std::max(last_ns_, start_ns) : at.end_ns;
    } else {
      event.index = calls_[call++];
      event.is_call = true;
      start_ns = trace_.launches[event.index].start_ns;
      event.end_ns = trace_.launches[event.index].end_ns;
    }
    if (!run_.selects_all() && !run_.SelectsHost(start_ns)) continue;
    event.event.start_ns = Since(start_ns, origin_ns_);
    event.end_ns = std::max(Since(event.end_ns, origin_ns_), event.event.start_ns);
    event.event.duration_ns = Since(event.end_ns, event.event.start_ns);
    while (!open.empty() && open.back() <= event.event.start_ns) open.pop_back();
    event.depth = open.size();
    event.event.depth = static_cast<uint8_t>(std::min(event.depth, kMaxDepth));
    open.push_back(event.end_ns);
    visit(event);
  }
}

uint32_t HostLanes::SignatureOf(const HostEvent& event) {
  return event.is_call ? names_.OfCall(trace_.launches[event.index]) : names_.OfRange(event.index);
}

size_t HostLanes::BinOf(const Wanted& wanted, int64_t start_ns) const {
  const auto length =
      static_cast<double>(wanted.time.end_ns) - static_cast<double>(wanted.time.start_ns);
  const double since = static_cast<double>(start_ns) - static_cast<double>(wanted.time.start_ns);
  return std::min(static_cast<size_t>(std::max(since / length, 0.0) * kBins), kBins - 1);
}

/// Makes the lanes with their pyramids, and counts the events of each window.
void HostLanes::Survey() {
  std::vector<Window> windows = WindowsOf(run_.steps().all(), origin_ns_);
  for (size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].host.end_ns <= windows[i].host.start_ns) continue;
    wanted_.push_back({windows[i].host, 0, std::vector<size_t>(kBins, 0), i});
  }
  HostWish& wish = timeline_.host.emplace_back();
  wish.rank = std::string(run_.rank());
  for (const Window& window : windows) wish.steps.push_back(window.step);
  for (ThreadIndex thread = 0; thread < trace_.threads.size(); ++thread) {
    Lane lane;
    std::vector<LaneEvent> outermost;
    ForEach(thread, [&](HostEvent& event) {
      if (lane.events++ == 0) lane.start_ns = event.event.start_ns;
      lane.end_ns = std::max(lane.events == 1 ? event.end_ns : lane.end_ns, event.end_ns);
      lane.depth = std::max(lane.depth, int64_t{event.event.depth} + 1);
      for (Wanted& wanted : wanted_) {
        if (event.event.start_ns < wanted.time.start_ns) continue;
        if (event.event.start_ns >= wanted.time.end_ns) continue;
        ++wanted.events;
        ++wanted.bins[BinOf(wanted, event.event.start_ns)];
      }
      if (event.depth > 0) return;
      event.event.signature = SignatureOf(event);
      outermost.push_back(event.event);
    });
    if (lane.events == 0) continue;
    const Thread& of = trace_.threads[thread];
    lane.rank = std::string(run_.rank());
    lane.kind = Lane::Kind::kThread;
    lane.process = of.process_id;
    lane.thread = of.thread_id;
    lane.name = NameOf(trace_, of);
    lane.levels = MakePyramid(outermost, timeline_.signatures.size());
    events_ += lane.events;
    lanes_.emplace_back(thread, static_cast<uint32_t>(timeline_.lanes.size()));
    timeline_.lanes.push_back(std::move(lane));
  }
  wish.events = events_;
}

/// Which stretches of time go into chunks: all where that is little, else the windows, or the
/// beginning of one that has more than its part of what there may be.
void HostLanes::ChooseTimes() {
  HostWish& wish = timeline_.host.back();
  if (events_ <= std::min(kWholeRunEvents, max_events_)) {
    wish.whole = true;
    wanted_ = {{{INT64_MIN, INT64_MAX}, events_, {}, 0}};
    return;
  }
  const size_t most = max_events_ / std::max<size_t>(wanted_.size(), 1);
  for (Wanted& wanted : wanted_) {
    if (wanted.events <= most) continue;
    wish.cut = true;
    size_t kept = 0;
    size_t bin = 0;
    while (bin < kBins && kept + wanted.bins[bin] <= most) kept += wanted.bins[bin++];
    // Ends before the first start that is in the bin.
    int64_t low = wanted.time.start_ns;
    int64_t high = wanted.time.end_ns;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (BinOf(wanted, middle) < bin) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    wanted.time.end_ns = low;
  }
  std::erase_if(wanted_,
                [](const Wanted& wanted) { return wanted.time.end_ns <= wanted.time.start_ns; });
  std::sort(wanted_.begin(), wanted_.end(),
            [](const Wanted& a, const Wanted& b) { return a.time.start_ns < b.time.start_ns; });
  for (size_t i = 0; i + 1 < wanted_.size(); ++i) {
    wanted_[i].time.end_ns = std::min(wanted_[i].time.end_ns, wanted_[i + 1].time.start_ns);
  }
}

/// The events of each stretch with those that are around its beginning, unless these are in a
/// chunk already.
void HostLanes::PackThread(ThreadIndex thread, Lane* lane) {
  std::vector<HostEvent> events;
  std::vector<std::pair<HostEvent, bool>> around;  // And whether it is in a chunk.
  size_t next = 0;
  const auto finish = [&] {
    PackRun(events, wanted_[next], lane);
    events.clear();
    ++next;
  };
  ForEach(thread, [&](const HostEvent& event) {
    while (next < wanted_.size() && event.event.start_ns >= wanted_[next].time.end_ns) finish();
    if (next == wanted_.size()) return;
    while (!around.empty() && around.back().first.end_ns <= event.event.start_ns) around.pop_back();
    const bool inside = event.event.start_ns >= wanted_[next].time.start_ns;
    if (inside) {
      for (auto& [one, packed] : around) {
        if (!packed && one.end_ns > wanted_[next].time.start_ns) events.push_back(one);
        packed = true;
      }
      events.push_back(event);
    }
    around.emplace_back(event, inside);
  });
  while (next < wanted_.size()) finish();
}

void HostLanes::PackRun(const std::vector<HostEvent>& events, const Wanted& wanted, Lane* lane) {
  for (size_t begin = 0; begin < events.size(); begin += EventChunk::kMaxEvents) {
    const size_t end = std::min(begin + EventChunk::kMaxEvents, events.size());
    std::vector<LaneEvent> packed;
    for (size_t i = begin; i < end; ++i) {
      packed.push_back(events[i].event);
      packed.back().signature = SignatureOf(events[i]);
    }
    const int64_t until = end == events.size() ? wanted.time.end_ns : events[end].event.start_ns;
    NotePlaces({events.data() + begin, end - begin}, *lane);
    EventChunk chunk = PackEvents(packed, true, until);
    if (begin == 0) chunk.covers_from_ns = wanted.time.start_ns;
    chunk.window = wanted.place;
    lane->chunks.push_back(std::move(chunk));
  }
}

/// Remembers the events of the next chunk of a lane that links may begin or end at.
void HostLanes::NotePlaces(std::span<const HostEvent> events, const Lane& lane) {
  Link::End place;
  place.lane = static_cast<uint32_t>(&lane - timeline_.lanes.data());
  place.chunk = static_cast<uint32_t>(lane.chunks.size());
  for (size_t i = 0; i < events.size(); ++i) {
    place.place = static_cast<uint32_t>(i);
    const HostEvent& event = events[i];
    if (event.is_call) {
      call_places_.emplace(event.index, place);
      continue;
    }
    const parse::ForwardBackward& links = run_.joined().links();
    if (const uint32_t number = links.NumberOf(event.index); number > 0) {
      forward_places_.emplace(number, place);
    }
    if (const uint32_t number = links.RunOf(event.index).node; number > 0) {
      nodes_.emplace_back(number, place);
    }
  }
}

void HostLanes::LinkBackward() {
  for (const auto& [number, place] : nodes_) {
    const auto forward = forward_places_.find(number);
    if (forward == forward_places_.end()) continue;
    timeline_.links.push_back({Link::Kind::kBackward, forward->second, place});
  }
}

void HostLanes::Make() {
  SortCalls();
  const int64_t end_ns = timeline_.ranks.back().duration_ns;
  if (__builtin_add_overflow(origin_ns_, end_ns, &last_ns_)) last_ns_ = INT64_MAX;
  Survey();
  ChooseTimes();
  for (const auto& [thread, lane] : lanes_) PackThread(thread, &timeline_.lanes[lane]);
  LinkBackward();
}

void HostLanes::LinkTo(LaunchIndex launch, const Link::End& work) {
  const auto call = call_places_.find(launch);
  if (call == call_places_.end()) return;
  timeline_.links.push_back({Link::Kind::kLaunch, call->second, work});
}

}  // namespace oplens::report
