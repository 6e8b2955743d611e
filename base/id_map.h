#ifndef OPLENS_BASE_ID_MAP_H_
#define OPLENS_BASE_ID_MAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace oplens {

/// A map from 64-bit ids of a file to 32-bit indices: open addressing with linear probing, 16 bytes
/// per slot, at most 3/4 full. Values must differ from kNone.
class IdMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  size_t size() const { return size_; }

  /// Makes room for `size` ids: none of them moves the others.
  void Reserve(size_t size) {
    size_t slots = kFirstSlots;
    while (size * 4 > slots * 3) slots *= 2;
    if (slots > slots_.size()) Resize(slots);
  }

  uint32_t Find(int64_t id) const {
    if (slots_.empty()) return kNone;
    for (size_t i = HomeOf(id);; i = (i + 1) & mask_) {
      if (slots_[i].value == kNone || slots_[i].id == id) return slots_[i].value;
    }
  }

  /// Stores `value` for `id` unless the id is present; returns the stored value.
  uint32_t FindOrInsert(int64_t id, uint32_t value) {
    if ((size_ + 1) * 4 > slots_.size() * 3) Resize(std::max(kFirstSlots, slots_.size() * 2));
    size_t i = HomeOf(id);
    while (slots_[i].value != kNone) {
      if (slots_[i].id == id) return slots_[i].value;
      i = (i + 1) & mask_;
    }
    slots_[i] = {id, value};
    ++size_;
    return value;
  }

  /// Removes `id`; returns its value, or kNone.
  uint32_t Erase(int64_t id) {
    if (slots_.empty()) return kNone;
    size_t i = HomeOf(id);
    while (slots_[i].value != kNone && slots_[i].id != id) i = (i + 1) & mask_;
    const uint32_t found = slots_[i].value;
    if (found == kNone) return kNone;
    // Close the gap: move back every later slot of the run that may take it.
    for (size_t next = (i + 1) & mask_; slots_[next].value != kNone; next = (next + 1) & mask_) {
      const size_t home = HomeOf(slots_[next].id);
      if (((next - home) & mask_) >= ((next - i) & mask_)) {
        slots_[i] = slots_[next];
        i = next;
      }
    }
    slots_[i].value = kNone;
    --size_;
    return found;
  }

 private:
  static constexpr size_t kFirstSlots = 64;

  struct Slot {
    int64_t id = 0;
    uint32_t value = kNone;
  };

  /// Seeded mixer (after splitmix64's finaliser) of all but the lowest bits: every output bit
  /// depends on every bit of these and of a seed that differs per run, so no file can make all its
  /// ids collide. Four neighbours share a cache line: ids of files often ascend by one.
  size_t HomeOf(int64_t id) const {
    constexpr int kBits = 2;
    const auto bits = static_cast<uint64_t>(id);
    const uint64_t line = SpreadBits((bits >> kBits) + seed_) << kBits;
    return static_cast<size_t>(line | (bits & ((1U << kBits) - 1))) & mask_;
  }

  /// Address space layout randomisation gives a cheap seed that a file's author cannot know.
  static uint64_t RandomSeed() {
    static const char anchor = 0;
    return reinterpret_cast<uintptr_t>(&anchor) * 0x9E3779B97F4A7C15u;
  }

  void Resize(size_t slots) {
    std::vector<Slot> old(slots);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.value == kNone) continue;
      size_t i = HomeOf(slot.id);
      while (slots_[i].value != kNone) i = (i + 1) & mask_;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  size_t size_ = 0;
  uint64_t seed_ = RandomSeed();
};

}  // namespace oplens

#endif  // OPLENS_BASE_ID_MAP_H_
