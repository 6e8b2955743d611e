#include "report/timeline/host_names.h"

#include <string_view>

#include "parse/join/range_roles.h"
#include "parse/model/marker_text.h"

namespace oplens::report {
namespace {

uint64_t KeyOf(EventClass of, StringId text) {
  return uint64_t{static_cast<uint8_t>(of)} << 32 | text;
}

}  // namespace

uint32_t HostNames::OfRange(uint32_t index) {
  const Range& range = joined_.trace().ranges[index];
  const EventClass of = ClassOf(range.kind);
  const auto [known, is_new] = known_.try_emplace(KeyOf(of, range.text), Signatures::kNone);
  if (!is_new) return known->second;
  const uint32_t signature = range.kind == RangeKind::kMarker
                                 ? OfMarker(index)
                                 : signatures_.OfName(joined_.trace().strings.View(range.text), of);
  return known_[KeyOf(of, range.text)] = signature;
}

uint32_t HostNames::OfMarker(uint32_t index) {
  const StringPool& strings = joined_.trace().strings;
  const Range& range = joined_.trace().ranges[index];
  const std::string_view text = strings.View(range.text);
  const parse::RangeTexts::Text& marker = joined_.texts().Of(range.text);
  switch (marker.kind) {
    case MarkerKind::kSeq:
      return signatures_.OfName(text.substr(0, marker.name_length), EventClass::kOperator);
    case MarkerKind::kOperator:
      return signatures_.OfName(
          marker.call == 0 ? text : strings.View(joined_.texts().Of(marker.call).op),
          EventClass::kOperator);
    case MarkerKind::kOp:
    case MarkerKind::kNode:
      return signatures_.OfName(parse::RangeRoles(joined_.trace(), joined_.texts()).NameOf(range),
                                EventClass::kOperator);
    case MarkerKind::kLayer:
      return signatures_.OfName(strings.View(marker.op), EventClass::kModule);
    case MarkerKind::kTrace: {
      const auto& frames = joined_.texts().FramesOf(marker);
      return signatures_.OfName(frames.empty() ? text : frames.back(), EventClass::kFrame);
    }
    default:
      return signatures_.OfName(strings.View(joined_.PathTextOf(index)), EventClass::kMarker);
  }
}

uint32_t HostNames::OfCall(const LaunchCall& call) {
  const auto [known, is_new] =
      known_.try_emplace(KeyOf(EventClass::kCall, call.api), Signatures::kNone);
  if (is_new) {
    known->second = signatures_.OfName(joined_.trace().strings.View(call.api), EventClass::kCall);
  }
  return known->second;
}

}  // namespace oplens::report
