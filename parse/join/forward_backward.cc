#include "parse/join/forward_backward.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/team.h"
#include "base/threads.h"
#include "parse/join/forward_candidates.h"
#include "parse/join/range_roles.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/trace.h"

namespace oplens::parse {
namespace {

/// Nodes that are worth a thread.
constexpr size_t kNodesOfPart = size_t{2} << 10;

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
        nodes_(NodesOf(contexts_, roles)),
        candidates_(trace, threads, leaks, contexts_, roles, nodes_),
        arrows_(trace.forward_backward_links) {
    std::sort(arrows_.begin(), arrows_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.backward_thread, a.backward_ns, a.forward_ns, a.forward_thread) <
             std::tie(b.backward_thread, b.backward_ns, b.forward_ns, b.forward_thread);
    });
  }

  void Run() {
    FindNamedCalls();
    MapForwardThreads();
    const std::vector<Made> made = FindForwards();
    numbers_.assign(trace_.ranges.size(), 0);
    result_.runs_.reserve(nodes_.size());
    result_.forwards_.reserve(nodes_.size());
    links_.reserve(2 * nodes_.size());
    for (const uint32_t node : ByStart()) {
      if (made[node].forward != kNoRange) Link(nodes_[node], made[node]);
    }
    result_.links_ = SparseNumbers(trace_.ranges.size(), links_);
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
  /// What made a node.
  struct Made {
    uint32_t forward = kNoRange;
    uint32_t gradient = kNoRange;  ///< StepContexts::GradientCallIn
  };

  /// Of one part of the nodes.
  struct Chooser {
    FittingCandidates fitting;
    std::vector<ThreadRun> runs;  ///< Candidates of the current node, one run per thread.
  };

  static std::vector<BackwardNode> NodesOf(const StepContexts& contexts, const RangeRoles& roles) {
    const std::vector<uint32_t>& ranges = contexts.nodes();
    std::vector<BackwardNode> nodes(ranges.size());
    InParts(nodes.size(), CountParts(nodes.size(), kNodesOfPart),
            [&](size_t, size_t begin, size_t end) {
              for (size_t i = begin; i < end; ++i) nodes[i] = roles.NodeOf(ranges[i]);
            });
    return nodes;
  }

  /// Finds the calls that nodes name as theirs.
  void FindNamedCalls() {
    for (const BackwardNode& node : nodes_) {
      if (node.forward_handle == 0) continue;
      named_calls_.try_emplace({node.process_id, node.forward_handle}, kNoRange);
    }
    if (named_calls_.empty()) return;
    for (size_t i = 0; i < trace_.ranges.size(); ++i) {
      const Range& range = trace_.ranges[i];
      if (leaks_.Has(i) || range.open()) continue;
      const int64_t handle = roles_.HandleOf(range);
      if (handle == 0) continue;
      const auto place =
          named_calls_.find({trace_.threads[trace_.ThreadOf(range)].process_id, handle});
      if (place != named_calls_.end()) place->second = static_cast<uint32_t>(i);
    }
  }

  /// Maps the framework's thread numbers to threads, by votes of nodes with one candidate thread.
  void MapForwardThreads() {
    std::map<Key, std::map<ThreadIndex, size_t>> votes;  // By process and number.
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const BackwardNode& node = nodes_[i];
      if (node.forward_thread == 0) continue;
      const std::span<const ThreadRun> runs = candidates_.Of(i);
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

  /// By node.
  std::vector<Made> FindForwards() const {
    std::vector<Made> made(nodes_.size());
    const auto threads = static_cast<size_t>(ThreadLimit());
    InParts(made.size(), CountParts(made.size(), kNodesOfPart),
            [&](size_t, size_t begin, size_t end) {
              Chooser chooser{FittingCandidates(candidates_, threads), {}};
              for (size_t i = begin; i < end; ++i) {
                const uint32_t forward = ForwardOf(i, &chooser);
                if (forward == kNoRange) continue;
                const uint32_t marked = contexts_.EnclosingMarkedOp(forward);
                made[i] = {marked == kNoRange ? forward : marked,
                           contexts_.GradientCallIn(nodes_[i].range)};
              }
            });
    return made;
  }

  /// Indices of the nodes in order of start.
  std::vector<uint32_t> ByStart() const {
    std::vector<uint32_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto before = [&](uint32_t a, uint32_t b) {
      return trace_.ranges[nodes_[a].range].start_ns < trace_.ranges[nodes_[b].range].start_ns;
    };
    if (!std::is_sorted(order.begin(), order.end(), before)) {
      std::stable_sort(order.begin(), order.end(), before);
    }
    return order;
  }

  void Link(const BackwardNode& node, const Made& made) {
    uint32_t& number = numbers_[made.forward];
    if (number == 0) {
      result_.forwards_.push_back(made.forward);
      number = result_.count();
      links_.emplace_back(made.forward, number);
    }
    if (made.gradient != kNoRange) {
      std::vector<uint32_t>& calls = result_.gradient_calls_;
      if (calls.size() < number) calls.resize(number, kNoRange);
      calls[number - 1] = made.gradient;
    }
    result_.runs_.push_back({number, 0});
    sequences_.push_back(node.sequence);
    links_.emplace_back(node.range, static_cast<uint32_t>(result_.runs_.size()));
  }

  /// Numbers the runs of each node by start. Nodes with different sequence numbers are not runs of
  /// each other.
  void CountRuns() {
    std::vector<NodeRun>& runs = result_.runs_;
    std::vector<uint32_t> count_of(size_t{result_.count()} + 1, 0);
    for (const NodeRun& run : runs) ++count_of[run.node];
    std::vector<uint32_t> order;  // Of those of several to a forward op.
    for (uint32_t i = 0; i < runs.size(); ++i) {
      if (count_of[runs[i].node] > 1) order.push_back(i);
    }
    const auto key = [&](uint32_t i) { return std::pair(runs[i].node, sequences_[i]); };
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (size_t i = 1; i < order.size(); ++i) {
      if (key(order[i]) == key(order[i - 1])) runs[order[i]].run = runs[order[i - 1]].run + 1;
    }
  }

  void KeepOtherArrows() {
    if (arrows_.empty()) return;
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

  uint32_t ForwardOf(size_t index, Chooser* chooser) const {
    const BackwardNode& node = nodes_[index];
    const auto named = named_calls_.find({node.process_id, node.forward_handle});
    if (named != named_calls_.end() && named->second != kNoRange) return named->second;
    const Range& backward = trace_.ranges[node.range];
    std::vector<ThreadRun>& runs = chooser->runs;
    runs.clear();
    for (const ThreadRun& run : candidates_.Of(index)) {
      AddBefore(run, backward.start_ns, false, &runs);
    }
    KeepForwardThread(node, backward, &runs);
    // With candidates on several threads the op is undecidable.
    if (runs.size() != 1) return kNoRange;
    const std::string_view name = roles_.NameOf(backward);
    const uint32_t last = chooser->fitting.LastThatFits(runs.front(), name);
    if (last != kNoRange) return last;
    // The op of a user's C++ function has no number of its own, nor a name like the node's.
    if (name.find("CppNode<") != std::string_view::npos) return kNoRange;
    // The node of a user's function, which calls ops with the same number.
    return chooser->fitting.OutermostEnclosingLast(runs.front());
  }

  void AddBefore(const ThreadRun& whole, int64_t time_ns, bool through,
                 std::vector<ThreadRun>* runs) const {
    const ThreadRun run = candidates_.Before(whole, time_ns, through);
    if (!run.empty()) runs->push_back(run);
  }

  /// Drops candidates on other threads than the recorded one, if there is one.
  void KeepForwardThread(const BackwardNode& node, const Range& backward,
                         std::vector<ThreadRun>* runs) const {
    if (const ForwardBackwardLink* arrow = ArrowTo(backward)) {
      KeepThread(arrow->forward_thread, runs);
      std::vector<ThreadRun> left;
      left.swap(*runs);
      for (const ThreadRun& run : left) AddBefore(run, arrow->forward_ns, true, runs);
    } else if (const ThreadIndex* marked =
                   contexts_.MarkedThread(node.process_id, node.forward_thread)) {
      KeepThread(*marked, runs);
    } else if (const auto voted = threads_by_vote_.find({node.process_id, node.forward_thread});
               voted != threads_by_vote_.end()) {
      KeepThread(voted->second, runs);
    }
  }

  static void KeepThread(ThreadIndex thread, std::vector<ThreadRun>* runs) {
    const auto run = std::find_if(runs->begin(), runs->end(),
                                  [&](const ThreadRun& other) { return other.thread == thread; });
    if (run != runs->end()) *runs = {ThreadRun(*run)};
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
                         [this](const ForwardBackwardLink& arrow, const Range& range) {
                           return std::pair(arrow.backward_thread, arrow.backward_ns) <
                                  std::pair(trace_.ThreadOf(range), range.start_ns);
                         });
    return static_cast<size_t>(place - arrows_.begin());
  }

  /// Whether such an arrow leads to the node.
  bool LeadsTo(const ForwardBackwardLink& arrow, const Range& node) const {
    return arrow.backward_thread == trace_.ThreadOf(node) && arrow.backward_ns <= node.end_ns;
  }

  ForwardBackward& result_;
  const Trace& trace_;
  const StepContexts& contexts_;
  const LeakedRanges& leaks_;
  const RangeRoles& roles_;
  const std::vector<BackwardNode> nodes_;
  const ForwardCandidates candidates_;
  std::vector<ForwardBackwardLink> arrows_;                 // By thread and time of their ends.
  std::unordered_map<Key, uint32_t, KeyHash> named_calls_;  // Ranges, by process and handle.
  std::map<Key, ThreadIndex> threads_by_vote_;              // By process and number.
  std::vector<uint32_t> numbers_;                           // Of forward ops, by range; 0: none.
  std::vector<std::pair<uint32_t, uint32_t>> links_;        // For ForwardBackward::links_.
  std::vector<int64_t> sequences_;                          // Of the node of each of runs_.
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
    arrows.push_back(
        {forward.start_ns, backward.start_ns, trace.ThreadOf(forward), trace.ThreadOf(backward)});
  }
  arrows.insert(arrows.end(), other_arrows_.begin(), other_arrows_.end());
  return arrows;
}

}  // namespace oplens::parse
