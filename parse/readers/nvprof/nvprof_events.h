#ifndef OPLENS_PARSE_READERS_NVPROF_NVPROF_EVENTS_H_
#define OPLENS_PARSE_READERS_NVPROF_NVPROF_EVENTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "parse/readers/nvprof/nvprof_calls.h"
#include "parse/readers/nvprof/nvprof_context.h"

namespace oplens::parse {

/// Reads allocations of the driver: TracePart::kMemoryEvents. Framework's: ReadAllocations.
class NvprofMemory {
 public:
  NvprofMemory(NvprofContext* context, NvprofCalls* calls)
      : context_(*context), trace_(context->trace), calls_(*calls) {}

  /// Call before reading the calls.
  void Read();
  /// Finds the calls and threads of the events.
  void Join();

 private:
  /// What identifies the thread of a row, until the calls are read.
  struct Owner {
    int64_t correlation_id = kUnknownId;
    int64_t process_id = 0;
  };

  /// One row per operation.
  void ReadOperations(std::string_view table);
  /// One row per block of memory, from allocation to release.
  void ReadLifetimes();

  NvprofContext& context_;
  Trace& trace_;
  NvprofCalls& calls_;
  std::vector<Owner> owners_;  // Per event in Trace::memory_events.
};

/// Reads event records, and finds the record that a wait waits for: TracePart::kWaitEvents.
class NvprofEvents {
 public:
  NvprofEvents(NvprofContext* context, NvprofCalls* calls)
      : context_(*context), trace_(context->trace), calls_(*calls) {}

  /// Adds the row of the wait that was read last, in ascending order, and its event id.
  void TakeWait(int64_t row_id, const Cell& event_id);
  /// Reads the records. Call before reading the calls.
  void Read();
  /// Call after the calls are read and linked to the waits.
  void Join();

 private:
  void ReadSyncIds();

  NvprofContext& context_;
  Trace& trace_;
  NvprofCalls& calls_;
  std::vector<int64_t> wait_rows_;    // Per wait in Trace::synchronizations.
  std::vector<int64_t> record_rows_;  // Per record in Trace::event_records.
  std::vector<int64_t> record_correlations_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_NVPROF_EVENTS_H_
