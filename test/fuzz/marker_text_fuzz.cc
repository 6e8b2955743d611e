// Any range text: classified, with views that can be read after the result has moved.

#include <string>
#include <utility>

#include "parse/model/marker_text.h"
#include "test/fuzz/fuzz_check.h"

namespace {

size_t CountNulBytes(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += c == '\0' ? 1 : 0;
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using oplens::MarkerKind;
  using oplens::fuzz::Check;
  const std::string_view text = oplens::fuzz::TextOf(data, size);
  oplens::MarkerText first = oplens::ClassifyMarker(text);
  const oplens::MarkerText marker = std::move(first);
  // Reads every byte of every view, for the sanitizer to watch.
  size_t bytes = CountNulBytes(marker.name) + CountNulBytes(marker.mod) + CountNulBytes(marker.op);
  for (const std::string_view frame : marker.frames) bytes += CountNulBytes(frame);
  Check(bytes <= size);
  Check(marker.kind == MarkerKind::kSeq ? marker.seq >= 0 : marker.seq == -1);
  Check(!marker.backward || marker.kind == MarkerKind::kSeq);
  Check(!marker.damaged || (marker.kind == MarkerKind::kFree && text.starts_with('{')));
  Check(marker.frames.empty() || marker.kind == MarkerKind::kTrace);
  return 0;
}
