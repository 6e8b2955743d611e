#ifndef OPLENS_TEST_TORCH_HEADERS_2_ATEN_SEQUENCENUMBER_H_
#define OPLENS_TEST_TORCH_HEADERS_2_ATEN_SEQUENCENUMBER_H_

#include <cstdint>

namespace at::sequence_number {

/// The number that the next node of this thread will have.
inline uint64_t peek() { return 0; }

}  // namespace at::sequence_number

#endif  // OPLENS_TEST_TORCH_HEADERS_2_ATEN_SEQUENCENUMBER_H_
