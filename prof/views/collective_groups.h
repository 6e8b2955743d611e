#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_GROUPS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_GROUPS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"

namespace oplens::prof {

/// A group of ranks as it is recorded.
struct CollectiveGroup {
  std::string name;   ///< "" where it is not recorded.
  std::string ranks;  ///< "[0, 1]"; the same.
  int64_t size = -1;  ///< -1: not known.

  bool known() const { return !name.empty() || !ranks.empty(); }
  friend auto operator<=>(const CollectiveGroup&, const CollectiveGroup&) = default;

  template <typename Bytes, typename Self>
  static void Transfer(Bytes* bytes, Self* self) {
    bytes->Values(&self->name, &self->ranks, &self->size);
  }
};

/// Groups, each once, by number. Of calls of many ranks each keeps the number alone.
class CollectiveGroups {
 public:
  CollectiveGroups() = default;
  // Numbers stand for keys of the map.
  CollectiveGroups(const CollectiveGroups&) = delete;
  CollectiveGroups& operator=(const CollectiveGroups&) = delete;
  CollectiveGroups(CollectiveGroups&&) = default;
  CollectiveGroups& operator=(CollectiveGroups&&) = default;

  uint32_t NumberOf(const CollectiveGroup& group);
  const CollectiveGroup& operator[](uint32_t number) const { return *groups_[number]; }
  size_t size() const { return groups_.size(); }
  /// Takes those of another: the number here of each.
  std::vector<uint32_t> Merge(const CollectiveGroups& other);

  void Save(ByteWriter* bytes) const;
  /// The number here of each that was saved; two may have become one.
  std::vector<uint32_t> Load(ByteReader* bytes);

 private:
  std::map<CollectiveGroup, uint32_t> numbers_;
  std::vector<const CollectiveGroup*> groups_;  // Keys of `numbers_`.
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_GROUPS_H_
