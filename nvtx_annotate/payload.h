#ifndef OPLENS_NVTX_ANNOTATE_PAYLOAD_H_
#define OPLENS_NVTX_ANNOTATE_PAYLOAD_H_

#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/marker_text.h"

// The binary payload of an op's range, which a recorder that knows it takes in place of a text:
// docs/markers.md. Nothing here allocates or throws.

namespace oplens::markers {

/// Bytes that a buffer for a payload must have.
inline constexpr size_t kPayloadBufferBytes = kMaxPayloadBytes;

/// Where an op is called; file null: not known. Follows the arguments in the payload where the flag
/// kSiteFlag is set: u32 line, u16 length, bytes.
struct CallSite {
  const char* file = nullptr;
  int line = 0;
};

/// Writes the payload of a call and returns its length, at most kMaxPayloadBytes: arguments that do
/// not fit are dropped from the end, long lists and texts shortened.
size_t EncodePayload(const CallFacts& facts, uint16_t flags, const oplens_arg* args, size_t count,
                     const CallSite& site, unsigned char* buffer) noexcept;

/// Texts that a payload stands for; length 0: there is none.
struct RenderedMarker {
  char* trace = nullptr;  ///< T
  size_t trace_size = 0;
  char* main = nullptr;  ///< O or N
  size_t main_size = 0;
  char* sequence = nullptr;  ///< S
  size_t sequence_size = 0;
};

/// Renders the texts of a payload, outermost first: T, O or N, S. `message` is the text of the
/// range's registered string ("torch.mm", "torch.mm|aten::mm", "MmBackward0"). The three buffers
/// that `out` points to hold kTextBufferBytes each. False when `data` is no such payload; never
/// reads beyond it.
bool RenderPayload(const char* message, const unsigned char* data, size_t size,
                   RenderedMarker* out) noexcept;

/// The message of an op: "MOD.OP|ATEN", with '.' and '|' in OP, '%' everywhere percent-encoded.
/// Returns the length, at most 3 * kMaxStringBytes.
size_t FormatMessage(const OpNames& names, char* buffer) noexcept;

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_PAYLOAD_H_
