#ifndef OPLENS_PARSE_READERS_NVPROF_NVPROF_MARKERS_H_
#define OPLENS_PARSE_READERS_NVPROF_NVPROF_MARKERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/id_map.h"
#include "base/id_numbers.h"
#include "base/id_pages.h"
#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/readers/nvprof/nvprof_context.h"

namespace oplens::parse {

/// Ranges and instants of host threads, in two parts: what the rows say, which a thread may find
/// out while others of the context's tables are read, and their places in the trace.
class NvprofMarkers {
 public:
  /// `context` must outlive this object. Looks up the table.
  explicit NvprofMarkers(NvprofContext* context);

  /// Whether Scan() may run beside other readers, and is worth a thread.
  bool scans_beside() const { return scans_beside_; }
  /// Reads the rows, once the strings were read. Changes nothing of the context.
  void Scan();
  /// Adds what Scan() found to the trace and its diagnostics.
  void Place();

 private:
  void TakeRow(int64_t row_id, const Cell* row);
  void TakeInstant(int64_t row_id, const Cell* row);
  void OpenRange(int64_t row_id, const Cell* row);
  void CloseRange(int64_t row_id, const Cell* row);
  /// The text of a marker; counts the row if its text is missing.
  StringId TextOf(int64_t row_id, const Cell& name);
  ThreadIndex ThreadOf(const ThreadObject& object);
  void CountBadRow(Reason reason, int64_t row_id);
  void DropReversed();

  static constexpr uint32_t kEarlyEnd = uint32_t{1} << 31;
  static constexpr StringId kNoText = UINT32_MAX;  // Until Place().

  NvprofContext& context_;
  bool has_columns_ = true;
  bool scans_beside_ = false;
  size_t rows_ = 0;  // At most.

  IdPages::Last last_string_;
  Diagnostics diagnostics_;
  std::vector<Range> ranges_;  // Their threads are numbers of threads_, until Place().
  std::vector<Instant> instants_;
  IdNumbers threads_;  // By NvprofContext::ThreadKey().
  IdMap pending_;      // marker id -> index of an open range, or kEarlyEnd | index of an end
  std::vector<int64_t> marker_ids_;  // Per range: ascending in order of opening.
  std::vector<int64_t> early_ends_;
  size_t early_ends_used_ = 0;
  int64_t process_markers_ = 0;
  bool has_no_text_ = false;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_NVPROF_MARKERS_H_
