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

/// What a timeline shows besides the standard parts of a trace.
inline constexpr TraceNeeds kChromeNeeds = {TracePart::kApiCalls, TracePart::kMemoryEvents,
                                            TracePart::kInstants, TracePart::kNames};

/// Writes traces as one Chrome trace document (JSON) for Perfetto and chrome://tracing: host
/// threads with their ranges and API calls, GPU streams with kernels, copies and memsets, arrows
/// from launch to kernel and from forward to backward, counters, and the overlay.
///
/// Times are us with three decimals: the exact ns of the file's own clock. Viewers keep times as
/// floating point numbers, so for clocks that count from 1970 `baseTimeNanoseconds` is subtracted:
/// a full hour, at least one hour before the first trace.
///
/// Names, categories and arguments are those of PyTorch's profiler, if it has them. Processes and
/// threads: ChromeTracks. Arrow ids ascend from 1. `correlation` links a kernel to its call: the
/// file's own number, or one from 2^31 on if an earlier call of the document has it. `otherData`
/// counts kernels without a time, which cannot be drawn.
class ChromeWriter {
 public:
  /// Begins the document. `output` must outlive this object.
  explicit ChromeWriter(Output* output);
  /// Adds one process of a run with the names of its kernels and its overlay.
  void Add(const Joined& joined, const KernelNames& names, const ChromeOverlay& overlay = {});
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
  IdMap correlation_ids_;  // In use by calls of the document.
  int64_t next_correlation_id_ = int64_t{1} << 31;
  int64_t untimed_kernels_ = 0;
  int64_t profiles_ = 0;
  std::string producers_;          // JSON strings.
  std::string distributed_;        // A JSON object of the first profile.
  std::set<std::string> devices_;  // JSON objects.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_CHROME_CHROME_WRITER_H_
