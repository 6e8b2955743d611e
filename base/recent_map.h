#ifndef OPLENS_BASE_RECENT_MAP_H_
#define OPLENS_BASE_RECENT_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/entry_index.h"

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
    for (const Generation* generation : {&young_, &old_}) {
      const uint32_t entry = generation->Find(hash, key);
      if (entry != kNone) return &generation->entries[entry].second;
    }
    return nullptr;
  }

  /// The value to write, created if the key is missing. Valid until the next write.
  Value& operator[](const Key& key) {
    const uint64_t hash = Hash()(key);
    const uint32_t entry = young_.Find(hash, key);
    if (entry != kNone) return young_.entries[entry].second;
    if (young_.entries.size() >= kept_) {
      old_ = std::move(young_);
      young_ = Generation();
    }
    const uint32_t before = old_.Find(hash, key);
    young_.Insert(hash, key, before != kNone ? old_.entries[before].second : Value());
    return young_.entries.back().second;
  }

 private:
  static constexpr uint32_t kNone = EntryIndex::kNone;

  struct Generation {
    EntryIndex index;
    std::vector<std::pair<Key, Value>> entries;

    uint32_t Find(uint64_t hash, const Key& key) const {
      return index.Find(hash, [&](uint32_t entry) { return entries[entry].first == key; });
    }
    void Insert(uint64_t hash, const Key& key, Value value) {
      index.Add(hash, static_cast<uint32_t>(entries.size()));
      entries.emplace_back(key, std::move(value));
    }
  };

  size_t kept_;
  Generation young_;
  Generation old_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_RECENT_MAP_H_
