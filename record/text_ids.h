#ifndef OPLENS_RECORD_TEXT_IDS_H_
#define OPLENS_RECORD_TEXT_IDS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace oplens::record {

/// Maps texts to numbers, keeping only a 128-bit hash of each: the probability that any two of 10^9
/// texts collide is below 10^-20. Memory: 24 bytes per slot, 3/8 to 3/4 full: 32 to 64 bytes per
/// distinct text.
class TextIds {
 public:
  TextIds();

  /// The number of `text`, to be set by the caller if *is_new. The reference is valid until the
  /// next call.
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
