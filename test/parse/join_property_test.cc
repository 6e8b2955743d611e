// The join against its definitions, spelled out in quadratic time, on random traces: nested,
// crossing, equal, empty and never closed ranges, and forward ops and nodes of every kind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parse/join/call_tree.h"
#include "parse/join/forward_backward.h"
#include "parse/join/joined.h"
#include "parse/join/range_roles.h"
#include "parse/join/range_texts.h"
#include "parse/join/step_contexts.h"
#include "parse/join/thread_ranges.h"
#include "parse/model/node_name.h"
#include "test/support/random_cases.h"

namespace oplens::parse::join_property_test {
namespace {

using test::AnyByte;
using test::AnyIn;
using test::Require;

constexpr int kThreads = 3;

/// An operator or a marker.
void AddRange(Trace* trace) {
  const uint8_t start = AnyByte();
  const uint8_t length = AnyByte();
  const uint8_t kind = AnyByte();
  const uint8_t number = AnyByte();
  Range range;
  range.start_ns = start;
  range.end_ns = kind % 31 == 0 ? kNeverClosed : int64_t{start} + length % 64;
  range.SetThread(number % kThreads);
  const int sequence = number % 4;
  const auto operator_range = [&](std::string_view name, bool backward) {
    Operator& op = MakeOperator(trace->strings.Intern(name), &range, trace);
    op.backward = backward;
    op.sequence = sequence;
    if (!backward) op.call = trace->strings.Intern("{'mod': 'torch', 'op': 'mm', 'args': []}");
    if (backward && length % 3 == 0) op.forward_thread = 1 + number % 2;
  };
  const auto marker = [&](const std::string& text) { range.text = trace->strings.Intern(text); };
  switch (kind % 9) {
    case 0:
      marker(fmt::format("mm, seq = {}", sequence));
      break;
    case 1:
      marker(fmt::format("MmBackward0, seq = {}", sequence));
      break;
    case 2:
      marker(fmt::format("size, seq = {}", sequence));
      break;
    case 3:
      operator_range("aten::mm", false);
      break;
    case 4:
      operator_range("MmBackward0", true);
      break;
    case 5:
      operator_range("FooBackward", true);
      break;
    case 6:
      operator_range("CppNode<Mm>", true);
      break;
    case 7:
      marker("layer:a");
      break;
    default:
      marker("my range");
  }
  trace->ranges.push_back(range);
}

void AddKernel(Trace* trace) {
  const uint8_t start = AnyByte();
  const uint8_t length = AnyByte();
  const uint8_t number = AnyByte();
  Kernel& kernel = trace->kernels.emplace_back();
  kernel.start_ns = 1000 + start;
  kernel.end_ns = kernel.start_ns + length;
  kernel.row_id = kernel.correlation_id = static_cast<int64_t>(trace->kernels.size());
  if (number % 11 == 0) return;  // Without a launch.
  kernel.launch = static_cast<LaunchIndex>(trace->launches.size());
  trace->launches.push_back(
      {start, int64_t{start} + length % 16, kernel.correlation_id, number % uint32_t{kThreads}, 0});
}

/// Two processes; threads 0 and 1 are of the first.
Trace RandomTrace() {
  Trace trace;
  trace.threads = {{10, 100}, {10, 200}, {11, 100}};
  for (int left = AnyIn(0, 101); left > 0; --left) AddRange(&trace);
  for (int left = AnyIn(0, 101); left > 0; --left) AddKernel(&trace);
  for (int left = AnyIn(0, 101); left > 0; --left) {
    const uint8_t from = AnyByte();
    const uint8_t to = AnyByte();
    const uint8_t number = AnyByte();
    if (number % 8 != 0) continue;
    trace.forward_backward_links.push_back({from, to, number / 8 % 2u, number / 16 % 2u});
  }
  return trace;
}

bool Encloses(const Range& range, const LaunchCall& call) {
  return range.start_ns <= call.start_ns && range.end_ns >= call.end_ns;
}

/// Calls f(kernel, call) for each kernel with a launch.
template <typename F>
void ForEachLaunched(const Joined& joined, F f) {
  const Trace& trace = joined.trace();
  for (WorkIndex kernel = 0; kernel < trace.kernels.size(); ++kernel) {
    if (trace.kernels[kernel].launch != kNoLaunch) {
      f(kernel, trace.launches[trace.kernels[kernel].launch]);
    }
  }
}

std::vector<uint32_t> Listed(std::span<const uint32_t> list) { return {list.begin(), list.end()}; }

TEST(JoinProperty, ListsAroundLaunchesAreTheRangesThatEncloseThem) {
  test::CheckRandomCases([] {
    Trace trace = RandomTrace();
    Diagnostics diagnostics;
    const Joined joined(&trace, {}, &diagnostics);
    ForEachLaunched(joined, [&](WorkIndex kernel, const LaunchCall& call) {
      std::vector<uint32_t> layers;
      std::vector<uint32_t> forwards;
      for (uint32_t i = 0; i < trace.ranges.size(); ++i) {
        const Range& range = trace.ranges[i];
        if (trace.ThreadOf(range) != call.thread || joined.leaks().Has(i) ||
            !Encloses(range, call)) {
          continue;
        }
        if (trace.strings.View(range.text) == "layer:a") layers.push_back(i);
        if (joined.links().NumberOf(i) != 0) forwards.push_back(i);
      }
      const Surroundings& around = *joined.SurroundingsOf(kernel);
      Require(Listed(joined.RangesOf(around, Around::kLayers)) == layers);
      Require(Listed(joined.RangesOf(around, Around::kForwards)) == forwards);
    });
  });
}

TEST(JoinProperty, ACallIsItselfAndItsChildren) {
  // Parents, and the time in which no child ran.
  test::CheckRandomCases([] {
    Trace trace = RandomTrace();
    Diagnostics diagnostics;
    const Joined joined(&trace, {}, &diagnostics);
    const CallTree tree(joined);
    size_t calls_met = 0;
    for (ThreadIndex thread = 0; thread < kThreads; ++thread) {
      const std::span<const CallTree::Call> calls = tree.Of(thread);
      calls_met += calls.size();
      for (uint32_t i = 0; i < calls.size(); ++i) {
        const Range& range = trace.ranges[calls[i].range];
        uint32_t parent = CallTree::kNone;
        for (uint32_t other = 0; other < i; ++other) {
          const Range& around = trace.ranges[calls[other].range];
          if (around.start_ns <= range.start_ns && around.end_ns >= range.end_ns) parent = other;
        }
        Require(calls[i].parent == parent);
        Require(calls[i].total_ns == range.end_ns - range.start_ns);
        // ns by ns: itself, or in a child.
        int64_t self_ns = 0;
        for (int64_t ns = range.start_ns; ns < range.end_ns; ++ns) {
          self_ns += std::none_of(calls.begin(), calls.end(), [&](const CallTree::Call& child) {
            const Range& inner = trace.ranges[child.range];
            return child.parent == i && inner.start_ns <= ns && ns < inner.end_ns;
          });
        }
        Require(calls[i].self_ns == self_ns);
      }
    }
    size_t host_calls = 0;
    for (uint32_t i = 0; i < trace.ranges.size(); ++i) host_calls += IsHostCall(joined, i);
    Require(calls_met == host_calls);
  });
}

/// "Forward op of a node" of docs/correlation.md, as it is written there.
class WrittenMatcher {
 public:
  explicit WrittenMatcher(const Joined& joined)
      : joined_(joined), trace_(joined.trace()), roles_(trace_, joined.texts()) {
    for (const uint32_t index : joined.contexts().nodes()) {
      const BackwardNode node = roles_.NodeOf(index);
      if (node.forward_thread == 0) continue;
      const std::vector<uint32_t> all = WithNumber(node);
      const bool one_thread = std::all_of(all.begin(), all.end(), [&](uint32_t i) {
        return trace_.ThreadOf(trace_.ranges[i]) == trace_.ThreadOf(trace_.ranges[all.front()]);
      });
      if (!all.empty() && one_thread) {
        ++votes_[{node.process_id, node.forward_thread}]
                [trace_.ThreadOf(trace_.ranges[all.front()])];
      }
    }
  }

  std::optional<uint32_t> ForwardOf(const BackwardNode& node) const {
    const Range& backward = trace_.ranges[node.range];
    // Of the ops and sequence ranges of its number and process, those begun before the node,
    std::vector<uint32_t> left = WithNumber(node);
    std::erase_if(left, [&](uint32_t i) { return trace_.ranges[i].start_ns >= backward.start_ns; });
    // 1. on the thread of the arrow, and begun by then; else on the thread that most nodes of the
    // number of the forward thread leave no choice but,
    if (const ForwardBackwardLink* arrow = ArrowTo(backward)) {
      Keep(arrow->forward_thread, &left);
      std::erase_if(left,
                    [&](uint32_t i) { return trace_.ranges[i].start_ns > arrow->forward_ns; });
    } else if (const auto threads = votes_.find({node.process_id, node.forward_thread});
               threads != votes_.end()) {
      std::pair<ThreadIndex, int> best = {0, 0};
      for (const auto& [thread, count] : threads->second) {
        if (count > best.second) best = {thread, count};
      }
      Keep(best.first, &left);
    }
    if (left.empty()) return std::nullopt;
    const std::optional<uint32_t> chosen = LastThatFits(backward, left);
    // 3. none if candidates of several threads are left.
    for (const uint32_t i : left) {
      if (trace_.ThreadOf(trace_.ranges[i]) != trace_.ThreadOf(trace_.ranges[left.front()]))
        return std::nullopt;
    }
    return chosen;
  }

 private:
  std::vector<uint32_t> WithNumber(const BackwardNode& node) const {
    std::vector<uint32_t> list;
    for (uint32_t i = 0; i < trace_.ranges.size(); ++i) {
      const Range& range = trace_.ranges[i];
      const StepContext context = joined_.contexts().ContextOf(i);
      const bool op = context == StepContext::kNone || context == StepContext::kRecompute;
      const bool filler =
          node.sequence == 0 && joined_.contexts().IsEngineThread(trace_.ThreadOf(range));
      if (op && !range.open() && !joined_.leaks().Has(i) && !filler &&
          trace_.threads[trace_.ThreadOf(range)].process_id == node.process_id &&
          roles_.SequenceOf(range) == node.sequence) {
        list.push_back(i);
      }
    }
    std::stable_sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) {
      return trace_.ranges[a].start_ns < trace_.ranges[b].start_ns;
    });
    return list;
  }

  /// The first that ends inside the node.
  const ForwardBackwardLink* ArrowTo(const Range& node) const {
    const ForwardBackwardLink* first = nullptr;
    for (const ForwardBackwardLink& arrow : trace_.forward_backward_links) {
      const bool inside = arrow.backward_thread == trace_.ThreadOf(node) &&
                          arrow.backward_ns >= node.start_ns && arrow.backward_ns <= node.end_ns;
      if (inside && (first == nullptr || arrow.backward_ns < first->backward_ns)) first = &arrow;
    }
    return first;
  }

  void Keep(ThreadIndex thread, std::vector<uint32_t>* left) const {
    std::vector<uint32_t> kept;
    for (const uint32_t i : *left) {
      if (trace_.ThreadOf(trace_.ranges[i]) == thread) kept.push_back(i);
    }
    if (!kept.empty()) *left = kept;
  }

  /// 2. the last whose name is the node's, else the outermost around the last; none for CppNode.
  std::optional<uint32_t> LastThatFits(const Range& node, const std::vector<uint32_t>& left) const {
    const std::string_view name = trace_.strings.View(node.text);
    for (auto i = left.rbegin(); i != left.rend(); ++i) {
      const std::string_view op = roles_.NameOf(trace_.ranges[*i]);
      if (NamesFit(BareName(name), BareName(op))) return *i;
    }
    if (name.starts_with("CppNode<")) return std::nullopt;
    const Range& last = trace_.ranges[left.back()];
    for (const uint32_t i : left) {
      const Range& range = trace_.ranges[i];
      if (trace_.ThreadOf(range) == trace_.ThreadOf(last) && range.start_ns <= last.start_ns &&
          range.end_ns >= last.end_ns) {
        return i;
      }
    }
    return std::nullopt;
  }

  const Joined& joined_;
  const Trace& trace_;
  RangeRoles roles_;
  std::map<std::pair<int64_t, int64_t>, std::map<ThreadIndex, int>> votes_;
};

TEST(JoinProperty, NodesHaveTheForwardOpsThatTheRulesSay) {
  int linked = 0;
  int unlinked = 0;
  test::CheckRandomCases([&] {
    Trace trace = RandomTrace();
    // Of several arrows to one moment any may count.
    std::vector<ForwardBackwardLink>& arrows = trace.forward_backward_links;
    std::map<std::pair<ThreadIndex, int64_t>, ForwardBackwardLink> one;
    for (const ForwardBackwardLink& a : arrows) one[{a.backward_thread, a.backward_ns}] = a;
    arrows.clear();
    for (const auto& [end, arrow] : one) arrows.push_back(arrow);
    Diagnostics diagnostics;
    const Joined joined(&trace, {}, &diagnostics);
    const WrittenMatcher written(joined);
    std::map<std::pair<uint32_t, int64_t>, uint32_t> runs;
    std::vector<uint32_t> nodes = joined.contexts().nodes();
    std::stable_sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
      return trace.ranges[a].start_ns < trace.ranges[b].start_ns;
    });
    const RangeRoles roles(trace, joined.texts());
    for (const uint32_t index : nodes) {
      const BackwardNode node = roles.NodeOf(index);
      const std::optional<uint32_t> expected = written.ForwardOf(node);
      const NodeRun run = joined.links().RunOf(node.range);
      Require((run.node != 0) == expected.has_value());
      ++(expected ? linked : unlinked);
      if (!expected) continue;
      Require(joined.links().ForwardOf(run.node) == *expected);
      Require((run.run == runs[{run.node, node.sequence}]++));
    }
  });
  EXPECT_GT(linked, 100) << "the random traces must have such nodes";
  EXPECT_GT(unlinked, 100);
}

}  // namespace
}  // namespace oplens::parse::join_property_test
