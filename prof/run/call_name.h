#ifndef OPLENS_PROF_RUN_CALL_NAME_H_
#define OPLENS_PROF_RUN_CALL_NAME_H_

#include <cstdint>
#include <string_view>

#include "parse/join/joined.h"
#include "parse/join/range_roles.h"
#include "parse/join/range_texts.h"
#include "parse/model/marker_text.h"

namespace oplens::prof {

/// The operator or node that a range calls: its text without additions (", seq = 3", sizes).
inline std::string_view CallNameOf(const parse::Joined& joined, uint32_t index) {
  const Trace& trace = joined.trace();
  const Range& range = trace.ranges[index];
  const std::string_view text = trace.strings.View(range.text);
  if (range.kind != RangeKind::kMarker) return text;
  const parse::RangeTexts::Text& marker = joined.texts().Of(range.text);
  switch (marker.kind) {
    case MarkerKind::kSeq:
      return text.substr(0, marker.name_length());
    case MarkerKind::kOperator:
      return marker.call == 0 ? text : trace.strings.View(joined.texts().Of(marker.call).op);
    default:
      return parse::RangeRoles(trace, joined.texts()).NameOf(range);
  }
}

/// Whether a range is a call of a layer.
inline bool IsLayer(const parse::Joined& joined, const Range& range) {
  return range.kind == RangeKind::kModule ||
         (range.kind == RangeKind::kMarker &&
          joined.texts().Of(range.text).kind == MarkerKind::kLayer);
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_RUN_CALL_NAME_H_
