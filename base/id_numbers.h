#ifndef OPLENS_BASE_ID_NUMBERS_H_
#define OPLENS_BASE_ID_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/id_map.h"

namespace oplens {

/// Numbers ids of a file from 0, in the order in which they are met: few, often the same in a row.
class IdNumbers {
 public:
  static constexpr uint32_t kNone = IdMap::kNone;

  /// Returns the number of an id, the next one if it is new.
  uint32_t Of(int64_t id) {
    if (!ids_.empty() && ids_[last_] == id) return last_;
    const auto next = static_cast<uint32_t>(ids_.size());
    last_ = numbers_.FindOrInsert(id, next);
    if (last_ == next) ids_.push_back(id);
    return last_;
  }
  /// Returns kNone for an id that was not met.
  uint32_t Find(int64_t id) const { return numbers_.Find(id); }

  const std::vector<int64_t>& ids() const { return ids_; }  ///< By number.
  size_t size() const { return ids_.size(); }

 private:
  IdMap numbers_;
  std::vector<int64_t> ids_;
  uint32_t last_ = 0;
};

}  // namespace oplens

#endif  // OPLENS_BASE_ID_NUMBERS_H_
