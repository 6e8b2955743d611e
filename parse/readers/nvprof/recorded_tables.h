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

/// For TracePart::kCaptures: adds a kernel without times (IsCaptured) for each kernel that a call
/// put into a CUDA graph, by the table OPLENS_GRAPH_NODE. Its name is the one written by `record
/// --reference`, else that of the kernels that replays of the file ran. Each graph is a capture;
/// copies of nodes in instantiated graphs are not. Call after PlaceRecordedGraphNodes.
void AddRecordedCaptures(NvprofContext* context);

// Tables OPLENS_* that `record` adds to nvprof's. Without them, the trace stays as it is.

/// Notes what went wrong in the recording. Sets Trace::clock_offset_ns and Trace::environment.
void NoteRecording(SqliteDatabase* database, Trace* trace, Diagnostics* diagnostics);

/// Sets Kernel::graph and Kernel::capture of the kernels that a CUDA graph replayed. The first
/// `concurrent` kernels of the trace must be those of CONCURRENT_KERNEL, in row order. `thread_of`
/// finds the thread of a process and thread id.
void PlaceRecordedGraphNodes(SqliteDatabase* database, size_t concurrent,
                             const std::function<ThreadIndex(int64_t, int64_t)>& thread_of,
                             Trace* trace, Diagnostics* diagnostics);

/// Adds a framework's allocations to Trace::memory_events, if needed, and sorts these by time.
void ReadAllocations(SqliteDatabase* database,
                     const std::function<ThreadIndex(int64_t, int64_t)>& thread_of,
                     TraceNeeds needs, Trace* trace, Diagnostics* diagnostics);

/// Turns the ranges of nvtx_annotate that are in the table OPLENS_CALL into ops and nodes. The
/// table holds what differs from call to call, so that equal calls share one text. Counts rows
/// without a range. `marker_ids`: per range in Trace::ranges; both are sorted by them.
void PlaceRecordedCalls(SqliteDatabase* database, std::vector<int64_t>* marker_ids, Trace* trace,
                        Diagnostics* diagnostics);
/// Whether there is a table OPLENS_CALL.
bool HasRecordedCalls(SqliteDatabase* database);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_RECORDED_TABLES_H_
