#ifndef OPLENS_NVTX_ANNOTATE_MARKER_TEXT_H_
#define OPLENS_NVTX_ANNOTATE_MARKER_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nvtx_annotate/oplens_annotate.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

// The texts of markers: docs/markers.md. Nothing here allocates or throws. Every text but free ones
// is ASCII, all are without control bytes, at most kMaxTextBytes long, and end with a zero.

namespace oplens::markers {

/// Bytes that a buffer for a text must have: room for one argument more than a text may hold.
inline constexpr size_t kTextBufferBytes = kMaxTextBytes + 20 * 1024;

inline constexpr size_t kLayerBufferBytes = 6 * kMaxStringBytes;

/// Names of an op, and where it is called. Null or empty: none.
struct OpNames {
  const char* mod = nullptr;   ///< "torch"
  const char* op = nullptr;    ///< "mm"
  const char* aten = nullptr;  ///< The framework's own name, "aten::mm.out".
  const char* file = nullptr;  ///< Source file of the call; lives until the process ends.
  int line = 0;
};

/// What is known of a call besides its arguments.
struct CallFacts {
  int64_t seq = -1;
  uint64_t tid = 0;
  uint64_t ftid = 0;
  uint64_t h = 0;
  uint64_t fh = 0;  ///< Of a node: `h` of its forward op.
  Direction dir = Direction::kForward;
};

/// PyTorch's name of a data type, by the number of oplens_annotate.h; "" for kUnknown and others.
const char* DTypeName(unsigned dtype) noexcept;

/// How many values some arguments stand for: each member of a list of tensors counts, each item of
/// other lists.
uint64_t CountValues(const oplens_arg* args, size_t count) noexcept;

/// O: {'mod': .., 'op': .., 'args': [..], 'oplens': {..}}; without `facts` those go missing.
/// Returns the length. Arguments are dropped from the end where the text would be too long; 'cut'
/// counts the values that went, `cut` that went before included.
size_t FormatOp(const OpNames& names, const CallFacts* facts, const oplens_arg* args, size_t count,
                uint64_t cut, char* buffer) noexcept;

/// N, of a backward node: {'oplens': {'v': 1, 'node': ..}}.
size_t FormatNode(const char* node, const CallFacts* facts, char* buffer) noexcept;

/// S: "NAME, seq = N". The namespace of the name goes, and with it the overload behind a point
/// ("aten::pow.Scalar" is "pow"), as do the digits at the end of a node's.
size_t FormatSequence(const char* name, int64_t seq, bool node, char* buffer) noexcept;

/// T: {'traceMarker': ['FILE:LINE', ..]}. At most 64 frames, the innermost ones. With `line` above
/// 0 it is added to the last frame.
size_t FormatTrace(const char* const* frames, size_t count, int64_t line, char* buffer) noexcept;

/// L: "layer:PATH", percent-encoded. kLayerBufferBytes are enough for it.
size_t FormatLayer(std::string_view path, char* buffer) noexcept;

/// A free text: control bytes as \n, \t or \xHH, cut at a code point to kMaxTextBytes. What would
/// make a reader take it for another kind of text is percent-encoded: a '{' or "layer:" that it
/// begins with, the '=' of ", seq = N".
size_t FormatFree(std::string_view text, char* buffer) noexcept;

/// `prefix` and `text` as they are; both are short.
size_t FormatPlain(std::string_view prefix, std::string_view text, char* buffer) noexcept;

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_MARKER_TEXT_H_
