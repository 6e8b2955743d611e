#ifndef OPLENS_REPORT_TIMELINE_HOST_NAMES_H_
#define OPLENS_REPORT_TIMELINE_HOST_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "parse/join/joined.h"
#include "report/timeline/signatures.h"

namespace oplens::parse {
class Joined;
}  // namespace oplens::parse

namespace oplens::report {

/// Names ranges and API calls of a trace for the timeline: operators as in the view operators, with
/// the shapes and dtype of their tensors; NVTX markers of layers and call stacks by their contents.
/// Parses each distinct text once.
class HostNames {
 public:
  /// Both arguments must outlive this object.
  HostNames(const parse::Joined& joined, Signatures* signatures)
      : joined_(joined), signatures_(*signatures) {}

  uint32_t OfRange(uint32_t range);
  uint32_t OfCall(const LaunchCall& call);

  /// Limit of distinct argument lists; further calls show only their name.
  static constexpr size_t kMaxArguments = size_t{1} << 14;

 private:
  uint32_t OfMarker(uint32_t range, StringId call);
  StringId ArgumentsOf(uint32_t range);
  uint32_t OfOperator(std::string_view name, StringId call);

  const parse::Joined& joined_;
  Signatures& signatures_;
  struct Key {
    StringId text = 0;
    StringId call = 0;  // With the arguments.
    EventClass of = EventClass::kOperator;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const uint64_t texts = uint64_t{key.text} << 32 | key.call;
      return MixHash(texts, static_cast<uint64_t>(key.of) << 60);
    }
  };
  std::unordered_map<Key, uint32_t, Hash> known_;
  std::unordered_map<StringId, Signatures::Tensors> tensors_;  // By text of a call.
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_HOST_NAMES_H_
