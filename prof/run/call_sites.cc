#include "prof/run/call_sites.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "parse/join/call_tree.h"
#include "parse/join/joined.h"
#include "parse/join/range_texts.h"
#include "parse/join/thread_ranges.h"
#include "prof/run/call_name.h"
#include "prof/run/call_stacks.h"

namespace oplens::prof {
size_t CallSites::Ask(ThreadIndex thread, int64_t time_ns) {
  moments_.push_back({thread, time_ns, moments_.size()});
  return moments_.size() - 1;
}

std::vector<CallSite> CallSites::Find() {
  std::vector<CallSite> found(moments_.size());
  std::sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
    return std::tie(a.thread, a.time_ns, a.number) < std::tie(b.thread, b.time_ns, b.number);
  });
  for (size_t i = 0; i < moments_.size();) {
    const ThreadIndex thread = moments_[i].thread;
    size_t end = i;
    while (end < moments_.size() && moments_[end].thread == thread) ++end;
    if (thread < joined_.threads().thread_count()) {
      FindOn(thread, moments_.data() + i, moments_.data() + end, &found);
    }
    i = end;
  }
  moments_.clear();
  return found;
}

void CallSites::FindOn(ThreadIndex thread, const Moment* begin, const Moment* end,
                       std::vector<CallSite>* found) {
  const std::vector<Range>& ranges = joined_.trace().ranges;
  size_t next = joined_.threads().BeginOf(thread);
  const size_t last = joined_.threads().EndOf(thread);
  std::vector<uint32_t> around;  // Started, and possibly not ended.
  for (const Moment* moment = begin; moment != end; ++moment) {
    for (; next < last && ranges[next].start_ns <= moment->time_ns; ++next) {
      const Range& range = ranges[next];
      if (range.open() || joined_.leaks().Has(next)) continue;
      while (!around.empty() && ranges[around.back()].end_ns <= range.start_ns) around.pop_back();
      around.push_back(static_cast<uint32_t>(next));
    }
    (*found)[moment->number] = SiteOf(around, moment->time_ns);
  }
}

CallSite CallSites::SiteOf(const std::vector<uint32_t>& around, int64_t time_ns) {
  const Trace& trace = joined_.trace();
  std::string_view op;
  std::string_view frame;
  std::string layer;
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
      layer.insert(0, layer.empty() ? std::string(name) : std::string(name) + ":");
    }
    if (op.empty() && parse::IsHostCall(joined_, *index)) op = CallNameOf(joined_, *index);
    const StringId stack = frame.empty() ? RecordedStackOf(joined_, *index) : 0;
    if (stack == 0) continue;
    const auto& frames = joined_.texts().FramesOf(joined_.texts().Of(stack));
    if (!frames.empty()) frame = frames.back();
  }
  return {NumberOf(std::string(op)), NumberOf(std::move(layer)), NumberOf(std::string(frame))};
}

const std::vector<int64_t>& CallSites::BoundsOf(ThreadIndex thread) {
  const auto [known, added] = bounds_.try_emplace(thread);
  std::vector<int64_t>& bounds = known->second;
  if (!added || thread >= joined_.threads().thread_count()) return bounds;
  const size_t end = joined_.threads().EndOf(thread);
  for (size_t i = joined_.threads().BeginOf(thread); i < end; ++i) {
    const Range& range = joined_.trace().ranges[i];
    if (range.open() || joined_.leaks().Has(i)) continue;
    bounds.push_back(range.start_ns);
    bounds.push_back(range.end_ns);
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  return bounds;
}

uint32_t CallSites::NumberOf(std::string text) {
  const auto [known, added] =
      numbers_.try_emplace(std::move(text), static_cast<uint32_t>(texts_.size()));
  if (added) texts_.push_back(known->first);
  return known->second;
}

}  // namespace oplens::prof
