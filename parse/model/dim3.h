#ifndef OPLENS_PARSE_MODEL_DIM3_H_
#define OPLENS_PARSE_MODEL_DIM3_H_

// Public header: installed, docs/library.md.

#include <cstdint>

namespace oplens {

/// Extent of a launch in blocks (grid) or threads (block); -1, -1, -1: not in the profile.
struct Dim3 {
  int64_t x = 0;
  int64_t y = 0;
  int64_t z = 0;
  bool known() const { return x >= 0 && y >= 0 && z >= 0; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_DIM3_H_
