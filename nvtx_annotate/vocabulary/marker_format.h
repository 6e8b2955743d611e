#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_MARKER_FORMAT_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_MARKER_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

// Marker format shared by emitters, recorders and readers: the texts and binary payloads of
// docs/markers.md. C++17: user programs include it.

namespace oplens::markers {

/// Version of texts and payload: the key "v".
inline constexpr int kVersion = 1;

/// The NVTX domain of payloads and of capture window marks.
inline constexpr const char* kDomain = "oplens";
inline constexpr const char* kSchemaName = "oplens.op.v2";
inline constexpr const char* kStartMark = "capture start";
inline constexpr const char* kStopMark = "capture stop";
// Marks of a capture schedule begin with those of the capture window and imply them; the rest names
// the cycle.
/// A schedule begins, before its first cycle.
inline constexpr const char* kScheduleMark = "capture stop: schedule";
/// Followed by the cycle's number, from 1.
inline constexpr const char* kCycleStartMark = "capture start: cycle ";
/// The cycle is complete; its number follows.
inline constexpr const char* kCycleStopMark = "capture stop: cycle ";
/// Drop the cycle begun last.
inline constexpr const char* kDroppedMark = "capture stop: dropped";

/// A mark with the total of ranges left out so far, nested deeper than kMaxDepth.
inline constexpr std::string_view kLeftOutMark = "ranges left out: ";
/// The upper 16 bits of the schema id assigned by recorders that understand the payload.
inline constexpr uint64_t kSchemaIdTag = 0x4F50;

inline constexpr const char* kLayerPrefix = "layer:";
inline constexpr const char* kPhasePrefix = "phase:";
/// PyTorch's name of a step, without its number.
inline constexpr std::string_view kStepPrefix = "ProfilerStep#";

// Byte limits of texts and payloads: arguments that do not fit are dropped from the end. Some tools
// have trouble with texts of 64 KiB.
inline constexpr size_t kMaxTextBytes = 60'000;
inline constexpr size_t kMaxPayloadBytes = 60'000;
inline constexpr size_t kMaxStringBytes = 512;
inline constexpr size_t kMaxDimensions = 64;
inline constexpr size_t kMaxListItems = 1024;  ///< Of a list of numbers.
/// Open ranges per thread.
inline constexpr size_t kMaxDepth = 4096;

enum class Direction : char {
  kForward = 'f',
  kBackward = 'b',
  kRecompute = 'r',  ///< A forward op that runs again in the backward pass.
  kGradient = 'g',   ///< Accumulates a gradient.
  kOptimizer = 'o',
  kNone = 'n',
};

/// Head of the binary payload, as in memory (little-endian, no padding). Followed by a node's
/// ForwardPart, the number of cut values (u32), and the arguments; `bytes` is the total size.
struct PayloadHead {
  int64_t seq;   ///< -1: none.
  uint64_t h;    ///< The framework's id of the call; 0: none.
  uint32_t tid;  ///< OS id of the thread that runs it.
  char dir;      ///< Direction.
  uint8_t flags;
  uint16_t arg_count;
  uint32_t bytes;
  uint32_t reserved;
};
static_assert(sizeof(PayloadHead) == 32);

/// For a backward node: thread and call id of its forward op; 0: unknown.
struct ForwardPart {
  uint64_t ftid;
  uint64_t fh;
};

inline constexpr uint8_t kNodeFlag = 1;  ///< A backward node: an N text instead of O.
inline constexpr uint8_t kSeqOnlyFlag = 2;
inline constexpr uint8_t kCutFlag = 4;      ///< A u32 before the arguments: number of cut values.
inline constexpr uint8_t kForwardFlag = 8;  ///< A ForwardPart after the head.

// Each argument: a tag; with kNamedTag a name (u16 length, bytes); with kListTag its list (u8);
// with kMoreTag how many equal members of the list follow (u16); the value. Tensor: dtype u8,
// dimensions u8, i64 each; int, float: 8 bytes; complex: 16; bool: 1; string, other: u16 length,
// bytes; lists: u16 count, then 8 bytes each (bools 1).
inline constexpr uint8_t kKindMask = 0x0f;  ///< OPLENS_TENSOR, ...
inline constexpr uint8_t kNamedTag = 0x10;
inline constexpr uint8_t kListTag = 0x20;
inline constexpr uint8_t kMoreTag = 0x40;

inline constexpr const char* kMemorySchemaName = "oplens.memory.v1";

/// The payload of an allocator event, as in memory (little-endian, no padding).
struct MemoryPayload {
  uint64_t address;
  int64_t bytes;            ///< Negative: released.
  int64_t total_allocated;  ///< Of the device, after the event; -1: unknown.
  int64_t total_reserved;   ///< Held by the allocator, used or not; -1: unknown.
  int32_t device_type;      ///< c10::DeviceType: 0 host, 1 CUDA, ...
  int32_t device;           ///< -1: the only one of its type.
};
static_assert(sizeof(MemoryPayload) == 40);

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_MARKER_FORMAT_H_
