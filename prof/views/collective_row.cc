#include "prof/views/collective_row.h"

#include "base/saturating.h"

namespace oplens::prof {

int64_t CollectiveRow::since_ns() const {
  return SaturatingDifference(call.start_ns, recording->origin_ns);
}

int64_t CollectiveRow::group_size() const {
  if (group->size > 0) return group->size;
  const bool whole = !group->known() && share.match != CollectiveMatch::kNone &&
                     recording->world_size == int64_t{share.ranks};
  return whole ? recording->world_size : -1;
}

}  // namespace oplens::prof
