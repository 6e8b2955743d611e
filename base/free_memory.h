#ifndef OPLENS_BASE_FREE_MEMORY_H_
#define OPLENS_BASE_FREE_MEMORY_H_

#include <vector>

namespace oplens {

/// Empties a vector and frees its memory, which `*values = {}` does not: that keeps the capacity.
template <typename T>
void FreeMemory(std::vector<T>* values) {
  std::vector<T>().swap(*values);
}

}  // namespace oplens

#endif  // OPLENS_BASE_FREE_MEMORY_H_
