#include "parse/join/backward_callers.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/team.h"
#include "base/threads.h"
#include "parse/join/sequence_texts.h"
#include "parse/join/step_index.h"

namespace oplens::parse {
namespace {

/// Questions that are worth a thread.
constexpr size_t kQuestionsOfPart = 512;

}  // namespace

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

std::vector<BackwardCallers::Part> BackwardCallers::CutQuestions(OpenAtCut* open) {
  std::vector<Part> parts;
  for (size_t thread = 0; thread < questions_.size(); ++thread) {
    std::vector<Question>& all = questions_[thread];
    if (all.empty()) continue;
    std::stable_sort(all.begin(), all.end(),
                     [](const Question& a, const Question& b) { return a.time_ns < b.time_ns; });
    const size_t count = open == nullptr ? 1 : CountParts(all.size(), kQuestionsOfPart);
    const size_t size = (all.size() + count - 1) / count;
    for (size_t begin = 0; begin < all.size(); begin += size) {
      const auto questions = std::span(all).subspan(begin, std::min(size, all.size() - begin));
      size_t next_range = known_.threads.BeginOf(thread);
      if (begin > 0) {
        next_range = open->FirstAfter(static_cast<ThreadIndex>(thread), questions.front().time_ns);
        open->MoveTo(static_cast<ThreadIndex>(thread), next_range, questions.front().time_ns);
        // Each part begins with the open ranges: where these are many, parts are longer.
        if (open->open().size() > size) {
          const std::span<const Question> longer = parts.back().questions;
          parts.back().questions = {longer.data(), longer.size() + questions.size()};
          continue;
        }
      }
      Part& part = parts.emplace_back();
      part.thread = static_cast<ThreadIndex>(thread);
      part.questions = questions;
      part.next_range = next_range;
      if (begin > 0) part.open = open->open();
    }
  }
  return parts;
}

void BackwardCallers::AnswerPart(const OpCalls& calls, Part* part) const {
  SequenceTexts texts(known_.trace);
  SurroundingsReader reader(known_, calls, &texts);
  reader.BeginAt(part->thread, part->open, part->next_range);
  for (const auto& [time_ns, number] : part->questions) {
    reader.MoveTo(time_ns, time_ns < kNeverClosed ? time_ns + 1 : time_ns);
    size_t listed = 0;
    reader.ForEachPath([&, number = number](uint32_t range) {
      // A step holds for every thread and is recorded separately.
      const std::string_view text = known_.trace.strings.View(known_.trace.ranges[range].text);
      if (!StepIndex::NumberIn(text)) part->found.emplace_back(number, range);
      return ++listed < kMaxRangePath;
    });
  }
}

void BackwardCallers::Answer(const OpCalls& calls, OpenAtCut* open) {
  std::vector<Part> parts = CutQuestions(open);
  const bool alone = open == nullptr || parts.size() < 2;
  Team team(alone ? 0 : std::min(parts.size(), static_cast<size_t>(ThreadLimit())) - 1);
  team.Each(parts.size(), [&](size_t i) { AnswerPart(calls, &parts[i]); });
  std::vector<std::pair<uint32_t, uint32_t>> found;
  for (const Part& part : parts) found.insert(found.end(), part.found.begin(), part.found.end());
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
