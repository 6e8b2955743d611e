#include "record/text_ids.h"

#include <cstring>
#include <random>

#include "base/hash.h"

namespace oplens::record {
TextIds::TextIds() : slots_(1024) {
  // Random seeds: nobody can craft texts that collide.
  std::random_device random;
  for (uint64_t& seed : seeds_) seed = uint64_t{random()} << 32 | random();
}

TextIds::Key TextIds::Hash(std::string_view text) const {
  // Odd constants with well-spread bits.
  constexpr uint64_t kA = 0x9e3779b97f4a7c15;
  constexpr uint64_t kB = 0xd1b54a32d192ed03;
  constexpr uint64_t kC = 0x8cb92ba72f3d8dd7;
  uint64_t low = FoldedProduct(seeds_[0] ^ text.size(), kA);
  uint64_t high = FoldedProduct(seeds_[1] ^ text.size(), kC);
  const auto mix = [&](const uint64_t(&words)[2]) {
    low = FoldedProduct(words[0] ^ low, words[1] ^ kB ^ seeds_[1]);
    high = FoldedProduct(words[1] ^ high, words[0] ^ kC ^ seeds_[0]);
  };
  const char* p = text.data();
  size_t left = text.size();
  uint64_t words[2];
  for (; left > 16; left -= 16, p += 16) {
    std::memcpy(words, p, 16);
    mix(words);
  }
  words[0] = words[1] = 0;
  if (left > 0) std::memcpy(words, p, left);
  mix(words);
  high = FoldedProduct(high ^ kA, low ^ kB);
  return {low, high == 0 ? 1 : high};
}

size_t TextIds::Find(const Key& key) const {
  const size_t mask = slots_.size() - 1;
  size_t i = key.low & mask;
  while (slots_[i].key.high != 0 && slots_[i].key != key) i = (i + 1) & mask;
  return i;
}

int64_t& TextIds::Get(std::string_view text, bool* is_new) {
  if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
  const Key key = Hash(text);
  Slot& slot = slots_[Find(key)];
  *is_new = slot.key.high == 0;
  if (*is_new) {
    slot.key = key;
    ++size_;
  }
  return slot.id;
}

void TextIds::Grow() {
  std::vector<Slot> before(slots_.size() * 2);
  before.swap(slots_);
  for (const Slot& slot : before) {
    if (slot.key.high != 0) slots_[Find(slot.key)] = slot;
  }
}

}  // namespace oplens::record
