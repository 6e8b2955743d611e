#include "parse/join/forward_backward.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/id_map.h"
#include "parse/join/range_roles.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/node_name.h"
#include "parse/model/trace.h"

namespace oplens::parse {

namespace {

/// The ops and sequence ranges that may have made the nodes of a trace, by process and sequence
/// number. If numbers repeat in each iteration, or ops have no number (0), one number has a
/// candidate per iteration; only few of them are checked for each node.
///
/// O(R + N log N) for R ranges and N nodes and candidates, times the (few) names of nodes with one
/// number. Memory: 28 bytes per number of a node and 4 per candidate; if names do not fit, up to 32
/// MB and 8 bytes per candidate more.
class ForwardCandidates {
 public:
  ForwardCandidates(const Trace& trace, const ThreadRanges& threads, const LeakedRanges& leaks,
                    const StepContexts& contexts, const RangeRoles& roles);

  /// Candidates of one number on one thread, in order of start, as indices in the list of all.
  struct Run {
    uint32_t begin = 0;
    uint32_t end = 0;
    ThreadIndex thread = 0;

    bool empty() const { return begin == end; }
  };

  /// Returns the candidates with a node's number, one run per thread.
  std::span<const Run> Of(const BackwardNode& node) const;
  /// Returns the part of a run that begins before `time_ns`, or, with `through`, at it too.
  Run Before(const Run& run, int64_t time_ns, bool through) const;

  /// Returns the range of the run's last candidate whose name fits the node's, or kNoRange.
  uint32_t LastThatFits(const Run& run, std::string_view node_name);
  /// Returns the range of the outermost candidate around the run's last one.
  uint32_t OutermostEnclosingLast(const Run& run);

 private:
  const std::string& BareNameAt(uint32_t place);
  /// Per index in the whole run from `begin`: 1 + last index up to it whose name fits; 0: none.
  const std::vector<uint32_t>& FitsOf(uint32_t begin, const std::string& bare_node);
  uint32_t EndOfRun(uint32_t begin) const;

  const Trace& trace_;
  const RangeRoles& roles_;
  std::unordered_map<int64_t, IdMap> slots_;  // By process; by sequence number, into run_bounds_.
  std::vector<uint32_t> run_bounds_;          // By slot; one more at the end.
  std::vector<Run> runs_;
  std::vector<uint32_t> ranges_;
  std::unordered_map<std::string_view, std::string> bare_names_;  // By text without sequence.
  // Made if a search back from the last candidate would be long; by the run's begin.
  std::map<std::pair<uint32_t, std::string>, std::vector<uint32_t>> fits_;
  size_t fits_size_ = 0;
  std::unordered_map<uint32_t, std::vector<int64_t>> latest_ends_;  // Maximum end up to each index.
};

/// This many candidates are checked before all of a number are classified by name.
constexpr uint32_t kForwardCandidatesNear = 16;
/// Upper bound on kept results of that.
constexpr size_t kMostFits = size_t{8} << 20;

/// Returns the number of a range that may be a forward op, else nullopt.
std::optional<int64_t> NumberOf(const Trace& trace, size_t index, const LeakedRanges& leaks,
                                const StepContexts& contexts, const RangeRoles& roles) {
  const Range& range = trace.ranges[index];
  const StepContext context = contexts.ContextOf(index);
  const bool op = context == StepContext::kNone || context == StepContext::kRecompute;
  if (!op || range.open() || leaks.Has(index) || contexts.Repeats(index)) return std::nullopt;
  const std::optional<int64_t> sequence = roles.SequenceOf(range);
  // On an engine thread 0 is a filler.
  const int64_t least = contexts.IsEngineThread(range.thread) ? 1 : 0;
  return sequence && *sequence >= least ? sequence : std::nullopt;
}

ForwardCandidates::ForwardCandidates(const Trace& trace, const ThreadRanges& threads,
                                     const LeakedRanges& leaks, const StepContexts& contexts,
                                     const RangeRoles& roles)
    : trace_(trace), roles_(roles) {
  uint32_t slots = 0;
  for (const uint32_t range : contexts.nodes()) {
    const BackwardNode node = roles.NodeOf(range);
    if (slots_[node.process_id].FindOrInsert(node.sequence, slots) == slots) ++slots;
  }
  std::vector<std::pair<uint32_t, uint32_t>> found;  // Slot and range; by thread and start.
  std::vector<uint32_t> next(size_t{slots} + 1, 0);
  for (size_t thread = 0; thread < threads.thread_count(); ++thread) {
    const auto numbers = slots_.find(trace.threads[thread].process_id);
    if (numbers == slots_.end()) continue;
    for (size_t i = threads.BeginOf(thread); i < threads.EndOf(thread); ++i) {
      const std::optional<int64_t> number = NumberOf(trace, i, leaks, contexts, roles);
      if (!number) continue;
      const uint32_t slot = numbers->second.Find(*number);
      if (slot == IdMap::kNone) continue;
      found.emplace_back(slot, static_cast<uint32_t>(i));
      ++next[slot + 1];
    }
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<uint32_t> bounds = next;
  ranges_.resize(found.size());
  for (const auto& [slot, range] : found) ranges_[next[slot]++] = range;
  run_bounds_.reserve(size_t{slots} + 1);
  for (uint32_t slot = 0; slot < slots; ++slot) {
    run_bounds_.push_back(static_cast<uint32_t>(runs_.size()));
    for (uint32_t place = bounds[slot]; place < bounds[slot + 1]; ++place) {
      const ThreadIndex thread = trace.ranges[ranges_[place]].thread;
      const bool first = place == bounds[slot] || runs_.back().thread != thread;
      if (first) runs_.push_back({place, place, thread});
      runs_.back().end = place + 1;
    }
  }
  run_bounds_.push_back(static_cast<uint32_t>(runs_.size()));
}

std::span<const ForwardCandidates::Run> ForwardCandidates::Of(const BackwardNode& node) const {
  const auto numbers = slots_.find(node.process_id);
  if (numbers == slots_.end()) return {};
  const uint32_t slot = numbers->second.Find(node.sequence);
  if (slot == IdMap::kNone) return {};
  return {runs_.data() + run_bounds_[slot], run_bounds_[slot + 1] - run_bounds_[slot]};
}

ForwardCandidates::Run ForwardCandidates::Before(const Run& run, int64_t time_ns,
                                                 bool through) const {
  const auto first = ranges_.begin() + run.begin;
  const auto place = std::partition_point(first, ranges_.begin() + run.end, [&](uint32_t range) {
    const int64_t start_ns = trace_.ranges[range].start_ns;
    return start_ns < time_ns || (through && start_ns == time_ns);
  });
  return {run.begin, run.begin + static_cast<uint32_t>(place - first), run.thread};
}

const std::string& ForwardCandidates::BareNameAt(uint32_t place) {
  const Range& range = trace_.ranges[ranges_[place]];
  const std::string_view name = roles_.NameOf(range);
  const auto [bare, is_new] = bare_names_.try_emplace(WithoutSequence(name));
  if (is_new) bare->second = BareName(name);
  return bare->second;
}

uint32_t ForwardCandidates::LastThatFits(const Run& run, std::string_view node_name) {
  const std::string bare_node = BareName(node_name);
  const uint32_t near = std::min(run.end - run.begin, kForwardCandidatesNear);
  for (uint32_t place = run.end; place-- > run.end - near;) {
    if (NamesFit(bare_node, BareNameAt(place))) return ranges_[place];
  }
  if (near == run.end - run.begin) return kNoRange;
  const uint32_t fit = FitsOf(run.begin, bare_node)[run.end - 1 - run.begin];
  return fit == 0 ? kNoRange : ranges_[fit - 1];
}

const std::vector<uint32_t>& ForwardCandidates::FitsOf(uint32_t begin,
                                                       const std::string& bare_node) {
  const uint32_t size = EndOfRun(begin) - begin;
  const auto known = fits_.find({begin, bare_node});
  if (known != fits_.end()) return known->second;
  // Bounds the memory for a file with as many node names as nodes.
  fits_size_ += size;
  if (fits_size_ > kMostFits) {
    fits_.clear();
    fits_size_ = size;
  }
  std::vector<uint32_t>& fits = fits_[{begin, bare_node}];
  fits.reserve(size);
  uint32_t last = 0;
  for (uint32_t place = begin; place < begin + size; ++place) {
    if (NamesFit(bare_node, BareNameAt(place))) last = place + 1;
    fits.push_back(last);
  }
  return fits;
}

uint32_t ForwardCandidates::EndOfRun(uint32_t begin) const {
  const auto run = std::lower_bound(runs_.begin(), runs_.end(), begin,
                                    [](const Run& a, uint32_t place) { return a.begin < place; });
  return run->end;
}

uint32_t ForwardCandidates::OutermostEnclosingLast(const Run& run) {
  const auto [ends, is_new] = latest_ends_.try_emplace(run.begin);
  if (is_new) {
    int64_t latest_ns = std::numeric_limits<int64_t>::min();
    const uint32_t end = EndOfRun(run.begin);
    for (uint32_t place = run.begin; place < end; ++place) {
      latest_ns = std::max(latest_ns, trace_.ranges[ranges_[place]].end_ns);
      ends->second.push_back(latest_ns);
    }
  }
  // The first one that ends no earlier than the last one; it began no later.
  const Range& last = trace_.ranges[ranges_[run.end - 1]];
  const auto first = std::lower_bound(ends->second.begin(), ends->second.end(), last.end_ns);
  return ranges_[run.begin + static_cast<uint32_t>(first - ends->second.begin())];
}

}  // namespace

class ForwardBackward::Matcher {
 public:
  Matcher(ForwardBackward* result, const Trace& trace, const ThreadRanges& threads,
          const LeakedRanges& leaks, const RangeRoles& roles)
      : result_(*result),
        trace_(trace),
        contexts_(result->contexts_),
        leaks_(leaks),
        roles_(roles),
        candidates_(trace, threads, leaks, contexts_, roles),
        arrows_(trace.forward_backward_links) {
    std::sort(arrows_.begin(), arrows_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.backward_thread, a.backward_ns, a.forward_ns, a.forward_thread) <
             std::tie(b.backward_thread, b.backward_ns, b.forward_ns, b.forward_thread);
    });
  }

  void Run() {
    FindNamedCalls();
    MapForwardThreads();
    std::vector<uint32_t> nodes = contexts_.nodes();
    result_.runs_.reserve(nodes.size());
    result_.forwards_.reserve(nodes.size());
    std::stable_sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
      return trace_.ranges[a].start_ns < trace_.ranges[b].start_ns;
    });
    for (const uint32_t range : nodes) {
      const BackwardNode node = roles_.NodeOf(range);
      const uint32_t forward = ForwardOf(node);
      if (forward != kNoRange) Link(node, forward);
    }
    result_.links_ = SparseNumbers(trace_.ranges.size(), std::move(links_));
    CountRuns();
    KeepOtherArrows();
  }

 private:
  using ThreadRun = ForwardCandidates::Run;
  using Key = std::pair<int64_t, int64_t>;
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return MixHash(static_cast<uint64_t>(key.second), static_cast<uint64_t>(key.first) << 40);
    }
  };

  /// Finds the calls that nodes name as theirs.
  void FindNamedCalls() {
    for (const uint32_t index : contexts_.nodes()) {
      const BackwardNode node = roles_.NodeOf(index);
      if (node.forward_handle == 0) continue;
      named_calls_.try_emplace({node.process_id, node.forward_handle}, kNoRange);
    }
    if (named_calls_.empty()) return;
    for (size_t i = 0; i < trace_.ranges.size(); ++i) {
      const Range& range = trace_.ranges[i];
      if (leaks_.Has(i) || range.open()) continue;
      const int64_t handle = roles_.HandleOf(range);
      if (handle == 0) continue;
      const auto place = named_calls_.find({trace_.threads[range.thread].process_id, handle});
      if (place != named_calls_.end()) place->second = static_cast<uint32_t>(i);
    }
  }

  /// Maps the framework's thread numbers to threads, by votes of nodes with one candidate thread.
  void MapForwardThreads() {
    std::map<Key, std::map<ThreadIndex, size_t>> votes;  // By process and number.
    for (const uint32_t index : contexts_.nodes()) {
      const BackwardNode node = roles_.NodeOf(index);
      if (node.forward_thread == 0) continue;
      const std::span<const ThreadRun> runs = candidates_.Of(node);
      if (runs.size() == 1) ++votes[{node.process_id, node.forward_thread}][runs.front().thread];
    }
    for (const auto& [number, threads] : votes) {
      // Of equal counts, the first thread's.
      const auto most =
          std::max_element(threads.begin(), threads.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      threads_by_vote_[number] = most->first;
    }
  }

  void Link(const BackwardNode& node, uint32_t forward) {
    const uint32_t marked = contexts_.EnclosingMarkedOp(forward);
    if (marked != kNoRange) forward = marked;
    const uint32_t next = result_.count() + 1;
    const uint32_t number = numbers_.FindOrInsert(forward, next);
    if (number == next) {
      result_.forwards_.push_back(forward);
      links_.emplace_back(forward, number);
    }
    const uint32_t gradient = contexts_.GradientCallIn(node.range);
    if (gradient != kNoRange) {
      std::vector<uint32_t>& calls = result_.gradient_calls_;
      if (calls.size() < number) calls.resize(number, kNoRange);
      calls[number - 1] = gradient;
    }
    result_.runs_.push_back({number, 0});
    sequences_.push_back(node.sequence);
    links_.emplace_back(node.range, static_cast<uint32_t>(result_.runs_.size()));
  }

  /// Numbers the runs of each node by start. Nodes with different sequence numbers are not runs of
  /// each other.
  void CountRuns() {
    std::vector<NodeRun>& runs = result_.runs_;
    std::vector<uint32_t> order(runs.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto key = [&](uint32_t i) { return std::pair(runs[i].node, sequences_[i]); };
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (size_t i = 1; i < order.size(); ++i) {
      if (key(order[i]) == key(order[i - 1])) runs[order[i]].run = runs[order[i - 1]].run + 1;
    }
  }

  void KeepOtherArrows() {
    std::vector<bool> used(arrows_.size(), false);
    size_t next = 0;  // Both are by thread and time.
    for (const uint32_t node : contexts_.nodes()) {
      const Range& range = trace_.ranges[node];
      next = std::max(next, FirstArrow(range));
      for (; next < arrows_.size() && LeadsTo(arrows_[next], range); ++next) used[next] = true;
    }
    for (size_t i = 0; i < arrows_.size(); ++i) {
      if (!used[i]) result_.other_arrows_.push_back(arrows_[i]);
    }
  }

  uint32_t ForwardOf(const BackwardNode& node) {
    const auto named = named_calls_.find({node.process_id, node.forward_handle});
    if (named != named_calls_.end() && named->second != kNoRange) return named->second;
    const Range& backward = trace_.ranges[node.range];
    runs_.clear();
    for (const ThreadRun& run : candidates_.Of(node)) AddBefore(run, backward.start_ns, false);
    KeepForwardThread(node, backward);
    // With candidates on several threads the op is undecidable.
    if (runs_.size() != 1) return kNoRange;
    const std::string_view name = roles_.NameOf(backward);
    const uint32_t last = candidates_.LastThatFits(runs_.front(), name);
    if (last != kNoRange) return last;
    // The op of a user's C++ function has no number of its own, nor a name like the node's.
    if (name.find("CppNode<") != std::string_view::npos) return kNoRange;
    // The node of a user's function, which calls ops with the same number.
    return candidates_.OutermostEnclosingLast(runs_.front());
  }

  void AddBefore(const ThreadRun& whole, int64_t time_ns, bool through) {
    const ThreadRun run = candidates_.Before(whole, time_ns, through);
    if (!run.empty()) runs_.push_back(run);
  }

  /// Drops candidates on other threads than the recorded one, if there is one.
  void KeepForwardThread(const BackwardNode& node, const Range& backward) {
    if (const ForwardBackwardLink* arrow = ArrowTo(backward)) {
      KeepThread(arrow->forward_thread);
      std::vector<ThreadRun> left;
      left.swap(runs_);
      for (const ThreadRun& run : left) AddBefore(run, arrow->forward_ns, true);
    } else if (const ThreadIndex* marked =
                   contexts_.MarkedThread(node.process_id, node.forward_thread)) {
      KeepThread(*marked);
    } else if (const auto voted = threads_by_vote_.find({node.process_id, node.forward_thread});
               voted != threads_by_vote_.end()) {
      KeepThread(voted->second);
    }
  }

  void KeepThread(ThreadIndex thread) {
    const auto run = std::find_if(runs_.begin(), runs_.end(),
                                  [&](const ThreadRun& other) { return other.thread == thread; });
    if (run != runs_.end()) runs_ = {*run};
  }

  /// Returns the profiler's own arrow to a node, or null.
  const ForwardBackwardLink* ArrowTo(const Range& node) const {
    const size_t first = FirstArrow(node);
    return first < arrows_.size() && LeadsTo(arrows_[first], node) ? &arrows_[first] : nullptr;
  }

  /// Returns the index of the first arrow that ends no earlier than a node begins.
  size_t FirstArrow(const Range& node) const {
    const auto place =
        std::lower_bound(arrows_.begin(), arrows_.end(), node,
                         [](const ForwardBackwardLink& arrow, const Range& range) {
                           return std::tie(arrow.backward_thread, arrow.backward_ns) <
                                  std::tie(range.thread, range.start_ns);
                         });
    return static_cast<size_t>(place - arrows_.begin());
  }

  /// Whether such an arrow leads to the node.
  static bool LeadsTo(const ForwardBackwardLink& arrow, const Range& node) {
    return arrow.backward_thread == node.thread && arrow.backward_ns <= node.end_ns;
  }

  ForwardBackward& result_;
  const Trace& trace_;
  const StepContexts& contexts_;
  const LeakedRanges& leaks_;
  const RangeRoles& roles_;
  ForwardCandidates candidates_;
  std::vector<ForwardBackwardLink> arrows_;                 // By thread and time of their ends.
  std::unordered_map<Key, uint32_t, KeyHash> named_calls_;  // Ranges, by process and handle.
  std::map<Key, ThreadIndex> threads_by_vote_;              // By process and number.
  IdMap numbers_;                                           // Of forward ops, by range.
  std::vector<std::pair<uint32_t, uint32_t>> links_;        // For ForwardBackward::links_.
  std::vector<int64_t> sequences_;                          // Of the node of each of runs_.
  std::vector<ThreadRun> runs_;  // Candidates of the current node, one run per thread.
};

ForwardBackward::ForwardBackward(const Trace& trace, const ThreadRanges& threads,
                                 const LeakedRanges& leaks, const StepContexts& contexts,
                                 const RangeRoles& roles)
    : contexts_(contexts) {
  if (contexts.nodes().empty()) {
    other_arrows_ = trace.forward_backward_links;
  } else {
    Matcher(this, trace, threads, leaks, roles).Run();
  }
}

std::vector<ForwardBackwardLink> ForwardBackward::Arrows(const Trace& trace) const {
  std::vector<ForwardBackwardLink> arrows;
  for (const uint32_t node : contexts_.nodes()) {
    const uint32_t number = RunOf(node).node;
    if (number == 0) continue;
    const Range& forward = trace.ranges[ForwardOf(number)];
    const Range& backward = trace.ranges[node];
    arrows.push_back({forward.start_ns, backward.start_ns, forward.thread, backward.thread});
  }
  arrows.insert(arrows.end(), other_arrows_.begin(), other_arrows_.end());
  return arrows;
}

}  // namespace oplens::parse
