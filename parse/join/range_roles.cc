#include "parse/join/range_roles.h"

namespace oplens::parse {
namespace {

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function";
constexpr std::string_view kAccumulate = "AccumulateGrad";
constexpr std::string_view kGraphRoot = "autograd::GraphRoot";
constexpr std::string_view kOptimizer = "Optimizer.";
constexpr std::string_view kOptimizerPhase = "phase:optimizer";
constexpr std::string_view kCheckpointNode = "CheckpointFunctionBackward";
constexpr std::string_view kGradientFunction = "_backward";
constexpr std::string_view kCheckpointFile = "torch/utils/checkpoint.py";

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

Phase PhaseOf(StepContext context) {
  switch (context) {
    case StepContext::kNone:
      return Phase::kUnknown;
    case StepContext::kNode:
      return Phase::kBackward;
    case StepContext::kEvaluate:
      return Phase::kGradient;
    case StepContext::kAccumulate:
      return Phase::kAccumulate;
    case StepContext::kRecompute:
      return Phase::kRecompute;
    case StepContext::kOptimizer:
      return Phase::kOptimizer;
  }
  return Phase::kUnknown;
}

std::optional<int64_t> RangeRoles::SequenceOf(const Range& range) const {
  if (const Operator* op = trace_.OperatorOf(range)) return op->sequence;
  const RangeTexts::Text* text = MarkerOf(range);
  if (text == nullptr) return std::nullopt;
  switch (text->kind) {
    case MarkerKind::kSeq:
    case MarkerKind::kNode:
      return text->seq;
    case MarkerKind::kOp:
      return IsMarkedOp(range) ? std::optional(text->seq) : std::nullopt;
    case MarkerKind::kOperator:
      return -1;  // Texts of ops that made no node have no number.
    case MarkerKind::kLayer:
    case MarkerKind::kTrace:
    case MarkerKind::kRepr:
    case MarkerKind::kFree:
    case MarkerKind::kIgnored:
      break;
  }
  return std::nullopt;
}

std::string_view RangeRoles::NameOf(const Range& range) const {
  const RangeTexts::Text* text = MarkerOf(range);
  const bool named =
      text != nullptr && (text->kind == MarkerKind::kNode || text->kind == MarkerKind::kOp);
  return named ? trace_.strings.View(text->op) : TextOf(range);
}

bool RangeRoles::IsSequenceText(const Range& range) const {
  const RangeTexts::Text* text = MarkerOf(range);
  return text != nullptr && text->kind == MarkerKind::kSeq;
}

int64_t RangeRoles::MarkedSequence(const Range& range) const {
  if (const Operator* op = trace_.OperatorOf(range)) return op->thread != 0 ? op->sequence : -1;
  const RangeTexts::Text* text = MarkerOf(range);
  const bool marked =
      text != nullptr && (text->kind == MarkerKind::kNode || text->kind == MarkerKind::kOp);
  return marked ? text->seq : -1;
}

bool RangeRoles::IsMarkedOp(const Range& range) const {
  if (const Operator* op = trace_.OperatorOf(range)) return op->thread != 0 && !op->backward;
  const RangeTexts::Text* text = MarkerOf(range);
  return text != nullptr && text->kind == MarkerKind::kOp && texts_.MarkOf(*text).thread != 0;
}

bool RangeRoles::IsMarked(const Range& range, markers::Direction direction) const {
  char marked = 0;
  if (const Operator* op = trace_.OperatorOf(range)) {
    marked = op->direction;
  } else if (const RangeTexts::Text* text = MarkerOf(range)) {
    marked = text->direction;
  }
  return marked == static_cast<char>(direction);
}

bool RangeRoles::SaysBackward(const Range& range) const {
  if (const Operator* op = trace_.OperatorOf(range)) return op->backward;
  const RangeTexts::Text* text = MarkerOf(range);
  if (text == nullptr) return false;
  // E.g. "torch::autograd::CopyBackwards".
  return text->backward || (text->kind == MarkerKind::kSeq && FactsOf(range).names_backward);
}

bool RangeRoles::EnclosesAccumulate(const Range& range) const {
  return Holds(TextOf(range), kAccumulate);
}

StepContext RangeRoles::ContextOf(const Range& range) const {
  if (range.kind == RangeKind::kFrame || range.kind == RangeKind::kModule) {
    return StepContext::kNone;
  }
  const StepContext context = FactsOf(range).context;
  if (context != StepContext::kNone) return context;
  if (IsMarked(range, markers::Direction::kRecompute)) return StepContext::kRecompute;
  return SaysBackward(range) ? StepContext::kNode : StepContext::kNone;
}

uint8_t RangeRoles::TextFacts::Packed() const {
  const auto bit = [](bool value, int place) { return static_cast<unsigned>(value) << place; };
  return static_cast<uint8_t>(static_cast<unsigned>(context) | bit(checkpoint, 3) |
                              bit(checkpoint_file, 4) | bit(names_backward, 5) |
                              bit(computes_gradient, 6) | bit(true, 7));
}

RangeRoles::TextFacts RangeRoles::TextFacts::Of(uint8_t packed) {
  const auto bit = [&](int place) { return (packed >> place & 1) != 0; };
  return {static_cast<StepContext>(packed & 7), bit(3), bit(4), bit(5), bit(6)};
}

RangeRoles::TextFacts RangeRoles::FactsOf(const Range& range) const {
  if (range.text >= facts_.size()) return Search(TextOf(range));
  // Two threads that meet a text at once find the same.
  std::atomic<uint8_t>& packed = facts_[range.text];
  const uint8_t known = packed.load(std::memory_order_relaxed);
  if (known != 0) return TextFacts::Of(known);
  const TextFacts facts = Search(TextOf(range));
  packed.store(facts.Packed(), std::memory_order_relaxed);
  return facts;
}

RangeRoles::TextFacts RangeRoles::Search(std::string_view text) {
  TextFacts facts;
  facts.checkpoint = Holds(text, kCheckpointNode);
  facts.checkpoint_file = Holds(text, kCheckpointFile);
  facts.names_backward = Holds(text, "Backward");
  facts.computes_gradient = Holds(text, kGradientFunction);
  if (text.starts_with(kEvaluate) || Holds(text, kGraphRoot)) {
    facts.context = StepContext::kEvaluate;
  } else if (Holds(text, kAccumulate)) {
    facts.context = StepContext::kAccumulate;
  } else if (text.starts_with(kOptimizer) || text == kOptimizerPhase) {
    facts.context = StepContext::kOptimizer;
  } else if (facts.checkpoint) {
    facts.context = StepContext::kNode;
  }
  return facts;
}

int64_t RangeRoles::OwnThreadOf(const Range& range) const {
  if (const Operator* op = trace_.OperatorOf(range)) return op->backward ? 0 : op->thread;
  const RangeTexts::Text* text = MarkerOf(range);
  return text != nullptr && text->kind == MarkerKind::kOp ? texts_.MarkOf(*text).thread : 0;
}

int64_t RangeRoles::HandleOf(const Range& range) const {
  if (const Operator* op = trace_.OperatorOf(range)) return op->backward ? 0 : op->handle;
  const RangeTexts::Text* text = MarkerOf(range);
  return text != nullptr && text->kind == MarkerKind::kOp ? texts_.MarkOf(*text).handle : 0;
}

BackwardNode RangeRoles::NodeOf(uint32_t index) const {
  const Range& range = trace_.ranges[index];
  BackwardNode node;
  node.range = index;
  node.process_id = trace_.threads[trace_.ThreadOf(range)].process_id;
  node.sequence = SequenceOf(range).value_or(-1);
  if (const Operator* op = trace_.OperatorOf(range)) {
    node.forward_thread = op->forward_thread;
    node.forward_handle = op->forward_handle;
  } else if (const RangeTexts::Text* text = MarkerOf(range);
             text != nullptr && text->kind == MarkerKind::kNode) {
    const RangeTexts::Mark mark = texts_.MarkOf(*text);
    node.forward_thread = mark.thread;
    node.forward_handle = mark.handle;
  }
  return node;
}

}  // namespace oplens::parse
