#ifndef OPLENS_NVTX_ANNOTATE_PAYLOAD_H_
#define OPLENS_NVTX_ANNOTATE_PAYLOAD_H_

#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/marker_text.h"

// The binary payload of an op's range, which recorders that know it use instead of a text:
// docs/markers.md.

namespace oplens::markers {

/// Required size of a payload buffer: space for one argument beyond the limit of a payload.
inline constexpr size_t kPayloadBufferBytes = kMaxPayloadBytes + 16 * 1024;

/// Writes the payload of a call and returns its length, at most kMaxPayloadBytes. Arguments that do
/// not fit are dropped from the end and counted, long texts truncated. `buffer` must be aligned for
/// a PayloadHead. Neither allocates nor throws.
size_t EncodePayload(const CallFacts& facts, uint8_t flags, const oplens_arg* args, size_t count,
                     unsigned char* buffer) noexcept;

/// The texts rendered from a payload; length 0: none.
struct RenderedMarker {
  char* trace = nullptr;  ///< T
  size_t trace_size = 0;
  char* main = nullptr;  ///< O or N
  size_t main_size = 0;
  char* sequence = nullptr;  ///< S
  size_t sequence_size = 0;
};

/// The payload before its arguments.
struct PayloadFacts {
  CallFacts facts;
  uint8_t flags = 0;
  uint16_t arg_count = 0;
  size_t args_at = 0;  ///< Start of the arguments; with kCutFlag, of the number of cut values.
  size_t end = 0;      ///< End of the arguments.
};

/// Returns false if `data` is not a payload.
bool ReadFacts(const unsigned char* data, size_t size, PayloadFacts* out) noexcept;

/// Where the per-call facts go.
enum class Facts : uint8_t {
  kInText,  ///< Into O and N; also as S if there is a sequence number.
  kApart,   ///< Only into PayloadFacts, so that equal calls have equal texts.
};

/// Renders the texts of a payload, outermost first: T, O or N, S. `message`: the range's registered
/// string, see FormatMessage. The three buffers of `out` need kTextBufferBytes each. Returns false
/// if `data` is not such a payload; never reads beyond it.
bool RenderPayload(const char* message, const unsigned char* data, size_t size, Facts place,
                   RenderedMarker* out);

/// Whether an argument is a member of a list of tensors.
inline bool IsListed(const oplens_arg& arg) noexcept {
  const bool undefined = arg.value.ints == nullptr && arg.count > 0;
  return arg.list != 0 && arg.kind == OPLENS_TENSOR && !undefined;
}

inline constexpr size_t kMessageBufferBytes = 13 * kMaxStringBytes;

/// The message of the range of an op or node, with what is the same in every call:
/// "MOD.OP|ATEN|FILE:LINE" without unknown trailing parts; for a node "MmBackward0".
/// Percent-encodes '%', '|' and control bytes, in OP also '.'. Returns the length.
size_t FormatMessage(const OpNames& names, char* buffer) noexcept;

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_PAYLOAD_H_
