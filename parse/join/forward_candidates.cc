#include "parse/join/forward_candidates.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace oplens::parse {
namespace {

/// The number of a range that may be a forward op; nullopt: it is none.
std::optional<int64_t> NumberOf(const Trace& trace, size_t index, const LeakedRanges& leaks,
                                const StepContexts& contexts, const RangeRoles& roles) {
  const Range& range = trace.ranges[index];
  const StepContext context = contexts.ContextOf(index);
  const bool op = context == StepContext::kNone || context == StepContext::kRecompute;
  if (!op || range.open() || leaks.Has(index) || contexts.Repeats(index)) return std::nullopt;
  const std::optional<int64_t> sequence = roles.SequenceOf(range);
  // On a thread of the engine 0 is a filler.
  const int64_t least = contexts.IsEngineThread(range.thread) ? 1 : 0;
  return sequence && *sequence >= least ? sequence : std::nullopt;
}

}  // namespace

ForwardCandidates::ForwardCandidates(const Trace& trace, const ThreadRanges& threads,
                                     const LeakedRanges& leaks, const StepContexts& contexts,
                                     const RangeRoles& roles) {
  uint32_t slots = 0;
  for (const BackwardNode& node : contexts.nodes()) {
    if (slots_[node.process_id].FindOrInsert(node.sequence, slots) == slots) ++slots;
  }
  std::vector<std::pair<uint32_t, uint32_t>> found;  // Slot and range.
  bounds_.assign(size_t{slots} + 1, 0);
  for (size_t thread = 0; thread < threads.thread_count(); ++thread) {
    const auto numbers = slots_.find(trace.threads[thread].process_id);
    if (numbers == slots_.end()) continue;
    for (size_t i = threads.BeginOf(thread); i < threads.EndOf(thread); ++i) {
      const std::optional<int64_t> number = NumberOf(trace, i, leaks, contexts, roles);
      if (!number) continue;
      const uint32_t slot = numbers->second.Find(*number);
      if (slot == IdMap::kNone) continue;
      found.emplace_back(slot, static_cast<uint32_t>(i));
      ++bounds_[slot + 1];
    }
  }
  std::partial_sum(bounds_.begin(), bounds_.end(), bounds_.begin());
  ranges_.resize(found.size());
  std::vector<uint32_t> next(bounds_.begin(), bounds_.end());
  for (const auto& [slot, range] : found) ranges_[next[slot]++] = range;
  const auto earlier = [&](uint32_t a, uint32_t b) {
    return trace.ranges[a].start_ns < trace.ranges[b].start_ns;
  };
  for (uint32_t slot = 0; slot < slots; ++slot) {
    std::stable_sort(ranges_.begin() + bounds_[slot], ranges_.begin() + bounds_[slot + 1], earlier);
  }
}

uint32_t ForwardCandidates::SlotOf(int64_t process_id, int64_t sequence) const {
  const auto numbers = slots_.find(process_id);
  return numbers == slots_.end() ? IdMap::kNone : numbers->second.Find(sequence);
}

std::span<const uint32_t> ForwardCandidates::Of(const BackwardNode& node) const {
  const uint32_t slot = SlotOf(node.process_id, node.sequence);
  if (slot == IdMap::kNone) return {};
  return {ranges_.data() + bounds_[slot], bounds_[slot + 1] - bounds_[slot]};
}

}  // namespace oplens::parse
