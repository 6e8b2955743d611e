// Any bytes as a trace document. Every event that is handed on can be walked, and how the bytes
// come in changes nothing.

#include <algorithm>
#include <cstring>
#include <string>

#include "parse/source/json_events.h"
#include "test/fuzz/fuzz_check.h"

namespace {

using oplens::fuzz::Check;

class Bytes : public oplens::parse::ByteSource {
 public:
  explicit Bytes(std::string_view text) : rest_(text) {}
  size_t Read(char* to, size_t size) override {
    const size_t taken = std::min(size, rest_.size());
    std::memcpy(to, rest_.data(), taken);
    rest_.remove_prefix(taken);
    return taken;
  }

 private:
  std::string_view rest_;
};

/// Reads every value.
class Walker : public oplens::parse::JsonEventHandler {
 public:
  void OnEvent(simdjson::dom::object event) override {
    Check(event_text.starts_with('{') && event_text.ends_with('}'));
    ++events;
    for (const auto field : event) {
      bytes += field.key.size();
      Walk(field.value);
    }
  }
  void OnMember(std::string_view key, simdjson::dom::element value) override {
    bytes += key.size();
    Walk(value);
  }

  int64_t events = 0;
  size_t bytes = 0;

 private:
  void Walk(simdjson::dom::element value) { bytes += simdjson::to_string(value).size(); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = oplens::fuzz::TextOf(data, size);
  Bytes source(text);
  Walker walker;
  oplens::Diagnostics diagnostics;
  const auto counts = oplens::parse::ReadJsonEvents(&source, "fuzz", &walker, &diagnostics);
  Check(counts.events == walker.events);
  Check(counts.bytes == static_cast<int64_t>(size));
  Check(counts.repaired <= counts.events);
  Check(counts.lost_bytes >= 0 && counts.lost_bytes <= counts.bytes);
  Check(counts.has_events || counts.events == 0);

  // Blanks before the document move every block and window, and change nothing.
  if (!text.starts_with("\xEF\xBB\xBF")) {
    const std::string moved = std::string(37, '\n') + std::string(text);
    Bytes moved_source(moved);
    Walker moved_walker;
    oplens::Diagnostics moved_diagnostics;
    const auto moved_counts =
        oplens::parse::ReadJsonEvents(&moved_source, "fuzz", &moved_walker, &moved_diagnostics);
    Check(moved_counts.events == counts.events && moved_counts.bad == counts.bad);
    Check(moved_walker.bytes == walker.bytes);
  }
  return 0;
}
