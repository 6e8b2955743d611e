#include "prof/run/steps.h"

#include <algorithm>

namespace oplens::prof {

Steps::Steps(const parse::Joined& joined, const DeviceWork& work) : joined_(joined), work_(work) {}

size_t Steps::OfHost(int64_t time_ns) const {
  static_cast<void>(time_ns);
  return kNone;
}

size_t Steps::OfEvent(const DeviceEvent& event) const {
  static_cast<void>(event);
  static_cast<void>(joined_);
  static_cast<void>(work_);
  return kNone;
}

}  // namespace oplens::prof
