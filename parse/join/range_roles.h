#ifndef OPLENS_PARSE_JOIN_RANGE_ROLES_H_
#define OPLENS_PARSE_JOIN_RANGE_ROLES_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "parse/join/range_texts.h"
#include "parse/model/kernel_record.h"
#include "parse/model/trace.h"

namespace oplens::parse {

/// What a range says about the training step. The innermost around a launch decides its phase.
enum class StepContext : uint8_t {
  kNone,
  kNode,        ///< A node of the backward pass: the function of one forward op.
  kEvaluate,    ///< The engine's work around a node: sums and hooks of gradients.
  kAccumulate,  ///< AccumulateGrad.
  kRecompute,   ///< A forward op rerun inside a node (checkpointing).
  kOptimizer,
};

/// The phase of work that starts there; kUnknown for kNone.
Phase PhaseOf(StepContext context);

inline constexpr uint32_t kNoRange = UINT32_MAX;

/// A node of the backward pass with a sequence number, by one of its ranges.
struct BackwardNode {
  uint32_t range = kNoRange;
  int64_t process_id = 0;
  int64_t sequence = -1;
  // The framework's own numbers; 0: unknown.
  int64_t forward_thread = 0;
  int64_t forward_handle = 0;
};

/// What a single range says about ops and nodes, whether an operator of the trace or the text of an
/// NVTX marker, which must be classified. A range marked by nvtx_annotate (an operator with a
/// number of its own thread, a marker with `tid`) says more than PyTorch's own. Several threads may
/// ask at once.
class RangeRoles {
 public:
  RangeRoles(const Trace& trace, const RangeTexts& texts) : trace_(trace), texts_(texts) {}

  /// From now on, what is found in a text is kept, in a byte for each text that the trace has now.
  void KeepFacts() { facts_ = std::vector<std::atomic<uint8_t>>(trace_.strings.size()); }

  /// The number that links an op with its node; nullopt: neither op nor node; -1: no number.
  std::optional<int64_t> SequenceOf(const Range& range) const;
  std::string_view NameOf(const Range& range) const;
  /// Whether its text has a sequence number but no arguments: "mm, seq = 3".
  bool IsSequenceText(const Range& range) const;

  /// The number of a range marked by nvtx_annotate; else -1.
  int64_t MarkedSequence(const Range& range) const;
  bool IsMarkedOp(const Range& range) const;
  /// Whether nvtx_annotate marked it with `direction`.
  bool IsMarked(const Range& range, markers::Direction direction) const;

  /// Whether it is a node of the backward pass, or runs one.
  bool SaysBackward(const Range& range) const;
  /// Whether it is a function that computes gradients rather than a node: "relu_backward".
  bool IsGradientFunction(const Range& range) const { return !FactsOf(range).names_backward; }
  /// Whether an op computes gradients, by its name: "aten::convolution_backward",
  /// "aten::_softmax_backward_data". Forward passes have no such ops.
  bool ComputesGradient(const Range& range) const { return FactsOf(range).computes_gradient; }
  StepContext ContextOf(const Range& range) const;
  /// Whether it is a node, or code, that reruns forward ops.
  bool RunsCheckpoint(const Range& range) const { return FactsOf(range).checkpoint; }
  /// Whether it is Python code of PyTorch that does so.
  bool IsCheckpointFrame(const Range& range) const { return FactsOf(range).checkpoint_file; }
  /// Whether it is the engine's range around AccumulateGrad.
  bool EnclosesAccumulate(const Range& range) const;

  // Numbers of the framework; 0: unknown.
  int64_t OwnThreadOf(const Range& range) const;  ///< Thread of an op.
  int64_t HandleOf(const Range& range) const;     ///< Call of an op.
  /// `index`: range that is a node.
  BackwardNode NodeOf(uint32_t index) const;

 private:
  /// What a text says: each is searched once, however many ranges have it.
  struct TextFacts {
    StepContext context = StepContext::kNone;
    bool checkpoint = false;
    bool checkpoint_file = false;
    bool names_backward = false;  ///< Contains "Backward".
    bool computes_gradient = false;

    /// In a byte, which is not 0.
    uint8_t Packed() const;
    static TextFacts Of(uint8_t packed);
  };

  TextFacts FactsOf(const Range& range) const;
  static TextFacts Search(std::string_view text);
  std::string_view TextOf(const Range& range) const { return trace_.strings.View(range.text); }
  /// The classification of its text; null if it is no marker.
  const RangeTexts::Text* MarkerOf(const Range& range) const {
    return range.kind == RangeKind::kMarker ? &texts_.Of(range.text) : nullptr;
  }

  const Trace& trace_;
  const RangeTexts& texts_;
  mutable std::vector<std::atomic<uint8_t>> facts_;  // By StringId; 0: not searched yet.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_JOIN_RANGE_ROLES_H_
