#ifndef OPLENS_PROF_VIEWS_COMMON_BOUNDED_GROUPS_H_
#define OPLENS_PROF_VIEWS_COMMON_BOUNDED_GROUPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/chunked.h"
#include "base/hash.h"

namespace oplens::prof {

/// Bounds on the memory of groups.
struct GroupLimits {
  size_t groups = size_t{1} << 20;
  size_t key_bytes = size_t{256} << 20;
};

/// Sums of groups by key. Groups are numbered in order of arrival. Beyond the limits, new keys
/// share one more group, kOther. `Index`: a map of keys to numbers that never moves its keys.
template <typename Sums, typename Index = TextMap<uint32_t>>
class BoundedGroups {
 public:
  static constexpr uint32_t kOther = UINT32_MAX;
  struct Group {
    const typename Index::key_type* key;  ///< Points into the index.
    Sums sums;
  };

  BoundedGroups() = default;
  explicit BoundedGroups(GroupLimits limits) : limits_(limits) {}

  /// The number of a key's group, created on demand; kOther if the limits allow no new group.
  /// `key_bytes`: what the key counts against GroupLimits::key_bytes.
  template <typename Key>
  uint32_t NumberOf(const Key& key, size_t key_bytes) {
    if (last_ != kOther && *groups_[last_].key == key) return last_;
    const auto found = index_.find(key);
    if (found != index_.end()) return last_ = found->second;
    if (groups_.size() >= limits_.groups || key_bytes_ + key_bytes > limits_.key_bytes) {
      return kOther;
    }
    key_bytes_ += key_bytes;
    return last_ = Make(key);
  }
  uint32_t NumberOf(std::string_view key) { return NumberOf(key, key.size()); }
  /// The number of a key's group, created on demand regardless of the limits.
  template <typename Key>
  uint32_t MadeNumberOf(const Key& key) {
    const auto found = index_.find(key);
    return found != index_.end() ? found->second : Make(key);
  }

  Sums& operator[](uint32_t number) { return number == kOther ? other : groups_[number].sums; }
  const Sums& operator[](uint32_t number) const {
    return number == kOther ? other : groups_[number].sums;
  }
  const Chunked<Group>& all() const { return groups_; }
  size_t size() const { return groups_.size(); }
  const Index& index() const { return index_; }

  Sums other;  ///< The sums of kOther.

 private:
  template <typename Key>
  uint32_t Make(const Key& key) {
    const auto number = static_cast<uint32_t>(groups_.size());
    groups_.push_back({&index_.emplace(key, number).first->first, {}});
    return number;
  }

  GroupLimits limits_;
  Index index_;
  Chunked<Group> groups_;
  size_t key_bytes_ = 0;
  uint32_t last_ = kOther;
};

/// Appends a text to a key, terminated by a 0.
inline void AppendKeyText(std::string_view text, std::string* key) {
  (*key += text).push_back('\0');
}
/// Takes the first text off a key; "" if none is left.
inline std::string_view TakeKeyText(std::string_view* key) {
  const std::string_view text = key->substr(0, key->find('\0'));
  key->remove_prefix(std::min(text.size() + 1, key->size()));
  return text;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_BOUNDED_GROUPS_H_
