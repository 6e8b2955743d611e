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
/// out while others of the context's tables are read, strings among them, and their places in the
/// trace.
class NvprofMarkers {
 public:
  /// `context` must outlive this object. Looks up the table.
  explicit NvprofMarkers(NvprofContext* context);

  /// Whether Scan() may run beside other readers, and is worth a thread.
  bool scans_beside() const { return scans_beside_; }
  /// Reads the rows; where it does not scan beside others, once the strings were read. Changes
  /// nothing of the context.
  void Scan();
  /// Adds what Scan() found to the trace and its diagnostics, once the strings were read.
  void Place();

 private:
  void TakeRow(int64_t row_id, const Cell* row);
  void TakeInstant(int64_t row_id, const Cell* row);
  void OpenRange(int64_t row_id, const Cell* row);
  void CloseRange(int64_t row_id, const Cell* row);
  /// The text of a marker, or, while the strings are read, its id in the file; counts the row if
  /// its text is missing.
  StringId TextOf(int64_t row_id, const Cell& name);
  /// Takes texts for ids of the file. Reads the rows again if one has no text: rows that are
  /// damaged are counted in their order.
  void TakeTexts();
  ThreadIndex ThreadOf(const ThreadObject& object);
  void CountBadRow(Reason reason, int64_t row_id);
  void DropReversed();

  static constexpr uint32_t kEarlyEnd = uint32_t{1} << 31;
  static constexpr StringId kNoText = UINT32_MAX;  // Until Place().

  /// What rows say.
  struct Found {
    Diagnostics diagnostics;
    std::vector<Range> ranges;  ///< Their threads are numbers of `threads`, until Place().
    std::vector<Instant> instants;
    IdNumbers threads;  ///< By NvprofContext::ThreadKey().
    IdMap pending;      ///< marker id -> index of an open range, or kEarlyEnd | index of an end
    std::vector<int64_t> marker_ids;  ///< Per range: ascending in order of opening.
    std::vector<int64_t> early_ends;
    size_t early_ends_used = 0;
    int64_t process_markers = 0;
    bool has_no_text = false;
  };

  NvprofContext& context_;
  bool has_columns_ = true;
  bool scans_beside_ = false;
  size_t rows_ = 0;  // At most.

  bool texts_later_ = false;   // Texts are ids of the file, until TakeTexts().
  bool lacks_a_text_ = false;  // One of these is none that it takes.
  IdPages::Last last_string_;
  Found found_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_NVPROF_MARKERS_H_
