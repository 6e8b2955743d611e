#ifndef OPLENS_PARSE_MODEL_MARKER_TEXT_H_
#define OPLENS_PARSE_MODEL_MARKER_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oplens {

/// What the text of a range says.
enum class MarkerKind : uint8_t {
  kFree,      ///< A label of the user or a library.
  kOp,        ///< {'mod': .., 'op': .., 'args': [..]}: an annotated call.
  kTrace,     ///< {'traceMarker': [..]}: a call stack.
  kRepr,      ///< {'mod': .., 'strRepr': ..}: a module's parameters.
  kLayer,     ///< "layer:NAME".
  kSeq,       ///< "NAME, seq = N" and PyTorch's variants of it.
  kOperator,  ///< PyTorch's "NAME[, op_id = N][, sizes = [..]]", without a sequence number.
  kNode,      ///< {'oplens': {'node': ..}}: a node of the backward pass, as nvtx_annotate marks it.
  kIgnored,   ///< Known to mislead (PyTorch's CheckpointFunctionBackward); left out, as in PyProf.
};

/// The parts of a text that later stages need. Views point into the classified text or, if a
/// literal had escapes, into `storage`: a move keeps them, a copy has views into the original.
struct MarkerText {
  MarkerKind kind = MarkerKind::kFree;
  bool damaged = false;   ///< Starts like an annotation but does not parse; kind is kFree.
  bool backward = false;  ///< kSeq, kOperator: the name says backward (MmBackward, MulBackward0,
                          ///< relu_backward).
  /// kSeq, kOperator: NAME. kNode: the node's name. kLayer: the text after "layer:", percent
  /// escapes decoded if all are valid.
  std::string_view name;
  std::string_view sizes;  ///< kSeq, kOperator: the list, or empty.
  int64_t seq = -1;        ///< kSeq: N. kOp, kNode: the number in the key 'oplens'.
  /// kSeq, kOperator, kFree: N of PyTorch's ", op_id = N", which numbers the calls of a process; 0:
  /// none. A label that has one has `name` and `sizes` too.
  int64_t op_id = 0;
  std::string_view mod;   ///< kOp
  std::string_view op;    ///< kOp
  std::string_view aten;  ///< kOp: the framework's own name, "aten::addmm.out", or empty.
  // Further values of the key 'oplens' of a marker of nvtx_annotate; seq is set too.
  char direction = 0;          ///< One of markers::Direction; 0: unknown.
  int64_t thread = 0;          ///< Host thread of the call, in its process's numbering; 0: unknown.
  int64_t forward_thread = 0;  ///< kNode: `thread` of the forward op.
  int64_t handle = 0;          ///< The framework's number of the call; 0: unknown.
  int64_t forward_handle = 0;  ///< kNode: `handle` of the forward op.
  std::vector<std::string_view> frames;  ///< kTrace: outermost first, framework frames excluded.
  std::vector<std::string> storage;
};

/// Classifies a range text by its shape; never evaluates it. Rules, in order: a text that starts
/// with '{' is a Python literal, and its keys decide (mod+op+args, traceMarker, strRepr, oplens
/// with a node); "layer:..."; PyTorch's "NAME[, stashed ]seq = N[, op_id = N][, sizes = ..][,
/// input_op_ids = ..]", matched from the right because NAME may hold anything; the same without
/// seq, if NAME is an operator's (PyTorch's own, "aten::mm", if it stands alone); else free text.
/// Accepts any bytes; never throws.
MarkerText ClassifyMarker(std::string_view text);

/// Whether a frame "path.py:12" is in a file of PyTorch itself or of Python's threading.
bool IsTorchFrame(std::string_view frame);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_MARKER_TEXT_H_
