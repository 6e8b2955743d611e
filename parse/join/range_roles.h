#ifndef OPLENS_PARSE_JOIN_RANGE_ROLES_H_
#define OPLENS_PARSE_JOIN_RANGE_ROLES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "parse/join/range_texts.h"
#include "parse/model/kernel_record.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What a range says of the training step: the innermost that says anything around a launch tells
/// its phase.
enum class StepContext : uint8_t {
  kNone,
  kNode,        ///< A node of the backward pass: the function of one forward op.
  kEvaluate,    ///< What the engine does for a node, around it: sums and hooks of gradients.
  kAccumulate,  ///< AccumulateGrad.
  kRecompute,   ///< A forward op that runs again inside a node (checkpointing).
  kOptimizer,
};

/// The phase of what starts there; kUnknown for kNone.
Phase PhaseOf(StepContext context);

/// A range that stands for none.
inline constexpr uint32_t kNoRange = UINT32_MAX;

/// A node of the backward pass that has a sequence number, as one range of it tells.
struct BackwardNode {
  uint32_t range = kNoRange;
  int64_t process_id = 0;
  int64_t sequence = -1;
  // The framework's own numbers; 0: the file does not tell.
  int64_t forward_thread = 0;
  int64_t forward_handle = 0;
};

/// What a single range says of ops and nodes, the same whoever recorded it: an operator of the
/// trace or the text of an NVTX marker. Every text of a marker must be classified. A range that
/// nvtx_annotate marked (an operator with a number of its own thread, a marker with `tid`) says
/// more than one of PyTorch's own.
class RangeRoles {
 public:
  RangeRoles(const Trace& trace, const RangeTexts& texts) : trace_(trace), texts_(texts) {}

  /// Its details; null where it is no operator.
  const Operator* OperatorOf(const Range& range) const {
    return range.kind == RangeKind::kOperator && range.item < trace_.operators.size()
               ? &trace_.operators[range.item]
               : nullptr;
  }
  /// The number that links an op with its node; nullopt: the range is no op or node; -1: it is one
  /// without a number.
  std::optional<int64_t> SequenceOf(const Range& range) const;
  /// What an op or a node is called.
  std::string_view NameOf(const Range& range) const;
  /// Whether its text names a sequence number and nothing of arguments: "mm, seq = 3".
  bool IsSequenceText(const Range& range) const;

  /// Of a range that nvtx_annotate marked: its number; else -1.
  int64_t MarkedSequence(const Range& range) const;
  /// Whether it is an op that nvtx_annotate marked.
  bool IsMarkedOp(const Range& range) const;
  /// Whether nvtx_annotate says this of it.
  bool IsMarked(const Range& range, markers::Direction direction) const;

  /// Whether it is a node of the backward pass, or what runs one.
  bool SaysBackward(const Range& range);
  /// Whether it is a function that computes gradients rather than a node: "relu_backward".
  bool IsGradientFunction(const Range& range) { return !FactsOf(range).names_backward; }
  /// Whether an op computes gradients, by its name: "aten::convolution_backward",
  /// "aten::_softmax_backward_data". No forward pass has such.
  bool ComputesGradient(const Range& range) { return FactsOf(range).computes_gradient; }
  StepContext ContextOf(const Range& range);
  /// Whether it is a node, or code, that runs forward ops again.
  bool RunsCheckpoint(const Range& range) { return FactsOf(range).checkpoint; }
  /// Whether it is Python code of PyTorch's that does so.
  bool IsCheckpointFrame(const Range& range) { return FactsOf(range).checkpoint_file; }
  /// Whether the engine's range is around AccumulateGrad.
  bool IsAroundAccumulate(const Range& range) const;

  // Numbers of the framework; 0: not known.
  int64_t OwnThreadOf(const Range& range) const;  ///< Of an op: its thread.
  int64_t HandleOf(const Range& range) const;     ///< Of an op: its call.
  /// Of a range that is a node.
  BackwardNode NodeOf(uint32_t index) const;

 private:
  /// What a text says, whoever recorded it: each is searched once, however many ranges bear it.
  struct TextFacts {
    StepContext context = StepContext::kNone;
    bool checkpoint = false;
    bool checkpoint_file = false;
    bool names_backward = false;  ///< Holds "Backward".
    bool computes_gradient = false;
    bool known = false;
  };

  const TextFacts& FactsOf(const Range& range);
  std::string_view TextOf(const Range& range) const { return trace_.strings.View(range.text); }
  /// What its text was classified as; null where it is no marker.
  const RangeTexts::Text* MarkerOf(const Range& range) const {
    return range.kind == RangeKind::kMarker ? &texts_.Of(range.text) : nullptr;
  }

  const Trace& trace_;
  const RangeTexts& texts_;
  std::vector<TextFacts> facts_;  // By StringId.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_RANGE_ROLES_H_
