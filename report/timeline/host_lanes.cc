#include "report/timeline/host_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "ops/dtype.h"
#include "ops/tensor.h"
#include "parse/join/forward_backward.h"
#include "parse/join/joined.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_roles.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"
#include "prof/run/run.h"
#include "prof/run/steps.h"
#include "report/data/pack.h"

namespace oplens::report {
namespace {

/// The tensors in the text of a call.
Signatures::Tensors TensorsOf(std::string_view text) {
  Signatures::Tensors tensors;
  std::string error;
  const std::optional<OpCall> call = ParseOpCall(text, &error);
  if (!call) return tensors;
  for (const OpArg& arg : call->args) {
    if (arg.kind != OpArg::Kind::kTensor) continue;
    if (!tensors.shapes.empty()) tensors.shapes.push_back(';');
    tensors.shapes += ops::TupleText(arg.shape);
    const std::optional<ops::DType> dtype = ops::ParseDType(arg.dtype);
    if (tensors.dtype.empty() && dtype) tensors.dtype = ops::DTypeWord(*dtype);
  }
  return tensors;
}

using prof::PathEdge;
using prof::PathSubject;

class PairTaker : public prof::PathTaker {
 public:
  PairTaker(PathPairs* pairs, StripMaker* strips) : pairs_(*pairs), strips_(*strips) {}

  void TakeEdge(const PathEdge& edge) override {
    strips_.TakeEdge(edge);
    if (edge.subject.kind == PathSubject::Kind::kNothing) return;
    if (last_ && IsPair(*last_, edge)) pairs_.Add(last_->subject, edge.subject);
    last_ = edge;
  }
  void TakeStep(const prof::StepPath& step) override {
    strips_.TakeStep(step);
    last_.reset();
  }

 private:
  static bool IsWork(const PathEdge& edge) { return edge.subject.kind == PathSubject::Kind::kWork; }
  static bool IsPair(const PathEdge& from, const PathEdge& to) {
    if (from.subject == to.subject) return false;
    return IsWork(from) || IsWork(to) || from.thread != to.thread;
  }

  PathPairs& pairs_;
  StripMaker& strips_;
  std::optional<PathEdge> last_;
};

constexpr size_t kMaxDepth = 255;
/// Estimated page size of the links of a host event, in tenths of a byte.
constexpr size_t kTenthsOfLinks = 4;

std::string HostLanesNameOf(const Trace& trace, const Thread& thread) {
  const std::string_view name = trace.strings.View(thread.name);
  return name.empty() ? fmt::format("thread {}", thread.thread_id) : std::string(name);
}

}  // namespace

/// The text of the call in a range; 0 if it is no call, has no tensors, or kMaxArguments is
/// reached.
StringId HostNames::ArgumentsOf(uint32_t index) {
  const Range& range = joined_.trace().ranges[index];
  if (range.kind == RangeKind::kMarker) {
    const parse::RangeTexts::Text& marker = joined_.texts().Of(range.text);
    if (marker.kind != MarkerKind::kOp && marker.call == 0) return 0;
  } else if (range.kind != RangeKind::kOperator) {
    return 0;
  }
  const StringId call = joined_.calls().CallOf(index);
  const auto known = tensors_.find(call);
  if (known != tensors_.end()) return known->second.shapes.empty() ? 0 : call;
  if (call == 0 || tensors_.size() >= kMaxArguments) return 0;
  const auto at = tensors_.emplace(call, TensorsOf(joined_.trace().strings.View(call))).first;
  return at->second.shapes.empty() ? 0 : call;
}

uint32_t HostNames::OfRange(uint32_t index) {
  const Range& range = joined_.trace().ranges[index];
  const EventClass of = ClassOf(range.kind);
  const Key key = {range.text, ArgumentsOf(index), of};
  const auto [known, is_new] = known_.try_emplace(key, Signatures::kNone);
  if (!is_new) return known->second;
  const std::string_view text = joined_.trace().strings.View(range.text);
  uint32_t signature = Signatures::kNone;
  if (range.kind == RangeKind::kMarker) {
    signature = OfMarker(index, key.call);
  } else {
    signature = key.call == 0 ? signatures_.OfName(text, of) : OfOperator(text, key.call);
  }
  return known_[key] = signature;
}

/// `call`: text with the arguments; 0: unknown.
uint32_t HostNames::OfOperator(std::string_view name, StringId call) {
  const auto tensors = tensors_.find(call);
  if (tensors == tensors_.end()) return signatures_.OfName(name, EventClass::kOperator);
  return signatures_.OfOperator(name, tensors->second);
}

uint32_t HostNames::OfMarker(uint32_t index, StringId call) {
  const StringPool& strings = joined_.trace().strings;
  const Range& range = joined_.trace().ranges[index];
  const std::string_view text = strings.View(range.text);
  const parse::RangeTexts::Text& marker = joined_.texts().Of(range.text);
  switch (marker.kind) {
    case MarkerKind::kSeq:
      return OfOperator(text.substr(0, marker.name_length()), call);
    case MarkerKind::kOperator:
      return OfOperator(marker.call == 0 ? text : strings.View(joined_.texts().Of(marker.call).op),
                        call);
    case MarkerKind::kOp:
    case MarkerKind::kNode:
      return OfOperator(parse::RangeRoles(joined_.trace(), joined_.texts()).NameOf(range), call);
    case MarkerKind::kLayer:
      return signatures_.OfName(strings.View(marker.op), EventClass::kModule);
    case MarkerKind::kTrace: {
      const auto& frames = joined_.texts().FramesOf(marker);
      return signatures_.OfName(frames.empty() ? text : frames.back(), EventClass::kFrame);
    }
    default:
      return signatures_.OfName(strings.View(joined_.PathTextOf(index)), EventClass::kMarker);
  }
}

uint32_t HostNames::OfCall(const LaunchCall& call) {
  const auto [known, is_new] =
      known_.try_emplace(Key{call.api, 0, EventClass::kCall}, Signatures::kNone);
  if (is_new) {
    known->second = signatures_.OfName(joined_.trace().strings.View(call.api), EventClass::kCall);
  }
  return known->second;
}

PathPairs CriticalPairsOf(const prof::Run& run, StripMaker* strips) {
  PathPairs pairs;
  PairTaker taker(&pairs, strips);
  prof::WhatIf as_measured;
  prof::FindCriticalPaths(run, &as_measured, &taker);
  return pairs;
}

void EventPlaces::Seal() {
  std::sort(all_.begin(), all_.end(),
            [](const Entry& a, const Entry& b) { return a.event < b.event; });
}

std::optional<Link::End> EventPlaces::Find(uint32_t event) const {
  const auto at =
      std::lower_bound(all_.begin(), all_.end(), event,
                       [](const Entry& entry, uint32_t wanted) { return entry.event < wanted; });
  if (at == all_.end() || at->event != event) return std::nullopt;
  return at->place;
}

HostLanes::HostLanes(const prof::Run& run, int64_t origin_ns, size_t max_bytes, size_t limit_bytes,
                     Timeline* timeline)
    : run_(run),
      trace_(run.trace()),
      origin_ns_(origin_ns),
      max_bytes_(max_bytes),
      limit_bytes_(limit_bytes),
      timeline_(*timeline),
      names_(run.joined(), &timeline->signatures),
      times_(run.steps().all(), origin_ns) {}

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
    // Calls that nothing refers to come last; both parts are mostly sorted.
    const auto rest = std::is_sorted_until(begin, end, before);
    if (std::is_sorted(rest, end, before)) {
      std::inplace_merge(begin, rest, end, before);
    } else {
      std::sort(begin, end, before);
    }
  }
}

/// Visits the ranges and calls of a thread by start (ranges first on ties), with the events around
/// them.
template <typename F>
void HostLanes::ForEach(ThreadIndex thread, F visit) const {
  const parse::ThreadRanges& ranges = run_.joined().threads();
  size_t range = thread < ranges.thread_count() ? ranges.BeginOf(thread) : 0;
  const size_t range_end = thread < ranges.thread_count() ? ranges.EndOf(thread) : 0;
  size_t call = call_bounds_[thread];
  const size_t call_end = call_bounds_[thread + 1];
  std::vector<int64_t> open;  // Ends of enclosing events.
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

/// Makes the lanes with pyramids, counts their events and chooses those for chunks.
void HostLanes::Survey() {
  std::vector<LaneEvent> sample;  // Taken from the middle of the thread with the most events.
  size_t sampled = 0;             // The number of events of that thread.
  for (ThreadIndex thread = 0; thread < trace_.threads.size(); ++thread) {
    Lane lane;
    std::vector<LaneEvent> outermost;
    times_.BeginThread();
    const size_t expected = CountOf(thread);
    const bool most = expected > sampled;
    if (most) {
      sampled = expected;
      sample.clear();
    }
    size_t place = 0;
    ForEach(thread, [&](HostEvent& event) {
      if (lane.events++ == 0) lane.start_ns = event.event.start_ns;
      lane.end_ns = std::max(lane.events == 1 ? event.end_ns : lane.end_ns, event.end_ns);
      lane.depth = std::max(lane.depth, int64_t{event.event.depth} + 1);
      times_.Count(event.event.start_ns);
      const bool wanted = most && place++ >= expected / 2 && sample.size() < EventChunk::kMaxEvents;
      if (event.depth > 0 && !wanted) return;
      event.event.signature = SignatureOf(event);
      if (wanted) sample.push_back(event.event);
      if (event.depth == 0) outermost.push_back(event.event);
    });
    if (lane.events == 0) continue;
    const Thread& of = trace_.threads[thread];
    lane.rank = std::string(run_.rank());
    lane.kind = Lane::Kind::kThread;
    lane.process = of.process_id;
    lane.thread = of.thread_id;
    lane.name = HostLanesNameOf(trace_, of);
    lane.levels = MakePyramid(outermost, timeline_.signatures.size());
    lanes_.emplace_back(thread, static_cast<uint32_t>(timeline_.lanes.size()));
    timeline_.lanes.push_back(std::move(lane));
  }
  HostRequest& wish = timeline_.host.emplace_back();
  wish.rank = std::string(run_.rank());
  times_.Choose(MostEvents(sample), limit_bytes_, &wish);
}

/// Estimates from the sample how many events fit.
size_t HostLanes::MostEvents(const std::vector<LaneEvent>& sample) const {
  if (sample.empty()) return 0;
  const size_t bytes = Base64Length(PackEvents(sample, true, INT64_MAX).packed.size());
  return 10 * max_bytes_ * sample.size() / (10 * bytes + kTenthsOfLinks * sample.size());
}

/// The number of events of a thread that are selected.
size_t HostLanes::CountOf(ThreadIndex thread) const {
  size_t count = 0;
  ForEach(thread, [&count](const HostEvent&) { ++count; });
  return count;
}

/// Packs the events of each stretch, with those enclosing its start unless these are in a chunk.
void HostLanes::PackThread(ThreadIndex thread, Lane* lane) {
  const std::span<const HostTimes::Stretch> wanted = times_.chosen();
  std::vector<HostEvent> events;                   // Of the next chunk.
  std::vector<std::pair<HostEvent, bool>> around;  // Enclosing events; whether each is in a chunk.
  size_t next = 0;
  bool first = true;  // The next chunk is the first of its stretch.
  const auto pack = [&](int64_t until_ns) {
    if (events.empty()) return;
    PackChunk(events, until_ns, lane);
    if (first) lane->chunks.back().covers_from_ns = wanted[next].time.start_ns;
    lane->chunks.back().window = wanted[next].place;
    first = false;
    events.clear();
  };
  const auto add = [&](const HostEvent& event) {
    if (events.size() == EventChunk::kMaxEvents) pack(event.event.start_ns);
    events.push_back(event);
  };
  const auto finish = [&] {
    pack(wanted[next].time.end_ns);
    first = true;
    ++next;
  };
  ForEach(thread, [&](const HostEvent& event) {
    while (next < wanted.size() && event.event.start_ns >= wanted[next].time.end_ns) finish();
    if (next == wanted.size()) return;
    while (!around.empty() && around.back().first.end_ns <= event.event.start_ns) around.pop_back();
    const bool inside = event.event.start_ns >= wanted[next].time.start_ns;
    if (inside) {
      for (auto& [one, packed] : around) {
        if (!packed && one.end_ns > wanted[next].time.start_ns) add(one);
        packed = true;
      }
      add(event);
    }
    around.emplace_back(event, inside);
  });
  while (next < wanted.size()) finish();
}

void HostLanes::PackChunk(const std::vector<HostEvent>& events, int64_t until_ns, Lane* lane) {
  std::vector<LaneEvent> packed;
  packed.reserve(events.size());
  for (const HostEvent& event : events) {
    packed.push_back(event.event);
    packed.back().signature = SignatureOf(event);
  }
  NotePlaces(events, *lane);
  lane->chunks.push_back(PackEvents(packed, true, until_ns));
}

/// Records the places of events in the lane's next chunk that links may connect.
void HostLanes::NotePlaces(std::span<const HostEvent> events, const Lane& lane) {
  Link::End place;
  place.lane = static_cast<uint32_t>(&lane - timeline_.lanes.data());
  place.chunk = static_cast<uint32_t>(lane.chunks.size());
  for (size_t i = 0; i < events.size(); ++i) {
    place.place = static_cast<uint32_t>(i);
    const HostEvent& event = events[i];
    if (event.is_call) {
      if (calls_linked_[event.index]) calls_on_page_.Add(event.index, place);
      continue;
    }
    if (ranges_linked_[event.index]) ranges_on_page_.Add(event.index, place);
    const uint32_t number = run_.joined().links().RunOf(event.index).node;
    if (number > 0) nodes_.emplace_back(number, place);
  }
}

void HostLanes::LinkBackward() {
  for (const auto& [number, place] : nodes_) {
    const uint32_t forward = run_.joined().links().ForwardOf(number);
    const std::optional<Link::End> from = ranges_on_page_.Find(forward);
    if (from) timeline_.links.push_back({Link::Kind::kBackward, *from, place});
  }
}

/// Marks the calls and ranges that links may connect.
void HostLanes::MarkLinked(const PathPairs& path) {
  calls_linked_.assign(trace_.launches.size(), false);
  ranges_linked_.assign(trace_.ranges.size(), false);
  for (const prof::DeviceEvent& event : run_.work().events()) {
    const LaunchIndex launch = run_.work().LaunchOf(event);
    if (launch != kNoLaunch) calls_linked_[launch] = true;
  }
  const parse::ForwardBackward& links = run_.joined().links();
  for (uint32_t number = 1; number <= links.count(); ++number) {
    ranges_linked_[links.ForwardOf(number)] = true;
  }
  const auto mark = [this](const prof::PathSubject& subject) {
    if (subject.kind == prof::PathSubject::Kind::kCall) calls_linked_[subject.index] = true;
    if (subject.kind == prof::PathSubject::Kind::kRange) ranges_linked_[subject.index] = true;
  };
  path.ForEach([&](const prof::PathSubject& from, const prof::PathSubject& to) {
    mark(from);
    mark(to);
  });
}

void HostLanes::Make(const PathPairs& path) {
  MarkLinked(path);
  SortCalls();
  const int64_t end_ns = timeline_.ranks.back().duration_ns;
  if (__builtin_add_overflow(origin_ns_, end_ns, &last_ns_)) last_ns_ = INT64_MAX;
  Survey();
  for (const auto& [thread, lane] : lanes_) PackThread(thread, &timeline_.lanes[lane]);
  calls_on_page_.Seal();
  ranges_on_page_.Seal();
  LinkBackward();
}

}  // namespace oplens::report
