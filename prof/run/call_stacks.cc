#include "prof/run/call_stacks.h"

#include <algorithm>

#include "base/hash.h"
#include "parse/join/joined.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_texts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/marker_text.h"

namespace oplens::prof {

using parse::CallTree;

StringId RecordedStackOf(const parse::Joined& joined, uint32_t index) {
  const Range& range = joined.trace().ranges[index];
  if (range.open() || (range.kind != RangeKind::kOperator && range.kind != RangeKind::kMarker)) {
    return 0;
  }
  const StringId stack = joined.calls().StackOf(index);
  return stack != 0 && joined.texts().Of(stack).kind == MarkerKind::kTrace ? stack : 0;
}

CallStacks::CallStacks(const parse::Joined& joined, const CallTree& calls, const Options& options,
                       PathTree* tree)
    : joined_(joined),
      trace_(joined.trace()),
      calls_(calls),
      options_(options),
      tree_(*tree),
      paths_(calls.all().size(), options.front),
      stacks_(calls.all().size(), 0),
      text_of_(trace_.strings.size(), 0) {
  for (size_t thread = 0; thread < joined.threads().thread_count(); ++thread) RunThread(thread);
  std::vector<StringId>().swap(stacks_);
}

void CallStacks::RunThread(size_t thread) {
  items_.clear();
  recorded_.clear();
  const size_t first = calls_.BeginOf(static_cast<ThreadIndex>(thread));
  const size_t last = first + calls_.Of(static_cast<ThreadIndex>(thread)).size();
  size_t call = first;
  for (size_t i = joined_.threads().BeginOf(thread); i < joined_.threads().EndOf(thread); ++i) {
    if (joined_.leaks().Has(i)) continue;
    const Range& range = trace_.ranges[i];
    const auto index = static_cast<uint32_t>(i);
    if (range.kind == RangeKind::kFrame) {
      if (range.open() || !joined_.texts().IsUserFrame(range.text)) continue;
      PushFrame(index, trace_.strings.View(range.text), true);
      continue;
    }
    if (const StringId stack = RecordedStackOf(joined_, index); stack != 0) {
      while (!recorded_.empty() && recorded_.back().end_ns <= range.start_ns) recorded_.pop_back();
      recorded_.push_back({range.end_ns, stack});
    }
    if (options_.modules != nullptr) {
      if (const auto name = options_.modules->NameOf(i)) PushFrame(index, *name, false);
    }
    if (call < last && calls_.all()[call].range == index) AddCall(call++, first);
  }
}

void CallStacks::Leave(int64_t start_ns) {
  while (!items_.empty() && items_.back().end_ns <= start_ns) items_.pop_back();
}

void CallStacks::PushFrame(uint32_t index, std::string_view text, bool python) {
  const Range& range = trace_.ranges[index];
  Leave(range.start_ns);
  uint32_t& number = text_of_[range.text];
  if (number == 0) number = tree_.NumberOf(text) + 1;
  const uint32_t around = items_.empty() ? options_.front : items_.back().path;
  const bool among = !items_.empty() && items_.back().python;
  const auto place = static_cast<uint32_t>(items_.size());
  items_.push_back(
      {range.end_ns, index, tree_.ChildOf(around, number - 1), place, python || among});
}

void CallStacks::AddCall(size_t call, size_t first) {
  const Range& range = trace_.ranges[calls_.all()[call].range];
  Leave(range.start_ns);
  while (!recorded_.empty() && recorded_.back().end_ns <= range.start_ns) recorded_.pop_back();
  const bool frames_only = options_.names.empty();
  const uint32_t local = frames_only ? kNone : calls_.all()[call].parent;
  const uint32_t parent = local == kNone ? kNone : static_cast<uint32_t>(first + local);
  uint32_t path = BaseOf(call, parent);
  if (items_.empty() || !items_.back().python) path = WithRecorded(path, call, parent);
  if (!frames_only) {
    path = tree_.ChildOf(path, options_.names[call]);
    const uint32_t frame = items_.empty() ? kNone : items_.back().frame;
    const bool python = !items_.empty() && items_.back().python;
    items_.push_back({range.end_ns, calls_.all()[call].range, path, frame, python});
  }
  paths_[call] = path;
}

/// What is around a call: the frame or the call that began last.
uint32_t CallStacks::BaseOf(size_t call, uint32_t parent) const {
  const uint32_t frame = items_.empty() ? kNone : items_.back().frame;
  if (parent != kNone && (frame == kNone || items_[frame].range < calls_.all()[parent].range)) {
    return paths_[parent];
  }
  if (frame != kNone) return items_[frame].path;
  return options_.fronts.empty() ? options_.front : options_.fronts[call];
}

uint32_t CallStacks::WithRecorded(uint32_t base, size_t call, uint32_t parent) {
  const StringId around = parent == kNone ? 0 : stacks_[parent];
  stacks_[call] = around;
  const StringId stack = recorded_.empty() ? 0 : recorded_.back().stack;
  if (stack == 0 || stack == around) return base;
  const auto next = static_cast<uint32_t>(extended_.size());
  const uint32_t known = extended_of_.FindOrInsert(PairKey(base, stack), next);
  if (known == next) extended_.push_back(Extend(base, stack, around));
  if (extended_[known].extends) stacks_[call] = stack;
  return extended_[known].path;
}

CallStacks::Extended CallStacks::Extend(uint32_t base, StringId stack, StringId around) {
  const auto& frames = joined_.texts().FramesOf(joined_.texts().Of(stack));
  size_t first = 0;
  if (around != 0) {
    const auto& outer = joined_.texts().FramesOf(joined_.texts().Of(around));
    if (outer.size() > frames.size() || !std::equal(outer.begin(), outer.end(), frames.begin())) {
      return {base, false};
    }
    first = outer.size();
  }
  for (size_t i = first; i < frames.size(); ++i) {
    base = tree_.ChildOf(base, tree_.NumberOf(frames[i]));
  }
  return {base, true};
}

}  // namespace oplens::prof
