#include "prof/run/call_sites.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "parse/join/range_texts.h"
#include "parse/join/thread_ranges.h"
#include "prof/run/call_name.h"
#include "prof/run/call_stacks.h"

namespace oplens::prof {

size_t CallSites::AskAlong(ThreadIndex thread, const Interval& time) {
  asked_.push_back({thread, time, asked_.size()});
  return asked_.size() - 1;
}

std::vector<CallSite> CallSites::Find() {
  std::vector<CallSite> found(asked_.size());
  std::vector<Stretch> stretches;
  FindAll(false, &stretches);
  for (const Stretch& stretch : stretches) found[stretch.number] = stretch.site;
  return found;
}

void CallSites::FindAlong(std::vector<Stretch>* stretches) {
  // Those of a time come in order, so they need only be brought to their places.
  std::vector<size_t> places(asked_.size() + 1);
  found_.clear();
  FindAll(true, &found_);
  for (const Stretch& stretch : found_) ++places[stretch.number + 1];
  std::partial_sum(places.begin(), places.end(), places.begin());
  stretches->resize(found_.size());
  for (const Stretch& stretch : found_) (*stretches)[places[stretch.number]++] = stretch;
}

void CallSites::FindAll(bool along, std::vector<Stretch>* stretches) {
  std::sort(asked_.begin(), asked_.end(), [](const Asked& a, const Asked& b) {
    return std::tie(a.thread, a.time.start_ns, a.number) <
           std::tie(b.thread, b.time.start_ns, b.number);
  });
  stretches->reserve(asked_.size());
  for (size_t i = 0; i < asked_.size();) {
    const ThreadIndex thread = asked_[i].thread;
    size_t end = i;
    while (end < asked_.size() && asked_[end].thread == thread) ++end;
    if (thread < joined_.threads().thread_count()) {
      FindOn(thread, asked_.data() + i, asked_.data() + end, along, stretches);
    } else {
      for (; i < end; ++i) stretches->push_back({asked_[i].number, asked_[i].time, {}});
    }
    i = end;
  }
  asked_.clear();
}

bool CallSites::Counts(size_t range) const {
  return !joined_.trace().ranges[range].open() && !joined_.leaks().Has(range);
}

void CallSites::MoveTo(int64_t time_ns, size_t last, Sweep* sweep) const {
  const std::vector<Range>& ranges = joined_.trace().ranges;
  std::vector<uint32_t>& around = sweep->around;
  for (size_t& next = sweep->next; next < last && ranges[next].start_ns <= time_ns; ++next) {
    if (!Counts(next)) continue;
    while (!around.empty() && ranges[around.back()].end_ns <= ranges[next].start_ns) {
      around.pop_back();
    }
    around.push_back(static_cast<uint32_t>(next));
  }
  sweep->now_ns = time_ns;
}

void CallSites::FindOn(ThreadIndex thread, const Asked* begin, const Asked* end, bool along,
                       std::vector<Stretch>* stretches) {
  const size_t last = joined_.threads().EndOf(thread);
  Sweep& kept = sweeps_[thread];
  if (kept.now_ns == INT64_MIN || begin->time.start_ns < kept.now_ns) {
    kept = {INT64_MIN, joined_.threads().BeginOf(thread), {}};
  }
  MoveTo(begin->time.start_ns, last, &kept);
  Sweep sweep = kept;
  Sweep inside;
  for (const Asked* asked = begin; asked != end; ++asked) {
    const Interval& time = asked->time;
    MoveTo(time.start_ns, last, &sweep);
    stretches->push_back({asked->number, time, SiteOf(sweep.around, time.start_ns)});
    if (!along || time.end_ns <= time.start_ns) continue;
    FindBounds(time, sweep, last);
    if (bounds_.empty()) continue;
    inside = sweep;
    for (const int64_t bound_ns : bounds_) {
      MoveTo(bound_ns, last, &inside);
      stretches->back().time.end_ns = bound_ns;
      stretches->push_back(
          {asked->number, {bound_ns, time.end_ns}, SiteOf(inside.around, bound_ns)});
    }
  }
}

void CallSites::FindBounds(const Interval& time, const Sweep& sweep, size_t last) {
  const std::vector<Range>& ranges = joined_.trace().ranges;
  bounds_.clear();
  const auto add = [&](int64_t bound_ns) {
    if (bound_ns > time.start_ns && bound_ns < time.end_ns) bounds_.push_back(bound_ns);
  };
  for (const uint32_t range : sweep.around) add(ranges[range].end_ns);
  for (size_t i = sweep.next; i < last && ranges[i].start_ns < time.end_ns; ++i) {
    if (!Counts(i)) continue;
    add(ranges[i].start_ns);
    add(ranges[i].end_ns);
  }
  std::sort(bounds_.begin(), bounds_.end());
  bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
}

CallSite CallSites::SiteOf(const std::vector<uint32_t>& around, int64_t time_ns) {
  const Trace& trace = joined_.trace();
  std::string_view op;
  std::string_view frame;
  layer_.clear();
  for (auto index = around.rbegin(); index != around.rend(); ++index) {
    const Range& range = trace.ranges[*index];
    if (range.end_ns <= time_ns) continue;
    if (range.kind == RangeKind::kFrame) {
      if (frame.empty() && joined_.texts().IsUserFrame(range.text)) {
        frame = trace.strings.View(range.text);
      }
      continue;
    }
    if (IsLayer(joined_, range)) {
      const std::string_view name = trace.strings.View(joined_.LayerOf(*index));
      if (!layer_.empty()) layer_.insert(0, ":");
      layer_.insert(0, name);
    }
    if (op.empty() && parse::IsHostCall(joined_, *index)) op = CallNameOf(joined_, *index);
    const StringId stack = frame.empty() ? RecordedStackOf(joined_, *index) : 0;
    if (stack == 0) continue;
    const auto& frames = joined_.texts().FramesOf(joined_.texts().Of(stack));
    if (!frames.empty()) frame = frames.back();
  }
  return {NumberOf(op), NumberOf(layer_), NumberOf(frame)};
}

uint32_t CallSites::NumberOf(std::string_view text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<uint32_t>(texts_.size());
  numbers_.emplace(text, number);
  texts_.emplace_back(text);
  return number;
}

}  // namespace oplens::prof
