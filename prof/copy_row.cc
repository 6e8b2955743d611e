#include "prof/copy_row.h"

#include <algorithm>
#include <iterator>

namespace oplens::prof {
namespace {

// CUpti_ActivityMemcpyKind; 11 to 13 are Nsight Systems' own for unified memory.
constexpr std::string_view kCopyKinds[] = {"",     "HtoD",     "DtoH",     "HtoA",    "AtoH",
                                           "AtoA", "AtoD",     "DtoA",     "DtoD",    "HtoH",
                                           "PtoP", "UVM HtoD", "UVM DtoH", "UVM DtoD"};
// CUpti_ActivityMemoryKind.
constexpr std::string_view kMemoryKinds[] = {
    "", "pageable", "pinned", "device", "array", "managed", "device static", "managed static"};

template <size_t N>
std::string_view WordOf(const std::string_view (&words)[N], int32_t number) {
  return number >= 0 && static_cast<size_t>(number) < N ? words[number] : std::string_view();
}

template <typename Work>
CopyRow Common(const Trace& trace, const Work& work) {
  CopyRow row;
  row.rank = trace.strings.View(trace.rank_name);
  row.size_bytes = work.size_bytes;
  row.start_ns = work.start_ns;
  int64_t duration_ns = 0;
  if (!__builtin_sub_overflow(work.end_ns, work.start_ns, &duration_ns) && duration_ns >= 0) {
    row.duration_ns = duration_ns;
  }
  row.device_id = work.device_id;
  row.stream_id = work.stream_id;
  if (work.launch != kNoLaunch) {
    const LaunchCall& call = trace.launches[work.launch];
    row.thread_id = trace.threads[call.thread].thread_id;
    row.api = trace.strings.View(call.api);
  }
  return row;
}

}  // namespace

std::optional<double> CopyRow::gigabytes_per_s() const {
  if (!duration_ns || *duration_ns == 0) return std::nullopt;
  return static_cast<double>(size_bytes) / static_cast<double>(*duration_ns);
}

std::vector<CopyRow> CopiesOf(const Trace& trace) {
  std::vector<CopyRow> rows;
  rows.reserve(trace.copies.size() + trace.sets.size());
  for (const MemoryCopy& copy : trace.copies) {
    CopyRow& row = rows.emplace_back(Common(trace, copy));
    row.kind = WordOf(kCopyKinds, copy.copy_kind);
    row.source = WordOf(kMemoryKinds, copy.source_kind);
    row.target = WordOf(kMemoryKinds, copy.target_kind);
  }
  for (const MemorySet& set : trace.sets) rows.emplace_back(Common(trace, set)).kind = "fill";
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CopyRow& a, const CopyRow& b) { return a.start_ns < b.start_ns; });
  return rows;
}

}  // namespace oplens::prof
