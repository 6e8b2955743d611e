#include "parse/join/backward_callers.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "parse/join/step_index.h"

namespace oplens::parse {

BackwardCallers::BackwardCallers(const RangeKnowledge& known)
    : known_(known),
      linked_(known.threads.thread_count()),
      has_nodes_(known.threads.thread_count(), false),
      questions_(known.threads.thread_count()) {
  for (const uint32_t node : known.contexts.nodes()) {
    const Range& range = known.trace.ranges[node];
    const uint32_t number = known.links.RunOf(node).node;
    if (number == 0) continue;
    const ThreadIndex forward_thread =
        known.trace.ThreadOf(known.trace.ranges[known.links.ForwardOf(number)]);
    std::vector<Linked>& linked = linked_[known.trace.ThreadOf(range)];
    // Only changes of the thread matter.
    if (!linked.empty() && linked.back().forward_thread == forward_thread) continue;
    linked.push_back({range.start_ns, forward_thread});
  }
  for (size_t thread = 0; thread < has_nodes_.size(); ++thread) {
    has_nodes_[thread] = known.contexts.HasNodes(static_cast<ThreadIndex>(thread));
  }
}

std::vector<ThreadIndex> BackwardCallers::WaitingFor(ThreadIndex thread, int64_t time_ns) const {
  const std::vector<Linked>& linked = linked_[thread];
  std::vector<ThreadIndex> threads;
  if (!linked.empty()) {
    const auto after =
        std::upper_bound(linked.begin(), linked.end(), time_ns,
                         [](int64_t time, const Linked& node) { return time < node.start_ns; });
    const Linked& last = after == linked.begin() ? linked.front() : *(after - 1);
    if (last.forward_thread != thread) threads.push_back(last.forward_thread);
    return threads;
  }
  for (ThreadIndex other = 0; other < has_nodes_.size(); ++other) {
    if (other != thread && !has_nodes_[other] &&
        known_.trace.threads[other].process_id == known_.trace.threads[thread].process_id) {
      threads.push_back(other);
    }
  }
  return threads;
}

uint32_t BackwardCallers::Ask(const LaunchCall& call, Phase phase, uint32_t outermost) {
  if (!IsBackwardPhase(phase)) return 0;
  // The node is the outermost range: nodes inside it belong to it.
  const int64_t time_ns =
      outermost == OpenRanges::kNone ? call.start_ns : known_.trace.ranges[outermost].start_ns;
  const bool again = asked_ > 0 && last_thread_ == call.thread && last_.time_ns == time_ns;
  if (again) return asked_;
  const std::vector<ThreadIndex> threads = WaitingFor(call.thread, call.start_ns);
  if (threads.empty()) return 0;
  last_thread_ = call.thread;
  last_ = {time_ns, ++asked_};
  for (const ThreadIndex thread : threads) questions_[thread].push_back(last_);
  return asked_;
}

void BackwardCallers::Answer(SurroundingsReader* reader) {
  std::vector<std::pair<uint32_t, uint32_t>> found;  // Question and range.
  for (size_t thread = 0; thread < questions_.size(); ++thread) {
    std::vector<Question>& questions = questions_[thread];
    if (questions.empty()) continue;
    std::stable_sort(questions.begin(), questions.end(),
                     [](const Question& a, const Question& b) { return a.time_ns < b.time_ns; });
    reader->Begin(static_cast<ThreadIndex>(thread));
    for (const auto& [time_ns, number] : questions) {
      reader->MoveTo(time_ns, time_ns < kNeverClosed ? time_ns + 1 : time_ns);
      size_t listed = 0;
      reader->ForEachPath([&, number = number](uint32_t range) {
        // A step holds for every thread and is recorded separately.
        const std::string_view text = known_.trace.strings.View(known_.trace.ranges[range].text);
        if (!StepIndex::NumberIn(text)) found.emplace_back(number, range);
        return ++listed < kMaxRangePath;
      });
    }
  }
  questions_.clear();
  questions_.shrink_to_fit();
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  bounds_.assign(size_t{asked_} + 1, 0);
  for (const auto& [number, range] : found) {
    ranges_.push_back(range);
    ++bounds_[number];
  }
  std::partial_sum(bounds_.begin(), bounds_.end(), bounds_.begin());
}

}  // namespace oplens::parse
