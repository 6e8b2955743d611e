#ifndef OPLENS_BASE_FLAT_MAP_H_
#define OPLENS_BASE_FLAT_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/entry_index.h"

namespace oplens {

/// A map that only grows: entries lie in one block, in the order in which they came, so that none
/// is allocated or freed alone. `Hash` must return 64 well-mixed bits. Looking up a missing key is
/// fastest. Unseeded: not for keys that a file's author chooses, beyond a bounded number.
template <typename Key, typename Value, typename Hash>
class FlatMap {
 public:
  size_t size() const { return entries_.size(); }

  /// Null if the key is missing. Valid until the next write.
  const Value* Find(const Key& key) const { return Find(Hash()(key), key); }

  /// The value of the key, and whether it is new. Valid until the next write.
  std::pair<Value&, bool> TryEmplace(const Key& key, Value value = Value()) {
    const uint64_t hash = Hash()(key);
    const uint32_t known = EntryOf(hash, key);
    if (known != EntryIndex::kNone) return {entries_[known].second, false};
    return {Add(hash, key, std::move(value)), true};
  }
  Value& operator[](const Key& key) { return TryEmplace(key).first; }

  /// As above, for who has the key's hash.
  const Value* Find(uint64_t hash, const Key& key) const {
    const uint32_t entry = EntryOf(hash, key);
    return entry == EntryIndex::kNone ? nullptr : &entries_[entry].second;
  }
  Value* Find(uint64_t hash, const Key& key) {
    const uint32_t entry = EntryOf(hash, key);
    return entry == EntryIndex::kNone ? nullptr : &entries_[entry].second;
  }
  /// The key must be missing.
  Value& Add(uint64_t hash, const Key& key, Value value) {
    index_.Add(hash, static_cast<uint32_t>(entries_.size()));
    return entries_.emplace_back(key, std::move(value)).second;
  }

 private:
  uint32_t EntryOf(uint64_t hash, const Key& key) const {
    return index_.Find(hash, [&](uint32_t entry) { return entries_[entry].first == key; });
  }

  EntryIndex index_;
  std::vector<std::pair<Key, Value>> entries_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_FLAT_MAP_H_
