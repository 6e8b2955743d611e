#ifndef OPLENS_BASE_BYTE_MAP_H_
#define OPLENS_BASE_BYTE_MAP_H_

#include <cstddef>
#include <utility>

namespace oplens {

/// A map whose keys may become alike on their way, as paths that are cut: `take(key, value)` takes
/// what is read.
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
