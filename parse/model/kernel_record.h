#ifndef OPLENS_PARSE_MODEL_KERNEL_RECORD_H_
#define OPLENS_PARSE_MODEL_KERNEL_RECORD_H_

// Public header: installed, docs/library.md.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/model/dim3.h"
#include "parse/model/evidence.h"
#include "parse/model/phase.h"
#include "parse/model/reason.h"

namespace oplens {

/// One kernel and what is known about its launch: the line that `parse` writes and `prof` reads.
///
/// Texts are views into the source of the record (the trace's string pool, or the reader's line)
/// and live as long as it. nullopt: unknown. Lists are outermost first. The first 19 fields are
/// PyProf's keys, in its order and with its meaning; the others are ours.
struct KernelRecord {
  std::string_view short_name;          ///< kShortName: without namespace, templates, arguments.
  int64_t duration_ns = 0;              ///< kDuration; 0 and a reason when the kernel is not timed.
  std::vector<std::string_view> layer;  ///< Texts of "layer:" ranges.
  std::vector<std::string_view> trace;  ///< Call stack "file:line", outermost frame first.
  std::vector<std::string_view>
      repr_markers;  ///< reprMarkers: {'mod', 'strRepr'} texts, as written.
  /// marker: {'mod', 'op', 'args'} texts, as written. At most the 8 outermost and 24 innermost; the
  /// same bound holds for layers and sequence texts.
  std::vector<std::string_view> markers;
  std::vector<std::string_view> seq_markers;  ///< seqMarker: "NAME, seq = N" texts, unique, sorted.
  std::vector<int64_t> seq_ids;               ///< seqId
  int64_t sub_seq_id = 0;                     ///< subSeqId
  std::vector<int64_t> alt_seq_ids;           ///< altSeqId
  Direction direction = Direction::kUnknown;  ///< dir
  std::vector<std::string_view> mod;          ///< "na" if unknown, as in PyProf.
  std::vector<std::string_view> op;
  int64_t thread_id = 0;  ///< tid: host thread of the launch, unsigned 32 bits; 0 when unlaunched.
  int64_t device_id = 0;
  int64_t stream_id = 0;
  Dim3 grid;
  Dim3 block;
  std::string_view long_name;  ///< kLongName: demangled.

  std::optional<int64_t> start_ns;              ///< kStart: the file's own clock; opaque origin.
  std::optional<int64_t> end_ns;                ///< kEnd
  std::optional<int64_t> correlation_id;        ///< corrId
  std::optional<int64_t> process_id;            ///< pid
  std::optional<int64_t> context_id;            ///< context
  std::optional<int64_t> registers_per_thread;  ///< registers
  std::optional<int64_t> static_shared_memory_bytes;   ///< staticSharedMemory
  std::optional<int64_t> dynamic_shared_memory_bytes;  ///< dynamicSharedMemory
  std::optional<std::string_view> launch_api;          ///< launch, e.g. "cudaLaunchKernel"
  std::optional<int64_t> launch_start_ns;              ///< launchStart, host clock of the file
  std::optional<int64_t> launch_end_ns;                ///< launchEnd
  std::optional<std::string_view> device_name;         ///< deviceName
  std::vector<std::string_view> range;                 ///< Enclosing free-text ranges, at most 16.
  int64_t range_cut = 0;                               ///< rangeCut: number of ranges beyond that.
  // Entries dropped between the outermost and the innermost. Written only if not 0.
  int64_t layer_cut = 0;   ///< layerCut
  int64_t marker_cut = 0;  ///< markerCut
  /// callerRange: for a backward kernel, the free-text ranges (without steps: `step` holds for
  /// every thread) in which the threads that wait for the backward pass were when its node began;
  /// at most 16 per thread. Written only if not empty.
  std::vector<std::string_view> caller_range;
  /// markerStart: start time of the range of each entry of `markers`, empty if unknown. With the
  /// thread it identifies one call of the op, so two equal texts in a row stay two calls.
  std::vector<int64_t> marker_starts_ns;
  std::optional<std::string_view> rank;  ///< rank: the process of a distributed run, or its file.
  Phase phase = Phase::kUnknown;         ///< phase
  /// node: numbers (from 1, per profile) of the forward ops around the launch that made a node of
  /// the backward pass, outermost first; for a kernel in a node, the number of the op that made it.
  std::vector<int64_t> nodes;
  /// nodeOps: for each entry of `nodes`, how many entries of `markers` enclose that forward op; the
  /// others are inside it. Empty for a kernel in a node.
  std::vector<int64_t> node_ops;
  int64_t node_run = 0;  ///< nodeRun: for a kernel in a node, which run of the node, from 0.
  // Context of the forward op of a kernel in a node, if that op launched no kernel whose record has
  // it: as layer, trace, marker, mod and op. Written only if not empty.
  std::vector<std::string_view> forward_layer;    ///< fwdLayer
  std::vector<std::string_view> forward_trace;    ///< fwdTrace
  std::vector<std::string_view> forward_markers;  ///< fwdMarker
  std::vector<std::string_view> forward_mod;      ///< fwdMod
  std::vector<std::string_view> forward_op;       ///< fwdOp
  std::optional<int64_t> step;                    ///< step: number of the enclosing training step.
  /// gpu: what the file says about the device, in the form read by ops::Gpu; see docs/formats.md.
  std::optional<std::string_view> gpu;
  /// sharedMemory: static plus dynamic bytes per block, if only the sum is known.
  std::optional<int64_t> shared_memory_bytes;
  /// evidence: what identifies the op, if the ranges around the launch do not. Written only then.
  Evidence evidence = Evidence::kNone;
  Confidence confidence = Confidence::kUnknown;  ///< confidence: only written for an inferred op.
  ReasonSet reasons;  ///< reason: what is missing or doubtful, [] when nothing is.

  /// Whether the profile has a usable time for the kernel; if not, it enters no sum of times.
  bool timed() const { return !reasons.Has(Reason::kUntimed) && !reasons.Has(Reason::kBadTimes); }

  /// Resets every field, keeping the capacity of the lists.
  void Clear();
};

/// Appends the record and a newline to `out` as a Python dict literal: PyProf's 19 keys in its
/// order, then ours. Python's ast.literal_eval reads it whatever bytes the texts hold (bytes that
/// are not UTF-8 become lone surrogates, as in Python's surrogateescape).
void AppendDictLine(const KernelRecord& record, std::string* out);

/// Appends a JSON object and a newline: same keys, null for unknown. Bytes not in UTF-8 become
/// U+FFFD.
void AppendJsonLine(const KernelRecord& record, std::string* out);

/// Reads lines of AppendDictLine, of AppendJsonLine and of PyProf's parse.
class RecordReader {
 public:
  /// Parses one line (without its newline) into `record`. Keys may be in any order; unknown keys
  /// are skipped but must have literals; kShortName, kDuration, tid, device, stream, grid and block
  /// are required. Views in `record` point into `line` or this reader: valid until the next Read or
  /// the end of `line`. A negative duration becomes 0 with Reason::kBadTimes; mod and op may be one
  /// text instead of a list. Returns false and one sentence in `error` (what, at which column) if
  /// the line is not a record.
  bool Read(std::string_view line, KernelRecord* record, std::string* error);

 private:
  std::string unescaped_;  // Texts that had escapes.
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_KERNEL_RECORD_H_
