#ifndef OPLENS_BASE_ID_PAGES_H_
#define OPLENS_BASE_ID_PAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/id_map.h"

namespace oplens {

/// A map from 64-bit ids of a file to 32-bit indices, for ids that are dense and roughly ascending,
/// such as correlation ids and rows. Neighbours share a cache line, so the cost per id does not
/// grow with the file (10 million ids). About 5 to 15 bytes per id; 85 at worst, for ids far apart.
/// Values must differ from kNone.
class IdPages {
 public:
  static constexpr uint32_t kNone = IdMap::kNone;

  /// The page of the id that was looked up last: the next one is often on it too.
  struct Last {
    int64_t key = 0;
    uint32_t page = kNone;
  };

  /// Not for several threads at once, although it is const.
  uint32_t Find(int64_t id) const { return Find(id, &last_); }
  /// For several threads at once, each with a `last` of its own.
  uint32_t Find(int64_t id, Last* last) const {
    const uint32_t page = PageOf(id, last);
    return page == kNone ? kNone : pages_[page][PlaceOf(id)];
  }

  /// Stores `value` for `id` unless the id is present; returns the stored value.
  uint32_t FindOrInsert(int64_t id, uint32_t value) {
    uint32_t page = PageOf(id, &last_);
    if (page == kNone) {
      page = static_cast<uint32_t>(pages_.size());
      pages_.emplace_back().fill(kNone);
      index_.FindOrInsert(id >> kBits, page);
      last_ = {id >> kBits, page};
    }
    uint32_t& stored = pages_[page][PlaceOf(id)];
    if (stored == kNone) stored = value;
    return stored;
  }

 private:
  static constexpr int kBits = 4;

  static size_t PlaceOf(int64_t id) {
    return static_cast<size_t>(id & ((int64_t{1} << kBits) - 1));
  }
  uint32_t PageOf(int64_t id, Last* last) const {
    const int64_t key = id >> kBits;
    if (key != last->key || last->page == kNone) *last = {key, index_.Find(key)};
    return last->page;
  }

  IdMap index_;  // Upper bits of the id -> index in pages_.
  std::vector<std::array<uint32_t, size_t{1} << kBits>> pages_;
  mutable Last last_;
};

/// A set of such ids: less than a byte per id; at worst 32.
class IdBits {
 public:
  /// Returns whether the id is new.
  bool Insert(int64_t id) {
    const int64_t key = id >> kBits;
    if (last_word_ == IdMap::kNone || key != last_key_) {
      last_key_ = key;
      last_word_ = index_.FindOrInsert(key, static_cast<uint32_t>(words_.size()));
      if (last_word_ == words_.size()) words_.push_back(0);
    }
    const uint64_t bit = uint64_t{1} << (id & ((1 << kBits) - 1));
    const bool is_new = (words_[last_word_] & bit) == 0;
    words_[last_word_] |= bit;
    return is_new;
  }

 private:
  static constexpr int kBits = 6;

  IdMap index_;  // Upper bits of the id -> index in words_.
  std::vector<uint64_t> words_;
  int64_t last_key_ = 0;
  uint32_t last_word_ = IdMap::kNone;
};

}  // namespace oplens

#endif  // OPLENS_BASE_ID_PAGES_H_
