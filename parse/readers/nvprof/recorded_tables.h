#ifndef OPLENS_PARSE_READERS_NVPROF_RECORDED_TABLES_H_
#define OPLENS_PARSE_READERS_NVPROF_RECORDED_TABLES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "parse/model/reason.h"
#include "parse/model/trace.h"
#include "parse/model/trace_needs.h"
#include "parse/readers/nvprof/nvprof_context.h"
#include "parse/source/sqlite_database.h"

namespace oplens::parse {

/// TracePart::kCaptures: adds a kernel without times (IsCaptured) for each kernel that a call put
/// into a CUDA graph, as the table OPLENS_GRAPH_NODE has it. Its name is the one that `record
/// --reference` wrote, else that of the kernels that replays of the file ran. A graph is a capture;
/// copies of nodes in graphs that were instantiated are none. After PlaceRecordedGraphNodes.
void AddRecordedCaptures(NvprofContext* context);

// The tables OPLENS_* that `record` adds to nvprof's. A database without them has nothing to say.

/// What went wrong in the recording, as notes. Sets Trace::clock_offset_ns and Trace::environment.
void NoteRecording(SqliteDatabase* database, Trace* trace, Diagnostics* diagnostics);

/// Sets Kernel::graph and Kernel::capture of the kernels that a CUDA graph replayed. The first
/// `concurrent` kernels of the trace are those of CONCURRENT_KERNEL, in the order of their rows.
/// `thread_of` finds the thread of a process and thread id.
void PlaceRecordedGraphNodes(SqliteDatabase* database, size_t concurrent,
                             const std::function<ThreadIndex(int64_t, int64_t)>& thread_of,
                             Trace* trace, Diagnostics* diagnostics);

/// Adds what a framework's allocators did to Trace::memory_events, if that is asked for, and puts
/// these in the order of their times.
void ReadAllocations(SqliteDatabase* database,
                     const std::function<ThreadIndex(int64_t, int64_t)>& thread_of,
                     TraceNeeds needs, Trace* trace, Diagnostics* diagnostics);

/// Makes ops and nodes of the ranges of nvtx_annotate that the table OPLENS_CALL knows more of.
/// What of them differs from call to call stands there, so that texts of alike calls are one. Rows
/// of no range are counted. `marker_ids`: of Trace::ranges, in their order.
void PlaceRecordedCalls(SqliteDatabase* database, std::vector<int64_t> marker_ids, Trace* trace,
                        Diagnostics* diagnostics);
/// Whether there is such a table.
bool HasRecordedCalls(SqliteDatabase* database);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_RECORDED_TABLES_H_
