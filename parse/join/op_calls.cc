#include "parse/join/op_calls.h"

#include <map>
#include <string>
#include <unordered_set>
#include <utility>

#include "parse/join/collectives.h"
#include "parse/join/gradient_hints.h"

namespace oplens::parse {

OpCalls::OpCalls(Trace* trace, const ThreadRanges& threads, const ForwardBackward& links,
                 const VocabularyRanges& vocabulary, RangeTexts* texts)
    : trace_(*trace),
      links_(links),
      vocabulary_(vocabulary),
      texts_(*texts),
      inner_(trace, threads, texts),
      lookups_(trace, threads, texts),
      sequence_texts_(trace->operators.size(), 0) {
  if (links.count() > 0) {
    CompleteByNode();
  } else {
    CompleteBySize();
  }
  if (trace_.group_size > 1) CompleteByRanks();
}

StringId OpCalls::Intern(const std::string& text) {
  if (text.empty()) return 0;
  const StringId id = trace_.strings.Intern(text);
  texts_.Classify(id);
  return id;
}

void OpCalls::CompleteByNode() {
  std::map<std::pair<StringId, StringId>, StringId> known;
  for (uint32_t number = 1; number <= links_.count(); ++number) {
    const uint32_t gradient = links_.GradientCallOf(number);
    if (gradient == kNoRange) continue;
    const StringId gradient_call = CallOf(gradient);
    const StringId forward_call = CallOf(links_.ForwardOf(number));
    const auto [place, is_new] = known.try_emplace({forward_call, gradient_call}, 0);
    if (is_new) {
      place->second = Intern(
          WithGradientFacts(trace_.strings.View(forward_call), trace_.strings.View(gradient_call)));
    }
    if (place->second == 0) continue;
    completed_.resize(size_t{links_.count()} + 1, 0);
    completed_[number] = place->second;
  }
}

void OpCalls::CompleteBySize() {
  ResultsBySize results;
  std::unordered_set<StringId> calls;
  for (const Range& range : trace_.ranges) {
    const Operator* const op = trace_.OperatorOf(range);
    const StringId call = op == nullptr ? 0 : op->call;
    if (call == 0 || !calls.insert(call).second) continue;
    if (HasGradientFacts(trace_.strings.View(range.text))) results.Add(trace_.strings.View(call));
  }
  if (results.empty()) return;
  for (const StringId call : calls) {
    const StringId completed = Intern(results.WithResult(trace_.strings.View(call)));
    if (completed != 0) completed_by_size_.emplace(call, completed);
  }
}

void OpCalls::CompleteByRanks() {
  std::vector<int8_t> lacks(trace_.strings.size(), -1);  // By name; -1: unknown yet.
  for (const Range& range : trace_.ranges) {
    const Operator* const op = trace_.OperatorOf(range);
    if (op == nullptr || range.text >= lacks.size()) continue;
    int8_t& asked = lacks[range.text];
    if (asked < 0) asked = NeedsRanks(trace_.strings.View(range.text)) ? 1 : 0;
    if (asked == 0) continue;
    const StringId call = op->call;
    if (call == 0 || completed_by_size_.contains(call)) continue;
    const StringId completed = Intern(WithRanks(trace_.strings.View(call), trace_.group_size));
    if (completed != 0) completed_by_size_.emplace(call, completed);
  }
}

StringId OpCalls::CallOf(uint32_t range) const {
  const Range& called = trace_.ranges[range];
  if (!inner_.empty()) {
    const StringId completed = inner_.Of(range);
    if (completed != 0) return completed;
  }
  if (!lookups_.empty()) {
    const StringId completed = lookups_.Of(range);
    if (completed != 0) return completed;
  }
  if (!completed_.empty()) {
    const StringId completed = completed_[links_.NumberOf(range)];  // [0] is 0.
    if (completed != 0) return completed;
  }
  if (const Operator* op = trace_.OperatorOf(called)) {
    const StringId call = op->call;
    const auto completed = completed_by_size_.find(call);
    return completed == completed_by_size_.end() ? call : completed->second;
  }
  const VocabularyRanges::Words* words = vocabulary_.Of(called);
  if (words != nullptr && words->call != 0) return words->call;
  const StringId call = texts_.Of(called.text).call;
  return call == 0 ? called.text : call;
}

StringId OpCalls::SequenceTextOf(uint32_t range) const {
  const Range& called = trace_.ranges[range];
  return called.kind == RangeKind::kOperator ? sequence_texts_[trace_.ItemOf(called)] : called.text;
}

SequenceText OpCalls::ReadSequence(uint32_t range, SequenceTexts* made) const {
  const StringId id = SequenceTextOf(range);
  if (id == 0) return made->Of(trace_.ranges[range]);
  const RangeTexts::Text& text = texts_.Of(id);
  return {trace_.strings.View(id), text.seq, text.name_length(), text.backward};
}

void OpCalls::Take(SequenceTexts* made) {
  for (size_t i = 0; i < made->size(); ++i) {
    SequenceTexts::Made& one = (*made)[i];
    StringId& own = sequence_texts_[one.item];
    if (own != 0) continue;
    own = trace_.strings.Intern(one.text);
    texts_.Classify(own, std::move(one.marker));
  }
  made->Clear();
}

StringId OpCalls::StackOf(uint32_t range) const {
  const Range& called = trace_.ranges[range];
  const Operator* const op = trace_.OperatorOf(called);
  return op != nullptr ? op->stack : called.text;
}

}  // namespace oplens::parse
