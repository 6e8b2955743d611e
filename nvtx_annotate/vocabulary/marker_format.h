#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_MARKER_FORMAT_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_MARKER_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

// What emitters, recorders and readers of oplens' own markers agree on: the texts and the binary
// payload of docs/markers.md. C++17: user programs include it.

namespace oplens::markers {

/// Version of the texts and of the payload, the value of the key "v".
inline constexpr int kVersion = 1;

/// The NVTX domain of payloads and of the marks of the capture window.
inline constexpr const char* kDomain = "oplens";
inline constexpr const char* kSchemaName = "oplens.op.v1";
inline constexpr const char* kStartMark = "capture start";
inline constexpr const char* kStopMark = "capture stop";
/// The upper 16 bits of the id that a recorder which understands the payload gives to the schema.
inline constexpr uint64_t kSchemaIdTag = 0x4F50;

inline constexpr const char* kLayerPrefix = "layer:";
inline constexpr const char* kPhasePrefix = "phase:";
/// PyTorch's own name of a step, without its number.
inline constexpr std::string_view kStepPrefix = "ProfilerStep#";

// Limits of a text, in bytes. Above the soft one long lists are shortened, above the hard one
// arguments go.
inline constexpr size_t kSoftTextBytes = 4096;
inline constexpr size_t kHardTextBytes = 16384;
inline constexpr size_t kMaxStringBytes = 512;
inline constexpr size_t kShortList = 16;
inline constexpr size_t kMaxPayloadBytes = 2048;
inline constexpr size_t kMaxDimensions = 64;

/// The key "dir" of an op or node.
enum class Direction : char {
  kForward = 'f',
  kBackward = 'b',
  kRecompute = 'r',  ///< A forward op that runs again in the backward pass.
  kGradient = 'g',   ///< Accumulates a gradient.
  kOptimizer = 'o',
  kNone = 'n',
};

/// Head of the binary payload, as it lies in memory (little-endian, no padding). The arguments
/// follow, `bytes` in all with the head.
struct PayloadHead {
  int64_t seq;    ///< -1: none.
  uint64_t tid;   ///< Thread that runs it, as the operating system numbers it.
  uint64_t ftid;  ///< Node: thread of its forward op; 0: unknown.
  uint64_t h;     ///< The framework's own number of the call; 0: none.
  char dir;       ///< Direction.
  uint8_t arg_count;
  uint16_t flags;  ///< kNodeFlag, kSeqOnlyFlag; what was cut from kCutShift on.
  uint32_t bytes;
};
static_assert(sizeof(PayloadHead) == 40);

inline constexpr uint16_t kNodeFlag = 1;     ///< A backward node: an N text, else an O text.
inline constexpr uint16_t kSeqOnlyFlag = 2;  ///< Only the S text.
inline constexpr int kCutShift = 8;          ///< flags >> kCutShift: removals, at most 255.

// Each argument: a tag, a name if the tag says so (u16 length, bytes), its list if the tag says so
// (u8), the value: tensor: dtype u8, dimensions u8, i64 each; int, float: 8 bytes; complex: 16;
// bool: 1; string, other: u16 length, bytes; lists: u8 count, then 8 bytes each (bools 1).
inline constexpr uint8_t kKindMask = 0x0f;  ///< OPLENS_TENSOR, ...
inline constexpr uint8_t kNamedTag = 0x10;
inline constexpr uint8_t kListTag = 0x20;

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_MARKER_FORMAT_H_
