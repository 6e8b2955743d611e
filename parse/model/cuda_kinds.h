#ifndef OPLENS_PARSE_MODEL_CUDA_KINDS_H_
#define OPLENS_PARSE_MODEL_CUDA_KINDS_H_

#include <cstdint>
#include <string_view>

namespace oplens {

// The words for CUPTI's numbers, as PyTorch's profiler writes them into the names of events. A
// number without a word has "", a word without a number 0.

/// Which way a copy went (CUpti_ActivityMemcpyKind): "HtoD". 11 to 13 are Nsight Systems' own for
/// unified memory: "UVM HtoD".
std::string_view CopyKindWord(int32_t kind);
int32_t CopyKindOf(std::string_view word);

/// A kind of memory (CUpti_ActivityMemoryKind): "Pageable", and as one word of a sentence,
/// "pageable".
std::string_view MemoryKindTitle(int32_t kind);
std::string_view MemoryKindWord(int32_t kind);
int32_t MemoryKindOf(std::string_view title);

/// A wait (CUpti_ActivitySynchronizationType): "Stream Sync".
std::string_view WaitKindWord(int32_t kind);
int32_t WaitKindOf(std::string_view word);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_CUDA_KINDS_H_
