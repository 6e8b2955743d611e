#ifndef OPLENS_PARSE_MODEL_STRING_POOL_H_
#define OPLENS_PARSE_MODEL_STRING_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/entry_index.h"

namespace oplens {

using StringId = uint32_t;  ///< Index of a text in a StringPool. 0 is the empty text.

/// Every text of a trace, once. Views live as long as the pool, and survive its move.
class StringPool {
 public:
  StringPool() : views_(1) {}
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;

  StringId Intern(std::string_view text);
  std::string_view View(StringId id) const { return views_[id]; }
  size_t size() const { return views_.size(); }
  /// Whether `is_so` of any text: cheaper than to ask of all items that have one.
  template <typename Predicate>
  bool Any(Predicate is_so) const {
    return std::any_of(views_.begin(), views_.end(), is_so);
  }
  /// Frees what finds texts, a fourth of the pool's memory. The next Intern() makes it again.
  void FreeIndex() { index_ = EntryIndex(); }

 private:
  std::string_view Store(std::string_view text);
  void MakeIndex();

  static constexpr size_t kChunkBytes = size_t{256} << 10;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;
  size_t free_bytes_ = 0;
  std::vector<std::string_view> views_;
  EntryIndex index_;  // Of views_ but the first.
};

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_STRING_POOL_H_
