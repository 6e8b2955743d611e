#ifndef OPLENS_RECORD_CYCLE_FILES_H_
#define OPLENS_RECORD_CYCLE_FILES_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "record/cycles.h"
#include "record/nvprof_writer.h"

// A database of all that was recorded of a process -> one for each cycle of its schedule.

namespace oplens::record {

/// "net.sql" -> "net.3.sql"
std::string CycleOutput(const std::string& output, int64_t number);

/// What of the rows a cycle has, or all cycles together.
struct CycleCounts {
  int64_t kernels = 0;
  int64_t ranges = 0;
};

/// Writes down in the database, in tables of its own, which rows go into which cycle, by the time
/// at which they were begun: ranges, marks, calls and allocations by their own, what a GPU did by
/// that of the call it came from. All other tables go into each.
CycleCounts AssignToCycles(const std::vector<Cycle>& cycles, NvprofWriter* all);

/// The same of a reference (record --reference): of the ranges those around the making of a node of
/// a graph, on its thread, and of all else that has a time nothing. Kernels are those in graphs.
CycleCounts AssignToCaptures(NvprofWriter* all);
/// Makes the database `part` of what AssignToCaptures chose of `all`, which is closed.
void WriteCaptures(const std::filesystem::path& all, const std::filesystem::path& part,
                   const std::function<void(double)>& progress);

/// Makes the database `part` of one of these cycles, of `all`, which is closed. `progress` as
/// NvprofWriter::Finish.
void WriteCycle(const std::filesystem::path& all, const std::vector<Cycle>& cycles, size_t index,
                const std::filesystem::path& part, const std::function<void(double)>& progress);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CYCLE_FILES_H_
