#ifndef OPLENS_NVTX_ANNOTATE_MARKER_TEXT_H_
#define OPLENS_NVTX_ANNOTATE_MARKER_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nvtx_annotate/oplens_annotate.h"
#include "nvtx_annotate/vocabulary/marker_format.h"

// The texts of markers: docs/markers.md. Nothing here allocates or throws. Every text is ASCII
// without control bytes, at most kHardTextBytes long, and ends with a zero.

namespace oplens::markers {

/// Bytes that a buffer for a text must have: room for one argument more than a text may hold.
inline constexpr size_t kTextBufferBytes = 48 * 1024;

/// Names of an op, and where it is called. Null or empty: none.
struct OpNames {
  const char* mod = nullptr;   ///< "torch"
  const char* op = nullptr;    ///< "mm"
  const char* aten = nullptr;  ///< The framework's own name, "aten::mm.out".
  const char* file = nullptr;  ///< Source file of the call; lives until the process ends.
  int line = 0;
  bool lasting = false;  ///< The texts stay what and where they are: comparing pointers is enough.
};

/// What is known of a call besides its arguments.
struct CallFacts {
  int64_t seq = -1;
  uint64_t tid = 0;
  uint64_t ftid = 0;
  uint64_t h = 0;
  Direction dir = Direction::kForward;
};

/// PyTorch's name of a data type, by the number of oplens_annotate.h; "" for kUnknown and others.
const char* DTypeName(unsigned dtype) noexcept;

/// O: {'mod': .., 'op': .., 'args': [..], 'oplens': {..}}. Returns the length. Lists are shortened
/// and arguments dropped from the end where the text would be too long; 'cut' counts what went,
/// `cut` things that went before included.
size_t FormatOp(const OpNames& names, const CallFacts& facts, const oplens_arg* args, size_t count,
                unsigned cut, char* buffer) noexcept;

/// N, of a backward node: {'oplens': {'v': 1, 'node': ..}}.
size_t FormatNode(const char* node, const CallFacts& facts, char* buffer) noexcept;

/// S: "NAME, seq = N". The namespace of the name goes, and with it the overload behind a point
/// ("aten::pow.Scalar" is "pow"), as do the digits at the end of a node's.
size_t FormatSequence(const char* name, int64_t seq, bool node, char* buffer) noexcept;

/// T: {'traceMarker': ['FILE:LINE', ..]}. At most 64 frames, the innermost ones. With `line` above
/// 0 it is added to the last frame.
size_t FormatTrace(const char* const* frames, size_t count, int64_t line, char* buffer) noexcept;

/// L: "layer:PATH", percent-encoded.
size_t FormatLayer(std::string_view path, char* buffer) noexcept;

/// Any text, as it is but for its length: cut at a code point to kHardTextBytes.
size_t FormatPlain(std::string_view prefix, std::string_view text, char* buffer) noexcept;

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_MARKER_TEXT_H_
