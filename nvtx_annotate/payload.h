#ifndef OPLENS_NVTX_ANNOTATE_PAYLOAD_H_
#define OPLENS_NVTX_ANNOTATE_PAYLOAD_H_

#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/marker_text.h"

// The binary payload of an op's range, which a recorder that knows it takes in place of a text:
// docs/markers.md.

namespace oplens::markers {

/// Bytes that a buffer for a payload must have: room for one argument more than a payload may hold.
inline constexpr size_t kPayloadBufferBytes = kMaxPayloadBytes + 16 * 1024;

/// Writes the payload of a call and returns its length, at most kMaxPayloadBytes: arguments that do
/// not fit are dropped from the end and counted, long texts shortened. `buffer` is aligned for a
/// PayloadHead. Neither allocates nor throws.
size_t EncodePayload(const CallFacts& facts, uint8_t flags, const oplens_arg* args, size_t count,
                     unsigned char* buffer) noexcept;

/// Texts that a payload stands for; length 0: there is none.
struct RenderedMarker {
  char* trace = nullptr;  ///< T
  size_t trace_size = 0;
  char* main = nullptr;  ///< O or N
  size_t main_size = 0;
  char* sequence = nullptr;  ///< S
  size_t sequence_size = 0;
  CallFacts facts;
};

/// Where the facts of a call go, which differ from call to call.
enum class Facts : uint8_t {
  kInText,  ///< Into O and N, and with a sequence number S.
  kApart,   ///< Nowhere: RenderedMarker has them. Texts of alike calls are the same.
};

/// Renders the texts of a payload, outermost first: T, O or N, S. `message` is the text of the
/// range's registered string, see FormatMessage. The three buffers
/// that `out` points to hold kTextBufferBytes each. False when `data` is no such payload; never
/// reads beyond it.
bool RenderPayload(const char* message, const unsigned char* data, size_t size, Facts place,
                   RenderedMarker* out);

/// Whether an argument is a member of a list of tensors.
inline bool IsListed(const oplens_arg& arg) noexcept {
  const bool undefined = arg.value.ints == nullptr && arg.count > 0;
  return arg.list != 0 && arg.kind == OPLENS_TENSOR && !undefined;
}

/// Bytes that a buffer for a message must have.
inline constexpr size_t kMessageBufferBytes = 13 * kMaxStringBytes;

/// The message of the range of an op or node, which holds what is the same in every call:
/// "MOD.OP|ATEN|FILE:LINE", without the parts at the end that are not known; "MmBackward0" of a
/// node.
/// '%', '|' and control bytes are percent-encoded, in OP '.' too. Returns the length.
size_t FormatMessage(const OpNames& names, char* buffer) noexcept;

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_PAYLOAD_H_
