#ifndef OPLENS_TEST_FUZZ_FUZZ_CHECK_H_
#define OPLENS_TEST_FUZZ_FUZZ_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace oplens::fuzz {

/// Stops the fuzzer and keeps the input when something that must always hold does not.
inline void Check(bool holds) {
  if (!holds) std::abort();
}

inline std::string_view TextOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace oplens::fuzz

#endif  // OPLENS_TEST_FUZZ_FUZZ_CHECK_H_
