#ifndef OPLENS_BASE_ENTRY_INDEX_H_
#define OPLENS_BASE_ENTRY_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oplens {

/// Hash index of entries that are stored elsewhere: open addressing with linear probing, 11 to 22
/// bytes per entry. A lookup of a missing key rarely touches an entry.
class EntryIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The entry with this hash for which `is(number)` holds; kNone if there is none. `hash`: 64
  /// well-mixed bits.
  template <typename Is>
  uint32_t Find(uint64_t hash, Is is) const {
    if (slots_.empty()) return kNone;
    for (size_t i = hash & mask(); slots_[i].entry != kNone; i = (i + 1) & mask()) {
      if (slots_[i].tag == TagOf(hash) && is(slots_[i].entry)) return slots_[i].entry;
    }
    return kNone;
  }

  /// Adds an entry, which must not be there yet. `hash_of(number)` returns the hash of an entry
  /// added before.
  template <typename HashOf>
  void Add(uint64_t hash, uint32_t entry, HashOf hash_of) {
    constexpr size_t kLeast = 16;
    if ((size_ + 1) * 4 > slots_.size() * 3) {
      std::vector<Slot> old(slots_.empty() ? kLeast : 2 * slots_.size());
      old.swap(slots_);
      for (const Slot& slot : old) {
        if (slot.entry != kNone) Place(hash_of(slot.entry), slot.entry);
      }
    }
    Place(hash, entry);
    ++size_;
  }

 private:
  struct Slot {
    uint32_t tag = 0;  // Hash bits that do not choose the slot.
    uint32_t entry = kNone;
  };

  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  size_t mask() const { return slots_.size() - 1; }
  void Place(uint64_t hash, uint32_t entry) {
    size_t i = hash & mask();
    while (slots_[i].entry != kNone) i = (i + 1) & mask();
    slots_[i] = {TagOf(hash), entry};
  }

  std::vector<Slot> slots_;  // The size is a power of two.
  size_t size_ = 0;
};

}  // namespace oplens

#endif  // OPLENS_BASE_ENTRY_INDEX_H_
