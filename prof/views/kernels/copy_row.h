#ifndef OPLENS_PROF_VIEWS_KERNELS_COPY_ROW_H_
#define OPLENS_PROF_VIEWS_KERNELS_COPY_ROW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "prof/table/columns.h"

namespace oplens::prof {

/// A copy between memories or a fill of one: a row of `prof --copies`. Texts are views into the
/// trace or are constants; an empty one is unknown.
struct CopyRow {
  int64_t index = 0;   ///< Number of the row, from 1; 0 until it is printed.
  uint32_t place = 0;  ///< In Trace::copies, of a fill in Trace::sets.
  bool fill = false;
  std::string_view rank;
  std::string_view kind;  ///< "HtoD", "DtoH", "DtoD", "PtoP", ..., "fill".
  std::string_view
      source;  ///< Kind of memory: "pageable", "pinned", "device", ...; none of a fill.
  std::string_view target;
  int64_t size_bytes = 0;
  int64_t start_ns = 0;
  std::optional<int64_t> duration_ns;  ///< Unknown when it ends before it starts.
  std::optional<int64_t> thread_id;    ///< Of the call that asked for it.
  std::string_view api;
  int32_t device_id = 0;
  int32_t stream_id = 0;

  /// Whether its size and time can both be right (IsPossibleRate).
  bool has_possible_rate() const;
  /// GB/s (10^9 bytes a second); unknown without a duration, and where it is not possible.
  std::optional<double> gigabytes_per_s() const;
};

/// Every column of a row of `prof --copies`, in order.
std::span<const Column<CopyRow>> CopyColumns();

/// Those that stay longest in a line that is too narrow, the first of them longest.
inline constexpr std::string_view kImportantCopyColumns =
    "kind,bytes,dur,gbps,start,device,stream,src,dst,idx,rank,api";

/// All copies and fills of a trace, by start; equal ones copies first, in file order. The rows
/// point into the trace.
std::vector<CopyRow> CopiesOf(const Trace& trace);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_COPY_ROW_H_
