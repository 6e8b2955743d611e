#ifndef OPLENS_RECORD_SPOOL_SPOOL_FORMAT_H_
#define OPLENS_RECORD_SPOOL_SPOOL_FORMAT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "nvtx_annotate/vocabulary/marker_format.h"
#include "nvtx_annotate/vocabulary/rank_variables.h"

// The spool: what the injected library writes and the program `record` reads, while the recorded
// program runs or after everything was killed. docs/recording.md shows it.
//
//   net.sql.spool/
//     session               SessionKey=value lines, written by `record` before the program starts
//     PID.N/                one image of a process; N counts the images of a process id (exec)
//       process             a ProcessPage; locked (F_OFD_SETLK) as long as the process maps it
//       error.ERRNO         a folder, where the page could not be made, and why: making a folder
//                           takes no descriptor
//       STREAM.SEQUENCE     chunks of a stream: both numbers decimal, from 0
//       ready.N             files of zeros that `record` makes ahead: the library takes one for a
//                           chunk by giving it that name
//
// Stream 0 (kNamesStream) holds names, 1 (kActivityStream) rows of activity tables, every further
// one the events of a thread, in order. A stream goes on in the chunk of the next number as soon as
// that exists. Chunks and pages are mapped by both sides; only the library writes, but for
// ProcessPage::flush_asked and chunks_ready. All numbers are little-endian, as they lie in memory.
//
// Crash rule: what lies before ChunkHead::used is whole, whatever was killed and when.

namespace oplens::record::spool {

inline constexpr uint32_t kVersion = 4;

inline constexpr uint32_t kNamesStream = 0;
inline constexpr uint32_t kActivityStream = 1;
inline constexpr uint32_t kFirstEventStream = 2;

/// While CUDA is used, CUPTI is asked for what it holds after so long.
inline constexpr int64_t kFlushPeriodNs = 400'000'000;
/// At the end of a process the GPU is waited for so long: less than the time from SIGTERM to
/// SIGKILL after `record --timeout`.
inline constexpr int64_t kEndWaitNs = 3'000'000'000;

/// Of a stream that goes on for long.
inline constexpr uint32_t kLargestChunkBytes = 1024 * 1024;

/// Longer texts and payloads of events are cut, and longer names.
inline constexpr size_t kMostTextBytes = 256 * 1024;
inline constexpr size_t kMostNameBytes = 64 * 1024;

inline constexpr char kProcessMagic[8] = {'O', 'P', 'L', 'S', 'P', 'R', 'O', 'C'};
inline constexpr char kChunkMagic[8] = {'O', 'P', 'L', 'S', 'C', 'H', 'N', 'K'};

/// What the library found of CUDA.
enum class CudaState : uint32_t {
  kUnused = 0,     ///< The driver was not initialised while the library was there.
  kRecording = 1,  ///< Activity is recorded.
  kFailed = 2,     ///< CUPTI refused: ProcessPage::cupti_* say where and why.
};

enum class ProcessState : uint32_t {
  kRunning = 1,
  kEnded = 2,    ///< The process ended in an orderly way: everything is in the spool.
  kSkipped = 3,  ///< A child process that was not to be recorded.
};

/// The file `process`. Counters only rise.
struct ProcessPage {
  char magic[8];
  uint32_t version;
  int32_t process_id;
  int32_t parent_id;
  std::atomic<ProcessState> state;
  int64_t start_ns;                   ///< When the library was loaded.
  std::atomic<uint64_t> lost_events;  ///< NVTX calls that could not be stored.
  /// NVTX calls of signal handlers that interrupted another one.
  std::atomic<uint64_t> handler_events;
  /// NVTX calls of children that came to life without the handlers of fork (_Fork, clone).
  std::atomic<uint64_t> child_events;
  std::atomic<uint64_t> cut_texts;   ///< Texts, names and payloads that were too long.
  std::atomic<uint64_t> lost_rows;   ///< Activity records that could not be stored.
  std::atomic<uint64_t> cupti_lost;  ///< Activity records that CUPTI dropped.
  std::atomic<uint64_t> odd_rows;    ///< Activity records of kinds that are not kept.
  /// 1: --profile-from-start off, and no start has come.
  std::atomic<uint32_t> waits_for_start;
  std::atomic<uint32_t> streams;     ///< Numbers given out: all streams are below.
  std::atomic<int32_t> first_error;  ///< errno of the first chunk that could not be made; 0: none.
  std::atomic<CudaState> cuda;
  std::atomic<int32_t> cupti_result;    ///< CUptiResult of the step that failed, or 0.
  std::atomic<uint32_t> cupti_version;  ///< cuptiGetVersion, 0: not loaded.
  /// 1: the wait for the GPU at the end of the process was given up (kEndWaitNs).
  std::atomic<uint32_t> gpu_busy_at_end;
  /// `record` counts up when it wants what CUPTI holds in the spool, and wakes who waits for that
  /// (futex.h); the library answers with the number that it has served.
  std::atomic<uint32_t> flush_asked;
  std::atomic<uint32_t> flush_done;
  /// Chunks of kLargestChunkBytes that streams wanted so far. `record` makes some ahead: of the
  /// files ready.N those below chunks_ready are complete, and those below chunks_taken are taken.
  std::atomic<uint32_t> chunks_wanted;
  std::atomic<uint32_t> chunks_ready;
  std::atomic<uint32_t> chunks_taken;
  char cupti_step[64];      ///< The function that failed, or what could not be loaded.
  char cupti_message[256];  ///< CUPTI's words for the result.
  char output[1024];        ///< Name of the database, %-sequences replaced.
  /// The program's name; with kArgumentsOption the arguments too, separated by blanks.
  char command[2048];
  // With process_id what ProcessIdentity has.
  uint64_t pid_namespace;
  uint64_t start_ticks;
  /// The number that each of markers::kRankVariables was when the page was made, and 1; 0: it was
  /// none.
  uint32_t rank_variables[markers::kLauncherCount][markers::kRankFactCount];
  uint32_t reference;  ///< 1: of the GPU only what goes into graphs is recorded (kReferenceOption).
};
static_assert(sizeof(ProcessPage) <= 4096);
inline constexpr size_t kProcessPageBytes = 4096;

/// Head of a chunk; records follow at once.
struct ChunkHead {
  char magic[8];
  uint32_t version;
  uint32_t stream;
  uint32_t sequence;
  /// Thread of the events: the low half of pthread_self(), as CUPTI numbers threads, and the
  /// operating system's number. 0 in the streams of names and activity.
  uint32_t thread_id;
  uint32_t os_thread_id;
  uint32_t capacity;           ///< Bytes of the file.
  std::atomic<uint64_t> used;  ///< Bytes that are written, with this head.
  uint64_t reserved[2];
};
static_assert(sizeof(ChunkHead) == 56);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

enum class RecordKind : uint8_t {
  kNone = 0,
  // Streams of events. `domain` 0 is the default domain.
  kThread,  ///< From here on the stream is of another thread: ThreadPart.
  kPush,
  kPop,
  kStart,  ///< nvtxRangeStart: kRangePart.
  kEnd,    ///< nvtxRangeEnd, on any thread: kRangePart.
  kMark,
  // Stream of names. The name is the text.
  kDomain,      ///< `domain` is its number.
  kString,      ///< A registered string of `domain`: kStringPart is its handle.
  kCategory,    ///< Of `domain`: kLookPart's category.
  kThreadName,  ///< kRangePart is the operating system's number of the thread.
  kSchema,      ///< A payload's: kRangePart is its id.
  // Stream of activity.
  kRow,   ///< `domain` is a Table; RowPart follows the head.
  kNote,  ///< Something to tell the user, once: the text.
};

/// Which parts follow the head of an event or a name, in this order, each padded to 8 bytes.
inline constexpr uint8_t kLookPart = 1;      ///< LookPart
inline constexpr uint8_t kColorBit = 2;      ///< LookPart::color is given.
inline constexpr uint8_t kValuePart = 4;     ///< ValuePart
inline constexpr uint8_t kStringPart = 8;    ///< uint64_t: handle of a registered string.
inline constexpr uint8_t kRangePart = 16;    ///< uint64_t
inline constexpr uint8_t kPayloadPart = 32;  ///< uint64_t count; each PayloadHead and its bytes.
inline constexpr uint8_t kTextPart = 64;  ///< uint64_t length in bytes, and the text: UTF-8 or not.
/// CallPart and its bytes, which say in short what kStringPart and kPayloadPart would: most records
/// of an annotated program are of this kind, and what they cost is their length.
inline constexpr uint8_t kCallPart = 128;

struct RecordHead {
  int64_t time_ns;  ///< Nanoseconds since 1970; rises strictly within a thread.
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
  uint16_t schema;  ///< Its id is kFirstSchema + schema.
  uint16_t size;
};

/// The library numbers the schemas that it knows from here on.
inline constexpr uint64_t kFirstSchema = markers::kSchemaIdTag << 48 | uint64_t{1} << 32;

/// Domains above this are all counted as this one.
inline constexpr uint16_t kLastDomain = 0xffff;

/// The tables of activity. Numbers are part of the format: add at the end only.
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

/// What follows the head of a row: RowPart, `values` numbers of 8 bytes in the order of the table's
/// columns (docs/recording.md), then bytes.
/// A column that is a text or a BLOB holds the length of its bytes, which stand behind the numbers
/// in the same order, each padded to 8; a text of length kNullText is a NULL pointer.
/// The first `values` columns of CONCURRENT_KERNEL, MEMCPY, MEMCPY2 and MEMSET are those of
/// version 12; newer ones follow and go to OPLENS_* tables.
struct RowPart {
  uint32_t values;
  uint32_t reserved;
};
inline constexpr int64_t kNullText = -1;

/// Of a file that was made ahead; its number follows.
inline constexpr const char* kReadyPrefix = "ready.";

/// Of the folder that tells why there is no page; the errno follows.
inline constexpr const char* kErrorPrefix = "error.";

// Environment of the recorded program.
inline constexpr const char* kSpoolVariable = "OPLENS_RECORD_SPOOL";    ///< Folder, absolute.
inline constexpr const char* kOutputVariable = "OPLENS_RECORD_OUTPUT";  ///< Pattern, absolute.
inline constexpr const char* kRootVariable =
    "OPLENS_RECORD_ROOT";  ///< The program: FormatIdentity.
inline constexpr const char* kOptionsVariable = "OPLENS_RECORD_OPTIONS";  ///< Words, commas.
/// Nanoseconds to add to CLOCK_MONOTONIC to have the time since 1970: one clock for all processes,
/// which no change of the time of day disturbs.
inline constexpr const char* kClockVariable = "OPLENS_RECORD_CLOCK";
/// CUPTI to load, a path; else the one that the program has loaded, else the newest found.
inline constexpr const char* kCuptiVariable = "OPLENS_CUPTI";

// Words of kOptionsVariable: those of --trace, and
inline constexpr const char* kWaitOption = "wait";            ///< --profile-from-start off
inline constexpr const char* kChildrenOption = "children";    ///< --profile-child-processes
inline constexpr const char* kArgumentsOption = "arguments";  ///< --keep-arguments
inline constexpr const char* kReferenceOption = "reference";  ///< --reference

}  // namespace oplens::record::spool

#endif  // OPLENS_RECORD_SPOOL_SPOOL_FORMAT_H_
