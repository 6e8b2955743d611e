#ifndef OPLENS_TEST_VIEWS_MADE_MEMORY_H_
#define OPLENS_TEST_VIEWS_MADE_MEMORY_H_

#include <cstdint>

#include "parse/model/trace.h"

namespace oplens::test {

/// What an allocator did in a made-up trace: on thread 0, with memory of GPU 0.
struct MadeMemory {
  int64_t time_ns = 0;
  int64_t address = 0;
  int64_t size_bytes = 0;  ///< Negative: given back.
  int64_t total_bytes = kUnknownId;
  int64_t reserved_bytes = kUnknownId;
  int32_t device_id = 0;
  ThreadIndex thread = 0;
  MemorySource source = MemorySource::kFramework;
};

inline MemoryEvent& AddMemory(const MadeMemory& made, Trace* trace) {
  MemoryEvent& event = trace->memory_events.emplace_back();
  event.time_ns = made.time_ns;
  event.address = made.address;
  event.size_bytes = made.size_bytes;
  event.total_allocated_bytes = made.total_bytes;
  event.total_reserved_bytes = made.reserved_bytes;
  event.device_id = made.device_id;
  event.thread = made.thread;
  event.source = made.source;
  return event;
}

}  // namespace oplens::test

#endif  // OPLENS_TEST_VIEWS_MADE_MEMORY_H_
