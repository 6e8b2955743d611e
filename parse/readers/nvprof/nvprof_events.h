#ifndef OPLENS_PARSE_READERS_NVPROF_NVPROF_EVENTS_H_
#define OPLENS_PARSE_READERS_NVPROF_NVPROF_EVENTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "parse/readers/nvprof/nvprof_calls.h"
#include "parse/readers/nvprof/nvprof_context.h"

namespace oplens::parse {

/// Reads the memory that the driver gave out: TracePart::kMemoryEvents. What a framework's
/// allocator gave out is ReadAllocations.
class NvprofMemory {
 public:
  NvprofMemory(NvprofContext* context, NvprofCalls* calls)
      : context_(*context), trace_(context->trace), calls_(*calls) {}

  /// Before the calls.
  void Read();
  /// Finds the calls and threads of what was read.
  void Join();

 private:
  /// What a row says of its thread, until the calls are read.
  struct Owner {
    int64_t correlation_id = kUnknownId;
    int64_t process_id = 0;
  };

  /// A row an operation.
  void ReadOperations(std::string_view table);
  /// A row a piece of memory, from when it was taken to when it was given back.
  void ReadLifetimes();

  NvprofContext& context_;
  Trace& trace_;
  NvprofCalls& calls_;
  std::vector<Owner> owners_;  // Of Trace::memory_events.
};

/// Reads where events were recorded, and finds the recording that a wait waits for:
/// TracePart::kWaitEvents.
class NvprofEvents {
 public:
  NvprofEvents(NvprofContext* context, NvprofCalls* calls)
      : context_(*context), trace_(context->trace), calls_(*calls) {}

  /// Notes the row of the wait that was read last, in ascending order, and takes its event's id.
  void TakeWait(int64_t row_id, const Cell& event_id);
  /// Reads the recordings, before the calls.
  void Read();
  /// After the calls and after the waits have theirs.
  void Join();

 private:
  void ReadSyncIds();

  NvprofContext& context_;
  Trace& trace_;
  NvprofCalls& calls_;
  std::vector<int64_t> wait_rows_;    // Of Trace::synchronizations.
  std::vector<int64_t> record_rows_;  // Of Trace::event_records.
  std::vector<int64_t> record_correlations_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_NVPROF_EVENTS_H_
