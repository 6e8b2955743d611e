#ifndef OPLENS_BASE_BYTE_MAP_H_
#define OPLENS_BASE_BYTE_MAP_H_

#include <cstddef>
#include <utility>

namespace oplens {

/// Transfers a map whose keys may become equal in transit, such as cut paths: on reading, calls
/// `take(key, value)` per entry.
template <typename Bytes, typename Map, typename Take>
void TransferMap(Bytes* bytes, Map* map, Take take) {
  if constexpr (Bytes::kReads) {
    for (size_t left = bytes->Size(); left > 0; --left) {
      typename Map::key_type key{};
      typename Map::mapped_type value{};
      bytes->Values(&key, &value);
      take(std::move(key), std::move(value));
    }
  } else {
    bytes->Values(map);
  }
}

}  // namespace oplens

#endif  // OPLENS_BASE_BYTE_MAP_H_
