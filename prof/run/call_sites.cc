#include "prof/run/call_sites.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "parse/join/call_tree.h"
#include "parse/join/thread_ranges.h"
#include "prof/run/call_name.h"
#include "prof/run/call_stacks.h"

namespace oplens::prof {

size_t CallSites::Ask(ThreadIndex thread, int64_t time_ns) {
  moments_.push_back({thread, time_ns, moments_.size()});
  return moments_.size() - 1;
}

std::vector<uint32_t> CallSites::Find() {
  if (texts_.empty()) places_.emplace(texts_.emplace_back(), 0);
  std::vector<uint32_t> found(moments_.size(), 0);
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
                       std::vector<uint32_t>* found) {
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
    std::string text = TextOf(around, moment->time_ns);
    const auto [known, added] =
        places_.try_emplace(std::move(text), static_cast<uint32_t>(texts_.size()));
    if (added) texts_.push_back(known->first);
    (*found)[moment->number] = known->second;
  }
}

std::string CallSites::TextOf(const std::vector<uint32_t>& around, int64_t time_ns) const {
  const Trace& trace = joined_.trace();
  std::string_view op;
  std::string_view frame;
  for (auto index = around.rbegin(); index != around.rend(); ++index) {
    const Range& range = trace.ranges[*index];
    if (range.end_ns <= time_ns) continue;
    if (range.kind == RangeKind::kFrame) {
      if (frame.empty() && joined_.texts().IsUserFrame(range.text)) {
        frame = trace.strings.View(range.text);
      }
      continue;
    }
    if (op.empty() && parse::IsHostCall(joined_, *index)) op = CallNameOf(joined_, *index);
    const StringId stack = frame.empty() ? RecordedStackOf(joined_, *index) : 0;
    if (stack == 0) continue;
    const auto& frames = joined_.texts().FramesOf(joined_.texts().Of(stack));
    if (!frames.empty()) frame = frames.back();
  }
  std::string text(op);
  if (!frame.empty()) text.append(text.empty() ? "at " : " at ").append(frame);
  return text;
}

}  // namespace oplens::prof
