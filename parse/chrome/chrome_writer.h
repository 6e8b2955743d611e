#ifndef OPLENS_PARSE_CHROME_CHROME_WRITER_H_
#define OPLENS_PARSE_CHROME_CHROME_WRITER_H_

#include <cstdint>
#include <set>
#include <string>

#include "base/id_map.h"
#include "base/output.h"
#include "parse/chrome/chrome_overlay.h"
#include "parse/chrome/chrome_tracks.h"
#include "parse/model/kernel_names.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"

namespace oplens::parse {

class Joined;

/// What a timeline shows besides what every trace has.
inline constexpr TraceNeeds kChromeNeeds = {TracePart::kApiCalls, TracePart::kMemoryEvents,
                                            TracePart::kInstants, TracePart::kNames};

/// Writes traces as one Chrome trace document (JSON), which Perfetto and chrome://tracing show:
/// host threads with their ranges and API calls, GPU streams with kernels, copies and fills,
/// arrows from launch to kernel and from forward to backward, counters, and what an overlay holds.
/// Times are us with three
/// decimals, the exact ns of the file's own clock. Viewers keep times as floating point numbers, so
/// from clocks that count from 1970 `baseTimeNanoseconds` is subtracted: a full hour before the
/// first trace.
///
/// Names, categories and arguments are those of PyTorch's profiler where it has them. Processes and
/// threads: ChromeTracks. Arrows have ids from 1 on, ascending. `correlation` ties a kernel to its
/// call and is the file's own, or, where an earlier call of the document has it, a number from 2^31
/// on.
///
/// Kernels without a time cannot be drawn; `otherData` counts them.
class ChromeWriter {
 public:
  /// Begins the document. `output` must outlive this object.
  explicit ChromeWriter(Output* output);
  /// Adds one process of a run, the names of its kernels, and what was computed of it.
  void Add(const Joined& joined, const KernelNames& names, const ChromeOverlay& overlay = {});
  /// Ends the document.
  void Finish();

 private:
  class Body;

  void Begin(const Trace* first);
  int64_t CorrelationId(int64_t own);
  void NoteDevices(const Trace& trace);
  void NoteProfile(const Trace& trace);

  Output* output_;
  ChromeEvents events_;
  ChromeTracks tracks_;
  int64_t next_arrow_ = 1;
  IdMap correlation_ids_;  // Those that calls of the document have.
  int64_t next_correlation_id_ = int64_t{1} << 31;
  int64_t untimed_kernels_ = 0;
  int64_t profiles_ = 0;
  std::string producers_;          // JSON strings.
  std::string distributed_;        // A JSON object; of the first profile.
  std::set<std::string> devices_;  // JSON objects.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_WRITER_H_
