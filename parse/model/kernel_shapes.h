#ifndef OPLENS_PARSE_MODEL_KERNEL_SHAPES_H_
#define OPLENS_PARSE_MODEL_KERNEL_SHAPES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/entry_index.h"
#include "base/hash.h"

namespace oplens {

/// What a launch of a kernel asks for.
struct KernelShape {
  int32_t grid[3] = {};   ///< blocks
  int32_t block[3] = {};  ///< threads
  // Negative: not recorded.
  int32_t registers_per_thread = 0;
  int32_t static_shared_memory_bytes = 0;
  int32_t dynamic_shared_memory_bytes = 0;

  friend bool operator==(const KernelShape&, const KernelShape&) = default;

  static constexpr KernelShape Unknown() { return {{-1, -1, -1}, {-1, -1, -1}, -1, -1, -1}; }
};

/// Every shape of a trace, once. The first is KernelShape().
class KernelShapes {
 public:
  /// Returns its number.
  uint32_t Add(const KernelShape& shape) {
    if (shape == shapes_.front()) return 0;
    // It has no padding.
    static_assert(sizeof(KernelShape) == 9 * sizeof(int32_t));
    const uint64_t hash = HashText({reinterpret_cast<const char*>(&shape), sizeof(shape)});
    const uint32_t known = index_.Find(hash, [&](uint32_t i) { return shapes_[i] == shape; });
    if (known != EntryIndex::kNone) return known;
    const auto number = static_cast<uint32_t>(shapes_.size());
    shapes_.push_back(shape);
    index_.Add(hash, number);
    return number;
  }
  const KernelShape& operator[](uint32_t number) const { return shapes_[number]; }

 private:
  std::vector<KernelShape> shapes_ = std::vector<KernelShape>(1);
  EntryIndex index_;  // Of all but the first.
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_KERNEL_SHAPES_H_
