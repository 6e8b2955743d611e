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

/// A copy or memset: a row of `prof --copies`. Texts point into the trace or to constants; empty
/// means unknown.
struct CopyRow {
  int64_t index = 0;   ///< From 1; 0 until printed.
  uint32_t place = 0;  ///< Index in Trace::copies; of a memset, in Trace::sets.
  bool fill = false;
  std::string_view rank;
  std::string_view kind;  ///< "HtoD", "DtoH", "DtoD", "PtoP", ..., "fill".
  std::string_view
      source;  ///< Kind of memory: "pageable", "pinned", "device", ...; "" for a memset.
  std::string_view target;
  int64_t size_bytes = 0;
  int64_t start_ns = 0;
  std::optional<int64_t> duration_ns;  ///< Unknown if it ends before it starts.
  std::optional<int64_t> thread_id;    ///< Of the API call.
  std::string_view api;
  int32_t device_id = 0;
  int32_t stream_id = 0;

  /// Whether its size and time can both be right (IsPossibleRate).
  bool has_possible_rate() const;
  /// GB/s (10^9 bytes/s); nullopt without a duration or a possible rate.
  std::optional<double> gigabytes_per_s() const;
};

/// Every column of `prof --copies`, in order.
std::span<const Column<CopyRow>> CopyColumns();

/// Columns that stay longest in a narrow line, most important first.
inline constexpr std::string_view kImportantCopyColumns =
    "kind,bytes,dur,gbps,start,device,stream,src,dst,idx,rank,api";

/// All copies and memsets of a trace, by start; at equal starts copies first, in file order. The
/// rows point into the trace.
std::vector<CopyRow> CopiesOf(const Trace& trace);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_KERNELS_COPY_ROW_H_
