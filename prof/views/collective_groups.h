#ifndef OPLENS_PROF_VIEWS_COLLECTIVE_GROUPS_H_
#define OPLENS_PROF_VIEWS_COLLECTIVE_GROUPS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "prof/views/numbered.h"

namespace oplens::prof {

/// A group of ranks as it is recorded.
struct CollectiveGroup {
  static constexpr size_t kLeastBytes = 3;  ///< That are saved of one.

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

using CollectiveGroups = Numbered<CollectiveGroup>;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COLLECTIVE_GROUPS_H_
