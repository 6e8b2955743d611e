#ifndef OPLENS_REPORT_TIMELINE_EVENT_PLACES_H_
#define OPLENS_REPORT_TIMELINE_EVENT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "report/timeline/timeline.h"

namespace oplens::report {

/// Where events are on the page, by their numbers: of ranges, or of API calls. Add all, then Seal,
/// then Find. 16 bytes an event.
class EventPlaces {
 public:
  void Add(uint32_t event, const Link::End& place) { all_.push_back({event, place}); }
  void Seal();
  /// nullopt: it is not on the page. O(log n).
  std::optional<Link::End> Find(uint32_t event) const;
  size_t size() const { return all_.size(); }

 private:
  struct Entry {
    uint32_t event = 0;
    Link::End place;
  };

  std::vector<Entry> all_;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_EVENT_PLACES_H_
