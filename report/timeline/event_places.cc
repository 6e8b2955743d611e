#include "report/timeline/event_places.h"

#include <algorithm>

namespace oplens::report {

void EventPlaces::Seal() {
  std::sort(all_.begin(), all_.end(),
            [](const Entry& a, const Entry& b) { return a.event < b.event; });
}

std::optional<Link::End> EventPlaces::Find(uint32_t event) const {
  const auto at =
      std::lower_bound(all_.begin(), all_.end(), event,
                       [](const Entry& entry, uint32_t wanted) { return entry.event < wanted; });
  if (at == all_.end() || at->event != event) return std::nullopt;
  return at->place;
}

}  // namespace oplens::report
