#include "parse/check/survey.h"

#include <algorithm>
#include <string>

#include "base/checked.h"
#include "parse/join/collectives.h"
#include "parse/join/for_each_op.h"
#include "parse/join/forward_backward.h"
#include "parse/join/gpu_work.h"
#include "parse/join/joined.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_sweep.h"
#include "parse/join/surroundings.h"
#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"
#include "parse/model/sized_call.h"

namespace oplens::parse {
namespace {

bool CallHasArguments(std::string_view call) {
  std::string error;
  const auto parsed = ParseOpCall(call, &error);
  return parsed && !parsed->args.empty();
}

/// Counts ranges by kind; classifies each distinct text once.
class RangeCounter {
 public:
  RangeCounter(const Trace& trace, TraceSurvey* survey)
      : trace_(trace), survey_(*survey), texts_(trace.strings.size()) {}

  void Count(const Range& range) {
    if (range.open()) ++survey_.open_ranges;
    switch (range.kind) {
      case RangeKind::kMarker:
        return CountMarker(TextOf(range.text));
      case RangeKind::kOperator:
        return CountOperator(trace_.OperatorOf(range));
      case RangeKind::kFrame:
        ++survey_.frames;
        return;
      case RangeKind::kModule:
        ++survey_.layers;
        return;
      case RangeKind::kAnnotation:
        ++survey_.annotations;
        return;
      case RangeKind::kStep:
        ++survey_.steps;
        return;
    }
  }

 private:
  struct Text {
    bool known = false;
    bool arguments = false;
    bool op = false;  ///< An annotated call, or a range of a PyTorch operator.
    MarkerKind kind = MarkerKind::kFree;
  };

  const Text& TextOf(StringId id) {
    Text& text = texts_[id];
    if (text.known) return text;
    text.known = true;
    const MarkerText marker = ClassifyMarker(trace_.strings.View(id));
    text.kind = marker.kind;
    if (text.kind == MarkerKind::kOp) {
      text.op = true;
      text.arguments = CallHasArguments(trace_.strings.View(id));
    } else if (const std::optional<OpCall> call = CallOfRange(marker)) {
      text.op = true;
      text.arguments = !call->args.empty();
    }
    return text;
  }

  void CountMarker(const Text& text) {
    ++survey_.markers;
    survey_.ops += text.op ? 1 : 0;
    survey_.ops_with_arguments += text.arguments ? 1 : 0;
    survey_.numbered += text.kind == MarkerKind::kSeq ? 1 : 0;
    survey_.layers += text.kind == MarkerKind::kLayer ? 1 : 0;
    survey_.stacks += text.kind == MarkerKind::kTrace ? 1 : 0;
  }

  /// `op` may be null.
  void CountOperator(const Operator* op) {
    ++survey_.ops;
    if (op == nullptr) return;
    survey_.ops_with_arguments += op->call != 0 && TextOf(op->call).arguments ? 1 : 0;
    survey_.numbered += op->sequence >= 0 ? 1 : 0;
    survey_.stacks += op->stack != 0 ? 1 : 0;
  }

  const Trace& trace_;
  TraceSurvey& survey_;
  std::vector<Text> texts_;  // By StringId.
};

void SurveyKernels(const Trace& trace, TraceSurvey* survey) {
  Checked sum = 0;
  bool any = false;
  for (const Kernel& kernel : trace.kernels) {
    survey->graph_kernels += kernel.graph ? 1 : 0;
    survey->placed_graph_kernels += kernel.graph && kernel.capture != kNoLaunch ? 1 : 0;
    survey->collectives += trace.DetailsOf(kernel).communication != kNoItem ? 1 : 0;
    if (!kernel.timed() || kernel.end_ns < kernel.start_ns) continue;
    sum += Checked(kernel.end_ns) - Checked(kernel.start_ns);
    survey->first_kernel_ns =
        any ? std::min(survey->first_kernel_ns, kernel.start_ns) : kernel.start_ns;
    survey->last_kernel_ns = any ? std::max(survey->last_kernel_ns, kernel.end_ns) : kernel.end_ns;
    any = true;
  }
  survey->kernel_ns = sum.Value().value_or(INT64_MAX);
}

constexpr uint8_t kOpBit = 1;
constexpr uint8_t kAnnotationBit = 2;
constexpr uint8_t kArgumentsBit = 4;
constexpr uint8_t kLayerBit = 8;
constexpr uint8_t kStackBit = 16;

}  // namespace

TraceSurvey SurveyTrace(const Trace& trace) {
  TraceSurvey survey;
  RangeCounter counter(trace, &survey);
  for (const Range& range : trace.ranges) counter.Count(range);
  SurveyKernels(trace, &survey);
  return survey;
}

FactFinder::FactFinder(const Joined& joined)
    : joined_(joined), forwards_(size_t{joined.links().count()} + 1, 0) {
  for (size_t i = 0; i < joined.trace().kernels.size(); ++i) {
    const Surroundings* around = joined.SurroundingsOf(static_cast<WorkIndex>(i));
    if (around == nullptr || around->phase == Phase::kBackward) continue;
    const Bits bits = OwnBits(i);
    for (const uint32_t range : joined.RangesOf(*around, Around::kForwards)) {
      forwards_[joined.links().NumberOf(range)] |= bits;
    }
  }
}

KernelFacts FactFinder::FactsOf(size_t kernel, const KernelRecord& record) {
  Bits bits = OwnBits(kernel);
  const Surroundings* around = joined_.SurroundingsOf(static_cast<WorkIndex>(kernel));
  if (around != nullptr && around->phase == Phase::kBackward)
    bits |= forwards_[around->node().node];
  if (IsInferred(record.evidence, record.confidence)) {
    // What the record took from another kernel, possibly of another file.
    if (!record.op.empty() || !record.forward_op.empty()) bits |= kOpBit;
    for (const auto* calls : {&record.markers, &record.forward_markers}) {
      for (const std::string_view call : *calls) {
        bits |= kAnnotationBit;
        if (CallHasArguments(call)) bits |= kArgumentsBit;
      }
    }
    if (!record.layer.empty() || !record.forward_layer.empty()) bits |= kLayerBit;
  }
  return {.record = record,
          .op = (bits & kOpBit) != 0,
          .annotation = (bits & kAnnotationBit) != 0,
          .arguments = (bits & kArgumentsBit) != 0,
          .layer = (bits & kLayerBit) != 0,
          .stack = (bits & kStackBit) != 0};
}

FactFinder::Bits FactFinder::OwnBits(size_t kernel) {
  Bits bits = 0;
  if (const Collectives::Call* call = joined_.collectives().Of(joined_.trace(), kernel)) {
    bits |= kOpBit | kAnnotationBit;
    if (HasArguments(call->text)) bits |= kArgumentsBit;
  }
  const Surroundings* around = joined_.SurroundingsOf(static_cast<WorkIndex>(kernel));
  if (around == nullptr) return bits;
  bits |= BitsOf(*around);
  if (around->phase != Phase::kBackward) return bits;
  if (const Surroundings* forward = joined_.SurroundingsOfSilentForward(around->node().node)) {
    bits |= BitsOf(*forward);
    const bool layer = !joined_.LayersOfForward(forward->node().node).empty();
    if (layer) bits |= kLayerBit;
  }
  return bits;
}

FactFinder::Bits FactFinder::BitsOf(const Surroundings& around) {
  Bits bits = 0;
  ForEachOp(joined_, around, [&](StringId, StringId) { bits |= kOpBit; });
  for (const uint32_t range : joined_.RangesOf(around, Around::kOps)) {
    bits |= kAnnotationBit;
    if (HasArguments(joined_.calls().CallOf(range))) bits |= kArgumentsBit;
  }
  if (!joined_.LayersOf(around).empty()) bits |= kLayerBit;
  const bool frames = !joined_.RangesOf(around, Around::kFrames).empty();
  if (frames || around.stack != OpenRanges::kNone) bits |= kStackBit;
  return bits;
}

bool FactFinder::HasArguments(StringId call) {
  if (arguments_.size() <= call) arguments_.resize(joined_.trace().strings.size());
  Arguments& arguments = arguments_[call];
  if (arguments == Arguments::kUnread) {
    const bool some = CallHasArguments(joined_.trace().strings.View(call));
    arguments = some ? Arguments::kSome : Arguments::kNone;
  }
  return arguments == Arguments::kSome;
}

}  // namespace oplens::parse
