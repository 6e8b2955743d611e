#ifndef OPLENS_BASE_RECENT_MAP_H_
#define OPLENS_BASE_RECENT_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace oplens {

/// A map of the keys that were written last: of at least `kept` of them, at most twice as many.
/// `Hash` answers 64 well mixed bits. Looking up a key that is not there is what it is quickest at.
template <typename Key, typename Value, typename Hash>
class RecentMap {
 public:
  explicit RecentMap(size_t kept) : kept_(kept) {}

  /// Null when the key is not there. Valid until the next write.
  const Value* Find(const Key& key) const {
    const uint64_t hash = Hash()(key);
    for (const Generation* generation : {&young_, &old_}) {
      const size_t entry = generation->Find(hash, key);
      if (entry != kNone) return &generation->entries[entry].second;
    }
    return nullptr;
  }

  /// The value to write, made if the key is not there. Valid until the next write.
  Value& operator[](const Key& key) {
    const uint64_t hash = Hash()(key);
    const size_t entry = young_.Find(hash, key);
    if (entry != kNone) return young_.entries[entry].second;
    if (young_.entries.size() >= kept_) {
      old_ = std::move(young_);
      young_ = Generation();
    }
    const size_t before = old_.Find(hash, key);
    young_.Insert(hash, key, before != kNone ? old_.entries[before].second : Value());
    return young_.entries.back().second;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  /// Open addressing, a power of two of slots, at most half of them used.
  struct Generation {
    struct Slot {
      uint32_t tag = 0;    // Bits of the hash that do not choose the slot.
      uint32_t entry = 0;  // Its place in `entries`, from 1; 0: the slot is free.
    };
    std::vector<Slot> slots;
    std::vector<std::pair<Key, Value>> entries;

    static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

    size_t Find(uint64_t hash, const Key& key) const {
      if (slots.empty()) return kNone;
      for (size_t i = hash & (slots.size() - 1); slots[i].entry != 0;
           i = (i + 1) & (slots.size() - 1)) {
        const size_t entry = slots[i].entry - 1;
        if (slots[i].tag == TagOf(hash) && entries[entry].first == key) return entry;
      }
      return kNone;
    }

    void Insert(uint64_t hash, const Key& key, Value value) {
      entries.emplace_back(key, std::move(value));
      if (entries.size() * 2 > slots.size()) {
        Grow();
      } else {
        Place(hash, entries.size());
      }
    }

    void Place(uint64_t hash, size_t entry) {
      size_t i = hash & (slots.size() - 1);
      while (slots[i].entry != 0) i = (i + 1) & (slots.size() - 1);
      slots[i] = {TagOf(hash), static_cast<uint32_t>(entry)};
    }

    void Grow() {
      slots = std::vector<Slot>(slots.empty() ? 64 : slots.size() * 2);
      for (size_t i = 0; i < entries.size(); ++i) Place(Hash()(entries[i].first), i + 1);
    }
  };

  size_t kept_;
  Generation young_;
  Generation old_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_RECENT_MAP_H_
