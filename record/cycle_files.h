#ifndef OPLENS_RECORD_CYCLE_FILES_H_
#define OPLENS_RECORD_CYCLE_FILES_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "record/cycles.h"
#include "record/nvprof_writer.h"

// Splits the database of a process into one per cycle of its schedule.

namespace oplens::record {

/// "net.sql" -> "net.3.sql"
std::string CycleOutput(const std::string& output, int64_t number);

/// Number of rows in one cycle, or in all cycles.
struct CycleCounts {
  int64_t kernels = 0;
  int64_t ranges = 0;
};

/// Stores in the database, in separate tables, which rows belong to which cycle by their begin:
/// ranges, marks, calls and allocations by their own time, GPU work by the time of its call. All
/// other tables go into every cycle.
CycleCounts AssignToCycles(const std::vector<Cycle>& cycles, NvprofWriter* all);

/// Like AssignToCycles, for a reference recording (record --reference): of rows with times, chooses
/// only the ranges around the creation of graph nodes on the same thread. Counts kernels in graphs.
CycleCounts AssignToCaptures(NvprofWriter* all);
/// Writes the rows chosen by AssignToCaptures from the closed database `all` to `part`.
void WriteCaptures(const std::filesystem::path& all, const std::filesystem::path& part,
                   const std::function<void(double)>& progress);

/// Writes one cycle of the closed database `all` to `part`. `progress`: see NvprofWriter::Finish.
void WriteCycle(const std::filesystem::path& all, const std::vector<Cycle>& cycles, size_t index,
                const std::filesystem::path& part, const std::function<void(double)>& progress);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CYCLE_FILES_H_
