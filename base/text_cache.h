#ifndef OPLENS_BASE_TEXT_CACHE_H_
#define OPLENS_BASE_TEXT_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/entry_index.h"
#include "base/epochs.h"
#include "base/hash.h"

namespace oplens {

/// Keeps one Value per distinct text, for streams in which few texts recur often.
///
/// Memory is bounded: entries live in two generations, and one not used for a whole generation is
/// dropped. Entries never move; a dropped one lives until all pins taken before are gone.
template <typename Value>
class TextCache {
 public:
  struct Entry {
    Entry(std::string_view t, int64_t i) : text(t), id(i) {}
    const std::string text;
    const int64_t id;  ///< From 1; a text that was dropped gets a new one.
    Value value{};
  };

  /// `epochs` must outlive this. A generation ends once the entries used in it take `max_bytes`.
  TextCache(Epochs* epochs, size_t max_bytes) : epochs_(*epochs), max_bytes_(max_bytes) {}

  /// The entry of `text`; if there is none, makes one with an empty value and sets *is_new. It
  /// lives as long as a pin taken before, and at least until generation() has grown by two.
  Entry* Get(std::string_view text, bool* is_new) {
    if (young_.bytes > max_bytes_) BeginGeneration();
    const uint64_t hash = HashText(text);
    *is_new = false;
    if (const auto* known = young_.Find(hash, text)) return known->get();
    std::unique_ptr<Entry> entry;
    if (auto* known = old_.Find(hash, text)) {
      entry = std::move(*known);
    } else {
      *is_new = true;
      entry = std::make_unique<Entry>(text, ++last_id_);
    }
    return young_.Insert(hash, std::move(entry));
  }

  /// The current generation, from 0.
  int64_t generation() const { return generation_; }

 private:
  struct Generation {
    EntryIndex index;
    // An element of the old generation is null once moved to the young one.
    std::vector<std::unique_ptr<Entry>> entries;
    size_t bytes = 0;

    /// Null if there is none.
    std::unique_ptr<Entry>* Find(uint64_t hash, std::string_view text) {
      const uint32_t found = index.Find(
          hash, [&](uint32_t i) { return entries[i] != nullptr && entries[i]->text == text; });
      return found == EntryIndex::kNone ? nullptr : &entries[found];
    }

    Entry* Insert(uint64_t hash, std::unique_ptr<Entry> entry) {
      constexpr size_t kIndexBytes = 32;
      // Assumes that a value's heap memory is about as large as its text.
      bytes += sizeof(Entry) + kIndexBytes + entry->text.size() * 2;
      index.Add(hash, static_cast<uint32_t>(entries.size()));
      entries.push_back(std::move(entry));
      return entries.back().get();
    }
  };

  void BeginGeneration() {
    if (!old_.entries.empty()) epochs_.Retire(std::move(old_));
    old_ = std::move(young_);
    young_ = Generation();
    ++generation_;
  }

  Epochs& epochs_;
  const size_t max_bytes_;
  Generation young_;
  Generation old_;
  int64_t last_id_ = 0;
  int64_t generation_ = 0;
};

}  // namespace oplens

#endif  // OPLENS_BASE_TEXT_CACHE_H_
