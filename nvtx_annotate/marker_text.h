#ifndef OPLENS_NVTX_ANNOTATE_MARKER_TEXT_H_
#define OPLENS_NVTX_ANNOTATE_MARKER_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nvtx_annotate/oplens_annotate.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

// Formats marker texts (docs/markers.md). Nothing here allocates or throws. Texts are
// zero-terminated, without control bytes, at most kMaxTextBytes long, and ASCII except for free
// texts.

namespace oplens::markers {

/// Required size of a text buffer: space for one argument beyond the limit of a text.
inline constexpr size_t kTextBufferBytes = kMaxTextBytes + 20 * 1024;

inline constexpr size_t kLayerBufferBytes = 6 * kMaxStringBytes;

/// Names and call site of an op. Null or empty: none.
struct OpNames {
  const char* mod = nullptr;   ///< "torch"
  const char* op = nullptr;    ///< "mm"
  const char* aten = nullptr;  ///< The framework's own name, "aten::mm.out".
  const char* file = nullptr;  ///< Source file of the call; must live until the process ends.
  int line = 0;
};

/// Facts about a call besides its arguments.
struct CallFacts {
  int64_t seq = -1;
  uint64_t tid = 0;
  uint64_t ftid = 0;
  uint64_t h = 0;
  uint64_t fh = 0;  ///< For a node: `h` of its forward op.
  Direction dir = Direction::kForward;
};

/// PyTorch's name of an OPLENS_* dtype; "" for kUnknown and others.
const char* DTypeName(unsigned dtype) noexcept;

/// The number of values in arguments: each member of a list of tensors and each item of other lists
/// counts.
uint64_t CountValues(const oplens_arg* args, size_t count) noexcept;

/// O: {'mod': .., 'op': .., 'args': [..], 'oplens': {..}}; `facts` may be null. Returns the length.
/// Drops arguments from the end if the text would be too long; 'cut' counts the dropped values,
/// including `cut` earlier ones.
size_t FormatOp(const OpNames& names, const CallFacts* facts, const oplens_arg* args, size_t count,
                uint64_t cut, char* buffer) noexcept;

/// N for a backward node: {'oplens': {'v': 1, 'node': ..}}.
size_t FormatNode(const char* node, const CallFacts* facts, char* buffer) noexcept;

/// S: "NAME, seq = N". Removes the name's namespace with the overload after a point
/// ("aten::pow.Scalar" becomes "pow"), and a node's trailing digits.
size_t FormatSequence(const char* name, int64_t seq, bool node, char* buffer) noexcept;

/// T: {'traceMarker': ['FILE:LINE', ..]}, with the innermost 64 frames at most. A `line` > 0 is
/// appended to the last frame.
size_t FormatTrace(const char* const* frames, size_t count, int64_t line, char* buffer) noexcept;

/// L: "layer:PATH", percent-encoded. `buffer` needs kLayerBufferBytes.
size_t FormatLayer(std::string_view path, char* buffer) noexcept;

/// A free text: control bytes become \n, \t or \xHH; truncated at a code point to kMaxTextBytes.
/// Percent-encodes what readers would take for another kind of text: a leading '{' or "layer:", and
/// the '=' of ", seq = N".
size_t FormatFree(std::string_view text, char* buffer) noexcept;

/// `prefix` and `text` unchanged; both must be short.
size_t FormatPlain(std::string_view prefix, std::string_view text, char* buffer) noexcept;

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_MARKER_TEXT_H_
