#ifndef OPLENS_PARSE_READERS_NVPROF_CUDA_API_NAMES_H_
#define OPLENS_PARSE_READERS_NVPROF_CUDA_API_NAMES_H_

#include <cstdint>
#include <string>

namespace oplens::parse {

/// Returns the name of a CUDA runtime call by its callback id, without ABI suffix, e.g. 211 ->
/// "cudaLaunchKernel". Ids newer than CUDA 13.0 give "runtime:ID".
std::string RuntimeApiName(int64_t callback_id);

/// Likewise for driver calls, e.g. 307 -> "cuLaunchKernel"; "driver:ID".
std::string DriverApiName(int64_t callback_id);

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_READERS_NVPROF_CUDA_API_NAMES_H_
