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

  bool empty() const { return size_ == 0; }

  /// The entry with this hash for which `is(number)` holds; kNone if there is none. `hash`:
  /// well-mixed bits, of which the upper 32 count.
  template <typename Is>
  uint32_t Find(uint64_t hash, Is is) const {
    if (slots_.empty()) return kNone;
    const uint32_t tag = TagOf(hash);
    for (size_t i = tag & mask(); slots_[i].entry != kNone; i = (i + 1) & mask()) {
      if (slots_[i].tag == tag && is(slots_[i].entry)) return slots_[i].entry;
    }
    return kNone;
  }

  /// Adds an entry, which must not be there yet.
  void Add(uint64_t hash, uint32_t entry) {
    constexpr size_t kLeast = 16;
    if ((size_ + 1) * 4 > slots_.size() * 3) {
      std::vector<Slot> old(slots_.empty() ? kLeast : 2 * slots_.size());
      old.swap(slots_);
      for (const Slot& slot : old) {
        if (slot.entry != kNone) Place(slot);
      }
    }
    Place({TagOf(hash), entry});
    ++size_;
  }

 private:
  struct Slot {
    uint32_t tag = 0;  // Upper half of the hash; its lowest bits choose the slot.
    uint32_t entry = kNone;
  };

  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  size_t mask() const { return slots_.size() - 1; }
  void Place(Slot slot) {
    size_t i = slot.tag & mask();
    while (slots_[i].entry != kNone) i = (i + 1) & mask();
    slots_[i] = slot;
  }

  std::vector<Slot> slots_;  // The size is a power of two.
  size_t size_ = 0;
};

}  // namespace oplens

#endif  // OPLENS_BASE_ENTRY_INDEX_H_
