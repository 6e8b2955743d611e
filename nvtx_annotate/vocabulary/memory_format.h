#ifndef OPLENS_NVTX_ANNOTATE_VOCABULARY_MEMORY_FORMAT_H_
#define OPLENS_NVTX_ANNOTATE_VOCABULARY_MEMORY_FORMAT_H_

#include <cstdint>

// The payload of an event of an allocator: docs/markers.md. C++17.

namespace oplens::markers {

inline constexpr const char* kMemorySchemaName = "oplens.memory.v1";

/// As it lies in memory (little-endian, no padding).
struct MemoryPayload {
  uint64_t address;
  int64_t bytes;            ///< Negative: released.
  int64_t total_allocated;  ///< Of the device, after the event; -1: not known.
  int64_t total_reserved;   ///< Held by the allocator, in use or not; -1: not known.
  int32_t device_type;      ///< 0 the host, 1 CUDA, ...: c10::DeviceType.
  int32_t device;           ///< -1: there is but one of the type.
};
static_assert(sizeof(MemoryPayload) == 40);

}  // namespace oplens::markers

#endif  // OPLENS_NVTX_ANNOTATE_VOCABULARY_MEMORY_FORMAT_H_
