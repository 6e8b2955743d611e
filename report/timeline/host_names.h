#ifndef OPLENS_REPORT_TIMELINE_HOST_NAMES_H_
#define OPLENS_REPORT_TIMELINE_HOST_NAMES_H_

#include <cstdint>
#include <unordered_map>

#include "parse/join/joined.h"
#include "report/timeline/signatures.h"

namespace oplens::report {

/// What the timeline calls the ranges and API calls of a trace: operators as the view operators has
/// them, layers and call stacks of NVTX markers by what they say. Each text is looked at once.
class HostNames {
 public:
  /// Both must outlive this object.
  HostNames(const parse::Joined& joined, Signatures* signatures)
      : joined_(joined), signatures_(*signatures) {}

  uint32_t OfRange(uint32_t range);
  uint32_t OfCall(const LaunchCall& call);

 private:
  uint32_t OfMarker(uint32_t range);

  const parse::Joined& joined_;
  Signatures& signatures_;
  std::unordered_map<uint64_t, uint32_t> known_;  // By class of the text and text.
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_HOST_NAMES_H_
