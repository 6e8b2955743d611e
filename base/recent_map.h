#ifndef OPLENS_BASE_RECENT_MAP_H_
#define OPLENS_BASE_RECENT_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/flat_map.h"

namespace oplens {

/// A map that keeps the keys written last: at least `kept`, at most twice as many. `Hash` must
/// return 64 well-mixed bits. Looking up a missing key is fastest.
template <typename Key, typename Value, typename Hash>
class RecentMap {
 public:
  explicit RecentMap(size_t kept) : kept_(kept) {}

  /// Null if the key is missing. Valid until the next write.
  const Value* Find(const Key& key) const {
    const uint64_t hash = Hash()(key);
    const Value* const young = young_.Find(hash, key);
    return young != nullptr ? young : old_.Find(hash, key);
  }

  /// The value to write, created if the key is missing. Valid until the next write.
  Value& operator[](const Key& key) {
    const uint64_t hash = Hash()(key);
    if (Value* const young = young_.Find(hash, key)) return *young;
    if (young_.size() >= kept_) old_ = std::exchange(young_, {});
    const Value* const before = std::as_const(old_).Find(hash, key);
    return young_.Add(hash, key, before != nullptr ? *before : Value());
  }

 private:
  using Generation = FlatMap<Key, Value, Hash>;

  size_t kept_;
  Generation young_;
  Generation old_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_RECENT_MAP_H_
