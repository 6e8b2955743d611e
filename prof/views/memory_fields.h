#ifndef OPLENS_PROF_VIEWS_MEMORY_FIELDS_H_
#define OPLENS_PROF_VIEWS_MEMORY_FIELDS_H_

#include "prof/table/field.h"

namespace oplens::prof {

/// Values of MemorySource and of MemoryState.
inline constexpr size_t kMemorySources = 2;
inline constexpr size_t kMemoryStates = 5;

// Keys of the views of memory.

inline constexpr Field kMemoryDeviceField = {
    "device", "Device", "", FieldType::kText, 6, "CPU, GPU0, ...: where the memory is", Fold::kKey};
inline constexpr Field kMemorySourceField = {
    "source",
    "Source",
    "",
    FieldType::kText,
    9,
    "framework: its allocator gave the memory out; driver: cudaMalloc and the like did. What the "
    "framework gives out it has from the driver: the two are never added up",
    Fold::kKey};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_MEMORY_FIELDS_H_
