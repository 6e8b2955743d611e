#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_MARKER_FORMAT_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_MARKER_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

// What emitters, recorders and readers of oplens' own markers agree on: the texts and the binary
// payloads of docs/markers.md. C++17: user programs include it.

namespace oplens::markers {

/// Version of the texts and of the payload, the value of the key "v".
inline constexpr int kVersion = 1;

/// The NVTX domain of payloads and of the marks of the capture window.
inline constexpr const char* kDomain = "oplens";
inline constexpr const char* kSchemaName = "oplens.op.v2";
inline constexpr const char* kStartMark = "capture start";
inline constexpr const char* kStopMark = "capture stop";
// The marks of a capture schedule begin like those of the capture window and mean the same; the
// rest tells the cycle.
/// A schedule begins, and not with a cycle.
inline constexpr const char* kScheduleMark = "capture stop: schedule";
/// The number of the cycle follows, from 1.
inline constexpr const char* kCycleStartMark = "capture start: cycle ";
/// It is complete; its number follows.
inline constexpr const char* kCycleStopMark = "capture stop: cycle ";
/// The cycle that was begun last is to be forgotten.
inline constexpr const char* kDroppedMark = "capture stop: dropped";

/// A mark with the number of ranges that were not emitted so far, nested deeper than kMaxDepth.
inline constexpr std::string_view kLeftOutMark = "ranges left out: ";
/// The upper 16 bits of the id that a recorder which understands the payload gives to the schema.
inline constexpr uint64_t kSchemaIdTag = 0x4F50;

inline constexpr const char* kLayerPrefix = "layer:";
inline constexpr const char* kPhasePrefix = "phase:";
/// PyTorch's own name of a step, without its number.
inline constexpr std::string_view kStepPrefix = "ProfilerStep#";

// Limits of a text and of a payload, in bytes: arguments that do not fit go, from the end. Tools
// are known to have trouble with texts of 64 KiB.
inline constexpr size_t kMaxTextBytes = 60'000;
inline constexpr size_t kMaxPayloadBytes = 60'000;
inline constexpr size_t kMaxStringBytes = 512;
inline constexpr size_t kMaxDimensions = 64;
inline constexpr size_t kMaxListItems = 1024;  ///< Of a list of numbers.
/// Ranges that a thread may have open.
inline constexpr size_t kMaxDepth = 4096;

/// The key "dir" of an op or node.
enum class Direction : char {
  kForward = 'f',
  kBackward = 'b',
  kRecompute = 'r',  ///< A forward op that runs again in the backward pass.
  kGradient = 'g',   ///< Accumulates a gradient.
  kOptimizer = 'o',
  kNone = 'n',
};

/// Head of the binary payload, as it lies in memory (little-endian, no padding). What a node says
/// of its forward op follows (ForwardPart), what was cut (u32), and the arguments; `bytes` in all
/// with the head.
struct PayloadHead {
  int64_t seq;    ///< -1: none.
  uint64_t h;     ///< The framework's own number of the call; 0: none.
  uint32_t tid;   ///< Thread that runs it, as the operating system numbers it.
  char dir;       ///< Direction.
  uint8_t flags;  ///< kNodeFlag, kSeqOnlyFlag, kCutFlag, kForwardFlag.
  uint16_t arg_count;
  uint32_t bytes;
  uint32_t reserved;
};
static_assert(sizeof(PayloadHead) == 32);

/// Of a backward node: where its forward op ran, and its number of the call; 0: unknown.
struct ForwardPart {
  uint64_t ftid;
  uint64_t fh;
};

inline constexpr uint8_t kNodeFlag = 1;     ///< A backward node: an N text, else an O text.
inline constexpr uint8_t kSeqOnlyFlag = 2;  ///< Only the S text.
inline constexpr uint8_t kCutFlag = 4;      ///< A u32 in front of the arguments: what was cut.
inline constexpr uint8_t kForwardFlag = 8;  ///< A ForwardPart behind the head.

// Each argument: a tag, a name if the tag says so (u16 length, bytes), its list if the tag says so
// (u8), how many alike members of the list follow it if the tag says so (u16), the value: tensor:
// dtype u8, dimensions u8, i64 each; int, float: 8 bytes; complex: 16; bool: 1; string, other: u16
// length, bytes; lists: u16 count, then 8 bytes each (bools 1).
inline constexpr uint8_t kKindMask = 0x0f;  ///< OPLENS_TENSOR, ...
inline constexpr uint8_t kNamedTag = 0x10;
inline constexpr uint8_t kListTag = 0x20;
inline constexpr uint8_t kMoreTag = 0x40;

inline constexpr const char* kMemorySchemaName = "oplens.memory.v1";

/// The payload of an event of an allocator, as it lies in memory (little-endian, no padding).
struct MemoryPayload {
  uint64_t address;
  int64_t bytes;            ///< Negative: released.
  int64_t total_allocated;  ///< Of the device, after the event; -1: not known.
  int64_t total_reserved;   ///< Held by the allocator, in use or not; -1: not known.
  int32_t device_type;      ///< 0 the host, 1 CUDA, ...: c10::DeviceType.
  int32_t device;           ///< -1: there is but one of the type.
};
static_assert(sizeof(MemoryPayload) == 40);

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_MARKER_FORMAT_H_
