#ifndef OPLENS_RECORD_SPOOL_SPOOL_FORMAT_H_
#define OPLENS_RECORD_SPOOL_SPOOL_FORMAT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "nvtx_annotate/vocabulary/rank_variables.h"

// The spool: written by the injected library, read by `record` while the program runs or after
// everything was killed. docs/recording.md shows it.
//
//   net.sql.spool/
//     session               SessionKey=value lines, written by `record` before the program starts
//     PID.N/                one image of a process; N counts the images of a process id (exec)
//       process             a ProcessPage; locked (F_OFD_SETLK) as long as the process maps it
//       error.ERRNO         a folder, where the page could not be made, and why: making a folder
//                           takes no descriptor
//       STREAM.SEQUENCE     chunks of a stream: both numbers decimal, from 0
//       ring.STREAM.PLACE   the ring of a stream that grows fast: kRingChunks files of
//                           kRingChunkBytes, made by `record`, in which the library writes chunk
//                           SEQUENCE at PLACE = SEQUENCE modulo kRingChunks where that is free
//       copy                what `record` is making
//
// Stream 0 (kNamesStream) holds names, 1 (kActivityStream) activity rows, and each further one the
// events of a thread, in order. A stream continues in the chunk with the next number once that
// exists. Both sides map chunks and pages; only the library writes, except for
// ProcessPage::flush_requested and rings. All numbers are little-endian, as in memory.
//
// A ring saves the library the pages of new files, which cost more than writing to them. A place
// is free while ChunkHead::used is 0. The library begins a chunk there, and says by
// ChunkHead::closed that it went on to the next; `record` then copies the chunk to
// STREAM.SEQUENCE and sets `closed`, then `used`, to 0. When nobody writes any more, what is still
// in a ring gets that name.
//
// Pushes, pops and ChunkHead::used are written by emitters too (nvtx_annotate/vocabulary/
// direct_range.h): if these change, so does markers::kDirectSchemaName.
//
// Crash rule: everything before ChunkHead::used is complete, whatever was killed and when.

namespace oplens::record::spool {

inline constexpr uint32_t kVersion = 6;

inline constexpr uint32_t kNamesStream = 0;
inline constexpr uint32_t kActivityStream = 1;
inline constexpr uint32_t kFirstEventStream = 2;

/// While CUDA is used, CUPTI is flushed at this interval.
inline constexpr int64_t kFlushPeriodNs = 400'000'000;
/// Limit of waiting for the GPU at the end of a process: less than the time from SIGTERM to SIGKILL
/// after `record --timeout`.
inline constexpr int64_t kEndWaitNs = 3'000'000'000;

/// For long streams.
inline constexpr uint32_t kLargestChunkBytes = 1024 * 1024;
/// See ProcessPage::large_streams.
inline constexpr uint32_t kLargeStreams = 16;

inline constexpr uint32_t kRingChunks = 4;
inline constexpr uint32_t kRingChunkBytes = 512 * 1024;

/// Longer texts, payloads and names are truncated.
inline constexpr size_t kMostTextBytes = 256 * 1024;
inline constexpr size_t kMostNameBytes = 64 * 1024;

inline constexpr char kProcessMagic[8] = {'O', 'P', 'L', 'S', 'P', 'R', 'O', 'C'};
inline constexpr char kChunkMagic[8] = {'O', 'P', 'L', 'S', 'C', 'H', 'N', 'K'};

enum class CudaState : uint32_t {
  kUnused = 0,     ///< The driver was not initialised while the library was loaded.
  kRecording = 1,  ///< Activity is recorded.
  kFailed = 2,     ///< CUPTI refused; see ProcessPage::cupti_*.
};

enum class ProcessState : uint32_t {
  kRunning = 1,
  kEnded = 2,    ///< The process ended in an orderly way: the spool is complete.
  kSkipped = 3,  ///< A child process that is not to be recorded.
};

struct ProcessPage {
  char magic[8];
  uint32_t version;
  int32_t process_id;
  int32_t parent_id;
  std::atomic<ProcessState> state;
  int64_t start_ns;                   ///< When the library was loaded.
  std::atomic<uint64_t> lost_events;  ///< NVTX calls that could not be stored.
  /// NVTX calls by signal handlers that interrupted another one.
  std::atomic<uint64_t> handler_events;
  /// NVTX calls in children created without fork handlers (_Fork, clone).
  std::atomic<uint64_t> child_events;
  std::atomic<uint64_t> cut_texts;   ///< Truncated texts, names and payloads.
  std::atomic<uint64_t> lost_rows;   ///< Activity records that could not be stored.
  std::atomic<uint64_t> cupti_lost;  ///< Activity records that CUPTI dropped.
  std::atomic<uint64_t> odd_rows;    ///< Activity records of kinds that are not stored.
  /// 1: --profile-from-start off, and recording was never started.
  std::atomic<uint32_t> waits_for_start;
  std::atomic<uint32_t> streams;     ///< Stream numbers used: all are below.
  std::atomic<int32_t> first_error;  ///< errno of the first failure to create a chunk; 0: none.
  std::atomic<CudaState> cuda;
  std::atomic<int32_t> cupti_result;    ///< CUptiResult of the failed step, or 0.
  std::atomic<uint32_t> cupti_version;  ///< cuptiGetVersion; 0: not loaded.
  /// 1: waiting for the GPU at the end of the process timed out (kEndWaitNs).
  std::atomic<uint32_t> gpu_busy_at_end;
  /// `record` increments it to request a flush of CUPTI and wakes waiters (futex.h); the library
  /// stores the number of the request it has served.
  std::atomic<uint32_t> flush_requested;
  std::atomic<uint32_t> flush_done;
  /// 1 + the streams that last made a file of kLargestChunkBytes, at their number modulo
  /// kLargeStreams; 0: none. `record` makes rings for them.
  std::atomic<uint32_t> large_streams[kLargeStreams];
  char cupti_step[64];      ///< The function that failed, or what could not be loaded.
  char cupti_message[256];  ///< CUPTI's text for the result.
  char output[1024];        ///< Database name with %-sequences replaced.
  /// The program's name; with kArgumentsOption also the arguments, separated by blanks.
  char command[2048];
  // With process_id: a ProcessIdentity.
  uint64_t pid_namespace;
  uint64_t start_ticks;
  /// 1 + the value of each markers::kRankVariables when the page was created; 0: not a number.
  uint32_t rank_variables[markers::kLauncherCount][markers::kRankFactCount];
  uint32_t reference;  ///< 1: of GPU work, record only what goes into graphs.
};
static_assert(sizeof(ProcessPage) <= 4096);
inline constexpr size_t kProcessPageBytes = 4096;

/// Head of a chunk, followed by records.
struct ChunkHead {
  char magic[8];
  uint32_t version;
  uint32_t stream;
  uint32_t sequence;
  /// Thread of the events: the low half of pthread_self(), which is CUPTI's thread id, and the OS
  /// thread id. 0 in the streams of names and activity.
  uint32_t thread_id;
  uint32_t os_thread_id;
  uint32_t capacity;           ///< File size in bytes.
  std::atomic<uint64_t> used;  ///< Bytes written, including this head.
  /// In a ring, 1: the stream goes on elsewhere, `used` is final.
  std::atomic<uint64_t> closed;
  uint64_t reserved;
};
static_assert(sizeof(ChunkHead) == 56);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

enum class RecordKind : uint8_t {
  kNone = 0,
  // Streams of events. `domain` 0 is the default domain.
  kThread,  ///< The stream now belongs to another thread: ThreadPart.
  kPush,
  kPop,
  kStart,  ///< nvtxRangeStart: kRangePart.
  kEnd,    ///< nvtxRangeEnd, on any thread: kRangePart.
  kMark,
  // Stream of names. The name is the text.
  kDomain,      ///< `domain` is its number.
  kString,      ///< A registered string of `domain`: kStringPart is its handle.
  kCategory,    ///< Of `domain`: kLookPart's category.
  kThreadName,  ///< kRangePart is the OS thread id.
  kSchema,      ///< Of a payload: kRangePart is its id.
  // Stream of activity.
  kRow,   ///< `domain` is a Table; RowPart follows the head.
  kNote,  ///< A note for the user, shown once: the text.
};

/// The parts after the head of an event or name, in this order, each padded to 8 bytes.
inline constexpr uint8_t kLookPart = 1;      ///< LookPart
inline constexpr uint8_t kColorBit = 2;      ///< LookPart::color is given.
inline constexpr uint8_t kValuePart = 4;     ///< ValuePart
inline constexpr uint8_t kStringPart = 8;    ///< uint64_t: handle of a registered string.
inline constexpr uint8_t kRangePart = 16;    ///< uint64_t
inline constexpr uint8_t kPayloadPart = 32;  ///< uint64_t count; each PayloadHead and its bytes.
inline constexpr uint8_t kTextPart = 64;     ///< uint64_t length in bytes, and the text.
/// CallPart and its bytes, a compact form of kStringPart and kPayloadPart: most records of an
/// annotated program have it, and their cost is their length.
inline constexpr uint8_t kCallPart = 128;

struct RecordHead {
  int64_t time_ns;  ///< ns since 1970; strictly increasing within a thread.
  uint32_t size;    ///< Of the whole record, a multiple of 8.
  uint16_t domain;
  RecordKind kind;
  uint8_t parts;
};
static_assert(sizeof(RecordHead) == 16);

struct ThreadPart {
  uint32_t thread_id;
  uint32_t os_thread_id;
};

struct LookPart {
  uint32_t category;
  uint32_t color;  ///< ARGB
};

/// The payload of NVTX's C union.
struct ValuePart {
  uint64_t bits;         ///< 32-bit types in the low half.
  int32_t payload_type;  ///< nvtxPayloadType_t
  uint32_t reserved;
};

struct PayloadHead {
  uint64_t schema;
  uint64_t size;
};

/// A registered string and one payload.
struct CallPart {
  uint32_t string;
  uint16_t schema;  ///< The id is kFirstSchema + schema.
  uint16_t size;
};

/// The library assigns ids from here on to schemas that it knows.
inline constexpr uint64_t kFirstSchema = markers::kSchemaIdTag << 48 | uint64_t{1} << 32;

/// All domains above this are counted as this one.
inline constexpr uint16_t kLastDomain = 0xffff;

/// The activity tables. The numbers are part of the format: append only.
enum class Table : uint16_t {
  kConcurrentKernel = 0,
  kRuntime,
  kDriver,
  kMemcpy,
  kMemcpy2,
  kMemset,
  kSynchronization,
  kCudaEvent,
  kOverhead,
  kDevice,
  kDeviceAttribute,
  kContext,
  kStream,
  kName,
  kPcie,
  kExternalCorrelation,
  kUnifiedMemoryCounter,
  kMemoryOperation,  ///< OPLENS_MEMORY
  kGraphNode,        ///< OPLENS_GRAPH_NODE
  kCount,
};

/// The contents of a row after its head: RowPart, `values` numbers of 8 bytes in the order of the
/// table's columns (docs/recording.md), then bytes. A text or BLOB column holds the length of its
/// bytes, which follow the numbers in the same order, each padded to 8; length kNullText is a NULL
/// pointer. The first columns of CONCURRENT_KERNEL, MEMCPY, MEMCPY2 and MEMSET are those of version
/// 12; newer ones follow and go to OPLENS_* tables.
struct RowPart {
  uint32_t values;
  uint32_t reserved;
};
inline constexpr int64_t kNullText = -1;

/// Prefix of the files of rings; stream and place follow.
inline constexpr const char* kRingPrefix = "ring.";
/// A file that `record` is making.
inline constexpr const char* kCopyName = "copy";

/// Prefix of the folder that tells why there is no page; the errno follows.
inline constexpr const char* kErrorPrefix = "error.";

// Environment variables of the recorded program.
inline constexpr const char* kSpoolVariable = "OPLENS_RECORD_SPOOL";    ///< Folder, absolute.
inline constexpr const char* kOutputVariable = "OPLENS_RECORD_OUTPUT";  ///< Pattern, absolute.
inline constexpr const char* kRootVariable =
    "OPLENS_RECORD_ROOT";  ///< The program: FormatIdentity.
inline constexpr const char* kOptionsVariable = "OPLENS_RECORD_OPTIONS";  ///< Words, commas.
/// ns to add to CLOCK_MONOTONIC to get the time since 1970: one clock for all processes, unaffected
/// by changes of the system time.
inline constexpr const char* kClockVariable = "OPLENS_RECORD_CLOCK";
/// Path of the CUPTI to load; default: the one loaded by the program, else the newest found.
inline constexpr const char* kCuptiVariable = "OPLENS_CUPTI";

// Words of kOptionsVariable: those of --trace, and
inline constexpr const char* kWaitOption = "wait";            ///< --profile-from-start off
inline constexpr const char* kChildrenOption = "children";    ///< --profile-child-processes
inline constexpr const char* kArgumentsOption = "arguments";  ///< --keep-arguments
inline constexpr const char* kReferenceOption = "reference";  ///< --reference

}  // namespace oplens::record::spool

#endif  // OPLENS_RECORD_SPOOL_SPOOL_FORMAT_H_
