#ifndef OPLENS_RECORD_TEXT_IDS_H_
#define OPLENS_RECORD_TEXT_IDS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace oplens::record {

/// Which number a text has, for any number of texts of any length: of each only 128 bits of its
/// hash are kept, so that the chance that two of 10^9 texts are taken for one is below 10^-20.
/// Memory: 24 bytes a slot, between 3/8 and 3/4 full: 32 to 64 bytes a distinct text.
class TextIds {
 public:
  TextIds();

  /// The number of `text`, a reference to be set where *is_new; valid until the next call.
  int64_t& Get(std::string_view text, bool* is_new);

 private:
  struct Key {
    uint64_t low = 0;
    uint64_t high = 0;  // 0: an empty slot.
    bool operator==(const Key&) const = default;
  };
  struct Slot {
    Key key;
    int64_t id = 0;
  };

  Key Hash(std::string_view text) const;
  size_t Find(const Key& key) const;
  void Grow();

  std::vector<Slot> slots_;
  size_t size_ = 0;
  uint64_t seeds_[2] = {};
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_TEXT_IDS_H_
