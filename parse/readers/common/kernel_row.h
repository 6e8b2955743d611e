#ifndef OPLENS_PARSE_READERS_COMMON_KERNEL_ROW_H_
#define OPLENS_PARSE_READERS_COMMON_KERNEL_ROW_H_

#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

#include "parse/model/trace.h"
#include "parse/source/sqlite_cell.h"

namespace oplens::parse {

/// CUPTI's columns of any table of kernels. A reader scans these first, in order, then its own.
inline constexpr std::string_view kKernelColumns[] = {"start",
                                                      "end",
                                                      "correlationId",
                                                      "deviceId",
                                                      "contextId",
                                                      "streamId",
                                                      "gridX",
                                                      "gridY",
                                                      "gridZ",
                                                      "blockX",
                                                      "blockY",
                                                      "blockZ",
                                                      "registersPerThread",
                                                      "staticSharedMemory",
                                                      "dynamicSharedMemory"};
inline constexpr size_t kKernelColumnCount = std::size(kKernelColumns);

/// Fills the fields of a kernel and its shape from these columns; `missing` ones stay unchanged.
/// Returns false if a value is no integer of its size, and leaves that field unchanged.
inline bool TakeKernelColumns(const Cell* row, const std::vector<bool>& missing, Kernel* kernel,
                              KernelShape* shape) {
  int64_t* const wide_fields[] = {&kernel->start_ns, &kernel->end_ns, &kernel->correlation_id};
  int32_t* const fields[] = {&kernel->device_id,
                             &kernel->context_id,
                             &kernel->stream_id,
                             &shape->grid[0],
                             &shape->grid[1],
                             &shape->grid[2],
                             &shape->block[0],
                             &shape->block[1],
                             &shape->block[2],
                             &shape->registers_per_thread,
                             &shape->static_shared_memory_bytes,
                             &shape->dynamic_shared_memory_bytes};
  constexpr size_t kWide = std::size(wide_fields);
  static_assert(kWide + std::size(fields) == kKernelColumnCount);
  bool good = true;
  for (size_t i = 0; i < kWide; ++i) good &= TakeInt64(row[i], wide_fields[i]) || missing[i];
  for (size_t i = 0; i < std::size(fields); ++i) {
    good &= TakeInt32(row[kWide + i], fields[i]) || missing[kWide + i];
  }
  return good;
}

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_COMMON_KERNEL_ROW_H_
