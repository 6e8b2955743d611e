#include "parse/join/sequence_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace oplens::parse {

SequenceText SequenceTexts::Of(const Range& range) {
  // Ranges are asked for again while they are open, with few others between.
  constexpr size_t kRecent = 16;
  const size_t recent = std::min(items_.size(), kRecent);
  const ItemIndex item = trace_.ItemOf(range);
  size_t place = items_.size();
  for (size_t i = 1; i <= recent; ++i) {
    if (items_[items_.size() - i] == item) place = items_.size() - i;
  }
  if (place == items_.size()) {
    items_.push_back(item);
    if (place == all_.size()) all_.emplace_back();
    Made& made = all_[place];
    made.item = item;
    made.text.clear();
    fmt::format_to(std::back_inserter(made.text), "{}, seq = {}", trace_.strings.View(range.text),
                   trace_.operators[item].sequence);
    made.marker = ClassifyMarker(made.text);
  }
  const Made& made = all_[place];
  const bool named = made.marker.kind == MarkerKind::kSeq;
  return {made.text, made.marker.seq, named ? made.marker.name.size() : 0, made.marker.backward};
}

}  // namespace oplens::parse
