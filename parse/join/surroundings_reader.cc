#include "parse/join/surroundings_reader.h"

#include <algorithm>
#include <utility>

#include "parse/join/named_pass.h"

namespace oplens::parse {

SurroundingsReader::Lane SurroundingsReader::LaneOf(MarkerKind kind) {
  switch (kind) {
    case MarkerKind::kLayer:
      return kLayerLane;
    case MarkerKind::kTrace:
      return kTraceLane;
    case MarkerKind::kRepr:
      return kReprLane;
    case MarkerKind::kOp:
      return kOpLane;
    case MarkerKind::kSeq:
      return kSequenceLane;
    case MarkerKind::kNode:
    case MarkerKind::kOperator:  // If its call could be read.
    case MarkerKind::kFree:
    case MarkerKind::kIgnored:
      break;
  }
  return kPathLane;
}

void SurroundingsReader::Begin(ThreadIndex thread) {
  open_.Clear();
  thread_ = thread;
  next_ = known_.threads.BeginOf(thread);
  end_ = known_.threads.EndOf(thread);
}

void SurroundingsReader::BeginAt(ThreadIndex thread, std::span<const uint32_t> open, size_t next) {
  Begin(thread);
  for (const uint32_t range : open) Push(range);
  next_ = next;
}

void SurroundingsReader::MoveTo(int64_t start_ns, int64_t end_ns) {
  for (; next_ < end_ && known_.trace.ranges[next_].start_ns <= start_ns; ++next_) Push(next_);
  open_.MoveTo(start_ns, end_ns);
}

void SurroundingsReader::MoveToRange(uint32_t range) {
  for (; next_ <= range; ++next_) Push(next_);
  const int64_t start_ns = known_.trace.ranges[range].start_ns;
  open_.MoveTo(start_ns, start_ns < kNeverClosed ? start_ns + 1 : start_ns);
}

void SurroundingsReader::Push(size_t index) {
  if (known_.leaks.Has(index)) return;
  const Range& range = known_.trace.ranges[index];
  if (known_.contexts.ContextOf(index) != StepContext::kNone) PushTo(index, range, kContextLane);
  if (known_.links.NumberOf(index) != 0) PushTo(index, range, kForwardLane);
  switch (range.kind) {
    case RangeKind::kMarker:
      return PushMarker(index, range);
    case RangeKind::kOperator:
      return PushOperator(index, range);
    case RangeKind::kFrame:
      if (!range.open() && known_.texts.IsUserFrame(range.text)) {
        PushTo(index, range, kFrameLane);
      }
      return;
    case RangeKind::kModule:
      return PushTo(index, range, kLayerLane);
    case RangeKind::kAnnotation:
      PushVocabulary(index, range);
      return PushTo(index, range, kPathLane);
    case RangeKind::kStep:
      return PushTo(index, range, kPathLane);
  }
}

void SurroundingsReader::PushMarker(size_t index, const Range& range) {
  const RangeTexts::Text& text = known_.texts.Of(range.text);
  if (text.kind == MarkerKind::kIgnored) return;
  // It names the running node, as the sequence text inside does: no label.
  if (text.kind == MarkerKind::kNode && Counts(range)) return;
  if (text.kind == MarkerKind::kFree) PushVocabulary(index, range);
  const bool call = text.call != 0 && Counts(range);
  if (call) PushTo(index, range, kOpLane);
  if (call && text.kind == MarkerKind::kOperator) return;
  const Lane lane = LaneOf(text.kind);
  if (lane == kLayerLane || Counts(range)) return PushTo(index, range, lane);
  if (lane == kTraceLane || lane == kReprLane) return;
  PushTo(index, range, kPathLane);
}

void SurroundingsReader::PushVocabulary(size_t index, const Range& range) {
  const VocabularyRanges::Words* words = known_.vocabulary.Of(range);
  if (words == nullptr || !Counts(range)) return;
  if (words->call != 0) PushTo(index, range, kVocabularyOpLane);
  if (words->layer != 0) PushTo(index, range, kVocabularyLayerLane);
}

void SurroundingsReader::PushOperator(size_t index, const Range& range) {
  const Operator* const op = Counts(range) ? known_.trace.OperatorOf(range) : nullptr;
  if (op == nullptr) return PushTo(index, range, kPathLane);
  if (op->call != 0) PushTo(index, range, kOpLane);
  // A text of frames may be invalid.
  const bool stack = op->stack != 0 && known_.texts.Of(op->stack).kind == MarkerKind::kTrace;
  if (stack) PushTo(index, range, kTraceLane);
  if (op->sequence >= 0 || op->backward) PushTo(index, range, kSequenceLane);
}

Surroundings SurroundingsReader::Collect(SurroundingLists* lists) {
  lists_ = lists;
  Surroundings around;
  Omitted omitted;
  around.first = static_cast<uint32_t>(lists->ranges.size());
  const auto end_list = [&](Around list) {
    around.bounds[static_cast<size_t>(list) + 1] =
        static_cast<uint8_t>(lists->ranges.size() - around.first);
  };
  omitted.layers = AddLane(open_.CountOf(kLayerLane) > 0 ? kLayerLane : kVocabularyLayerLane);
  end_list(Around::kLayers);
  AddLane(kReprLane);
  end_list(Around::kReprs);
  omitted.ops = AddOps();
  AddVocabularyOp(&around);
  end_list(Around::kOps);
  around.backward = AddSequences();
  end_list(Around::kSequences);
  omitted.paths = AddPaths();
  end_list(Around::kPaths);
  AddFrames();
  end_list(Around::kFrames);
  AddLane(kForwardLane);
  end_list(Around::kForwards);
  around.stack = open_.Innermost(kTraceLane);
  ReadStep(&around);
  NoteMissingFacts(&around);
  around.omits = omitted.any();
  if (around.omits) lists->AddOmitted(omitted);
  return around;
}

uint32_t SurroundingsReader::AddLane(Lane lane) {
  return ForEachListed(lane, [&](uint32_t range) { lists_->ranges.push_back(range); });
}

uint32_t SurroundingsReader::AddOps() {
  const size_t before = lists_->ranges.size();
  return ForEachListed(kOpLane, [&](uint32_t range) {
    // PyTorch's own range directly inside an annotation of the same call.
    const bool repeats = lists_->ranges.size() > before && NamesOnly(range) &&
                         calls_.OpOf(lists_->ranges.back()).op == calls_.OpOf(range).op;
    if (!repeats) lists_->ranges.push_back(range);
  });
}

void SurroundingsReader::AddVocabularyOp(Surroundings* around) {
  if (open_.CountOf(kOpLane) > 0 || open_.CountOf(kSequenceLane) > 0) return;
  const uint32_t innermost = open_.Innermost(kVocabularyOpLane);
  if (innermost == OpenRanges::kNone) return;
  lists_->ranges.push_back(innermost);
  around->vocabulary = true;
}

bool SurroundingsReader::NamesOnly(uint32_t index) const {
  const Range& range = known_.trace.ranges[index];
  return range.kind == RangeKind::kMarker && known_.texts.Of(range.text).names_only;
}

bool SurroundingsReader::AddSequences() {
  sequences_.clear();
  bool backward = false;
  ForEachListed(kSequenceLane, [&](uint32_t range) {
    const Operator* const op = known_.trace.OperatorOf(known_.trace.ranges[range]);
    if (op != nullptr && op->sequence < 0) {
      backward = true;  // A backward node without forward op (AccumulateGrad).
      return;
    }
    sequences_.push_back({range, calls_.ReadSequence(range, &made_)});
  });
  if (sequences_.size() > 1) {
    const auto key = [&](const Sequence& one) { return std::pair(one.text.seq, one.text.text); };
    std::stable_sort(sequences_.begin(), sequences_.end(),
                     [&](const Sequence& a, const Sequence& b) { return key(a) < key(b); });
    sequences_.erase(std::unique(sequences_.begin(), sequences_.end(),
                                 [](const Sequence& a, const Sequence& b) {
                                   return a.text.text == b.text.text;
                                 }),
                     sequences_.end());
    DropSimilarSequences();
  }
  for (const Sequence& sequence : sequences_) {
    backward |= SaysBackward(sequence);
    lists_->ranges.push_back(sequence.range);
  }
  return backward;
}

void SurroundingsReader::DropSimilarSequences() {
  size_t kept = 1;
  Sequence previous = sequences_.front();
  for (size_t i = 1; i < sequences_.size(); ++i) {
    const Sequence sequence = sequences_[i];
    const std::string_view name = sequence.text.name();
    const std::string_view before = previous.text.name();
    const bool similar =
        sequence.text.seq == previous.text.seq && (name.find(before) != std::string_view::npos ||
                                                   before.find(name) != std::string_view::npos);
    previous = sequence;
    if (!similar) sequences_[kept++] = sequence;
  }
  sequences_.resize(kept);
}

bool SurroundingsReader::SaysBackward(const Sequence& sequence) const {
  const Operator* const op = known_.trace.OperatorOf(known_.trace.ranges[sequence.range]);
  return sequence.text.backward || (op != nullptr && op->backward);
}

uint32_t SurroundingsReader::AddPaths() {
  size_t listed = 0;
  open_.ForEach(kPathLane, [&](uint32_t range) {
    lists_->ranges.push_back(range);
    return ++listed < kMaxRangePath;
  });
  return static_cast<uint32_t>(open_.CountOf(kPathLane) - listed);
}

void SurroundingsReader::AddFrames() {
  open_.ForEachOfEnds(kFrameLane, 0, kMaxFrames,
                      [&](uint32_t range) { lists_->ranges.push_back(range); });
}

uint32_t SurroundingsReader::OutermostContext() const {
  uint32_t outermost = OpenRanges::kNone;
  open_.ForEach(kContextLane, [&](uint32_t range) {
    if (known_.contexts.ContextOf(range) == StepContext::kOptimizer) return true;
    outermost = range;
    return false;
  });
  return outermost;
}

void SurroundingsReader::ReadStep(Surroundings* around) const {
  const uint32_t innermost = open_.Innermost(kContextLane);
  const StepContext context =
      innermost == OpenRanges::kNone ? StepContext::kNone : known_.contexts.ContextOf(innermost);
  const auto served = [&] {
    const uint32_t node = known_.contexts.NodeServedBy(innermost);
    return node == kNoRange ? 0 : known_.links.RunOf(node).node;
  };
  const auto has = [&](Around list) { return !lists_->Of(*around, list).empty(); };
  around->phase = PhaseOf(context);
  switch (context) {
    case StepContext::kNode:
      around->forward = known_.links.RunOf(innermost);
      break;
    case StepContext::kEvaluate:
    case StepContext::kAccumulate:
      around->forward.node = served();
      break;
    case StepContext::kRecompute:
    case StepContext::kOptimizer:
      break;
    case StepContext::kNone:
      around->phase = (has(Around::kOps) && !around->vocabulary) || has(Around::kSequences)
                          ? Phase::kForward
                          : NamedPass(*around);
      // Old files have no range around the engine's work between nodes.
      if (known_.contexts.IsEngineThread(thread_)) around->phase = Phase::kGradient;
  }
}

Phase SurroundingsReader::NamedPass(const Surroundings& around) const {
  Phase pass = Phase::kUnknown;
  for (const uint32_t range : lists_->Of(around, Around::kPaths)) {
    const Range& named = known_.trace.ranges[range];
    if (!Counts(named)) continue;
    const Phase own = PassNamedBy(known_.trace.strings.View(named.text));
    if (own != Phase::kUnknown) pass = own;
  }
  return pass;
}

void SurroundingsReader::NoteMissingFacts(Surroundings* around) const {
  const std::span<const uint32_t> listed = std::span(lists_->ranges).subspan(around->first);
  if (listed.empty() && around->stack == OpenRanges::kNone) {
    around->only_leaks = known_.leaks.SinceOn(thread_) <= open_.start_ns();
    around->nothing = !around->only_leaks;
  }
  around->open_range = std::any_of(listed.begin(), listed.end(), [&](uint32_t range) {
    return known_.trace.ranges[range].open();
  });
}

}  // namespace oplens::parse
