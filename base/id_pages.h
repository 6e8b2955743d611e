#ifndef OPLENS_BASE_ID_PAGES_H_
#define OPLENS_BASE_ID_PAGES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/id_map.h"

namespace oplens {

/// A map from 64-bit ids of a file to 32-bit indices for ids that come close to each other and in
/// about their order, such as correlation ids and rows: neighbours share a cache line, so that a
/// file with ten million of them costs no more for each than a small one. About 5 to 15 bytes an
/// id; at worst, ids that are far apart, 85. Values must differ from kNone.
class IdPages {
 public:
  static constexpr uint32_t kNone = IdMap::kNone;

  /// The index stored for `id`, or kNone.
  uint32_t Find(int64_t id) const {
    const uint32_t page = PageOf(id);
    return page == kNone ? kNone : pages_[page][PlaceOf(id)];
  }

  /// Stores `value` for `id` unless the id is there already; answers what is stored now.
  uint32_t FindOrInsert(int64_t id, uint32_t value) {
    uint32_t page = PageOf(id);
    if (page == kNone) {
      page = static_cast<uint32_t>(pages_.size());
      pages_.emplace_back().fill(kNone);
      index_.FindOrInsert(id >> kBits, page);
      last_key_ = id >> kBits;
      last_page_ = page;
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
  uint32_t PageOf(int64_t id) const {
    const int64_t key = id >> kBits;
    if (key != last_key_ || last_page_ == kNone) {
      last_key_ = key;
      last_page_ = index_.Find(key);
    }
    return last_page_;
  }

  IdMap index_;  // By the upper bits of ids; into pages_.
  std::vector<std::array<uint32_t, size_t{1} << kBits>> pages_;
  mutable int64_t last_key_ = 0;
  mutable uint32_t last_page_ = kNone;
};

/// A set of 64-bit ids of a file, likewise: less than a byte an id; at worst 32.
class IdBits {
 public:
  /// Answers whether the id was not there.
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

  IdMap index_;  // By the upper bits of ids; into words_.
  std::vector<uint64_t> words_;
  int64_t last_key_ = 0;
  uint32_t last_word_ = IdMap::kNone;
};

}  // namespace oplens

#endif  // OPLENS_BASE_ID_PAGES_H_
