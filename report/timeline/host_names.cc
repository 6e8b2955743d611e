#include "report/timeline/host_names.h"

#include <optional>
#include <string>

#include "ops/dtype.h"
#include "ops/tensor.h"
#include "parse/join/joined.h"
#include "parse/join/op_calls.h"
#include "parse/join/range_roles.h"
#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"

namespace oplens::report {
namespace {

/// The tensors in the text of a call.
Signatures::Tensors TensorsOf(std::string_view text) {
  Signatures::Tensors tensors;
  std::string error;
  const std::optional<OpCall> call = ParseOpCall(text, &error);
  if (!call) return tensors;
  for (const OpArg& arg : call->args) {
    if (arg.kind != OpArg::Kind::kTensor) continue;
    if (!tensors.shapes.empty()) tensors.shapes.push_back(';');
    tensors.shapes += ops::TupleText(arg.shape);
    const std::optional<ops::DType> dtype = ops::ParseDType(arg.dtype);
    if (tensors.dtype.empty() && dtype) tensors.dtype = ops::DTypeWord(*dtype);
  }
  return tensors;
}

}  // namespace

/// The text of the call in a range; 0 if it is no call, has no tensors, or kMaxArguments is
/// reached.
StringId HostNames::ArgumentsOf(uint32_t index) {
  const Range& range = joined_.trace().ranges[index];
  if (range.kind == RangeKind::kMarker) {
    const parse::RangeTexts::Text& marker = joined_.texts().Of(range.text);
    if (marker.kind != MarkerKind::kOp && marker.call == 0) return 0;
  } else if (range.kind != RangeKind::kOperator) {
    return 0;
  }
  const StringId call = joined_.calls().CallOf(index);
  const auto known = tensors_.find(call);
  if (known != tensors_.end()) return known->second.shapes.empty() ? 0 : call;
  if (call == 0 || tensors_.size() >= kMaxArguments) return 0;
  const auto at = tensors_.emplace(call, TensorsOf(joined_.trace().strings.View(call))).first;
  return at->second.shapes.empty() ? 0 : call;
}

uint32_t HostNames::OfRange(uint32_t index) {
  const Range& range = joined_.trace().ranges[index];
  const EventClass of = ClassOf(range.kind);
  const Key key = {range.text, ArgumentsOf(index), of};
  const auto [known, is_new] = known_.try_emplace(key, Signatures::kNone);
  if (!is_new) return known->second;
  const std::string_view text = joined_.trace().strings.View(range.text);
  uint32_t signature = Signatures::kNone;
  if (range.kind == RangeKind::kMarker) {
    signature = OfMarker(index, key.call);
  } else {
    signature = key.call == 0 ? signatures_.OfName(text, of) : OfOperator(text, key.call);
  }
  return known_[key] = signature;
}

/// `call`: text with the arguments; 0: unknown.
uint32_t HostNames::OfOperator(std::string_view name, StringId call) {
  const auto tensors = tensors_.find(call);
  if (tensors == tensors_.end()) return signatures_.OfName(name, EventClass::kOperator);
  return signatures_.OfOperator(name, tensors->second);
}

uint32_t HostNames::OfMarker(uint32_t index, StringId call) {
  const StringPool& strings = joined_.trace().strings;
  const Range& range = joined_.trace().ranges[index];
  const std::string_view text = strings.View(range.text);
  const parse::RangeTexts::Text& marker = joined_.texts().Of(range.text);
  switch (marker.kind) {
    case MarkerKind::kSeq:
      return OfOperator(text.substr(0, marker.name_length), call);
    case MarkerKind::kOperator:
      return OfOperator(marker.call == 0 ? text : strings.View(joined_.texts().Of(marker.call).op),
                        call);
    case MarkerKind::kOp:
    case MarkerKind::kNode:
      return OfOperator(parse::RangeRoles(joined_.trace(), joined_.texts()).NameOf(range), call);
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
      known_.try_emplace(Key{call.api, 0, EventClass::kCall}, Signatures::kNone);
  if (is_new) {
    known->second = signatures_.OfName(joined_.trace().strings.View(call.api), EventClass::kCall);
  }
  return known->second;
}

}  // namespace oplens::report
