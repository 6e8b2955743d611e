#include "parse/check/survey.h"

#include <algorithm>
#include <string>

#include "base/checked.h"
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

/// Counts ranges by what they say; each distinct text is looked at once.
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
        return CountOperator(range.item);
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
    bool op = false;  ///< An annotated call, or an operator's range of PyTorch.
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

  void CountOperator(ItemIndex item) {
    ++survey_.ops;
    if (item >= trace_.operators.size()) return;
    const Operator& op = trace_.operators[item];
    survey_.ops_with_arguments += op.call != 0 && TextOf(op.call).arguments ? 1 : 0;
    survey_.numbered += op.sequence >= 0 ? 1 : 0;
    survey_.stacks += op.stack != 0 ? 1 : 0;
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
    survey->collectives += kernel.communication != kNoItem ? 1 : 0;
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

/// Calls f(number) for each sequence number of a kernel.
template <typename F>
void ForEachSequence(const KernelRecord& record, F f) {
  for (const int64_t number : record.seq_ids) f(number);
  for (const int64_t number : record.alt_seq_ids) f(number);
}

}  // namespace

TraceSurvey SurveyTrace(const Trace& trace) {
  TraceSurvey survey;
  RangeCounter counter(trace, &survey);
  for (const Range& range : trace.ranges) counter.Count(range);
  SurveyKernels(trace, &survey);
  return survey;
}

FactFinder::FactFinder(const Correlation& kernels) {
  KernelRecord record;
  for (size_t i = 0; i < kernels.kernel_count(); ++i) {
    kernels.RecordOf(i, &record);
    if (record.direction == Direction::kBackward && record.phase != Phase::kRecompute) continue;
    const Bits bits = OwnBits(record);
    for (const int64_t number : record.nodes) nodes_[number] |= bits;
    ForEachSequence(record, [&](int64_t number) { sequences_[number] |= bits; });
  }
}

KernelFacts FactFinder::FactsOf(const KernelRecord& record) {
  Bits bits = OwnBits(record);
  if (record.direction == Direction::kBackward) {
    const auto add = [&bits](const auto& forwards, int64_t number) {
      const auto forward = forwards.find(number);
      if (forward != forwards.end()) bits |= forward->second;
    };
    for (const int64_t number : record.nodes) add(nodes_, number);
    ForEachSequence(record, [&](int64_t number) { add(sequences_, number); });
  }
  return {.record = record,
          .op = (bits & kOpBit) != 0,
          .annotation = (bits & kAnnotationBit) != 0,
          .arguments = (bits & kArgumentsBit) != 0,
          .layer = (bits & kLayerBit) != 0,
          .stack = (bits & kStackBit) != 0};
}

FactFinder::Bits FactFinder::OwnBits(const KernelRecord& record) {
  const auto bit = [](bool any, Bits bits) { return any ? bits : Bits{0}; };
  return static_cast<Bits>(
      bit(!record.op.empty() || !record.forward_op.empty(), kOpBit) |
      bit(!record.markers.empty() || !record.forward_markers.empty(), kAnnotationBit) |
      bit(HasArguments(record.markers) || HasArguments(record.forward_markers), kArgumentsBit) |
      bit(!record.layer.empty() || !record.forward_layer.empty(), kLayerBit) |
      bit(!record.trace.empty() || !record.forward_trace.empty(), kStackBit));
}

bool FactFinder::HasArguments(const std::vector<std::string_view>& markers) {
  return std::any_of(markers.begin(), markers.end(), [this](std::string_view text) {
    const auto [place, is_new] = texts_.try_emplace(text.data());
    if (is_new) place->second = CallHasArguments(text);
    return place->second;
  });
}

}  // namespace oplens::parse
