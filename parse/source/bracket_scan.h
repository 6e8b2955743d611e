#ifndef OPLENS_PARSE_SOURCE_BRACKET_SCAN_H_
#define OPLENS_PARSE_SOURCE_BRACKET_SCAN_H_

#include <cstddef>
#include <cstdint>

namespace oplens::parse {

/// Finds the end of a JSON object or array by counting brackets outside strings, 64 bytes at a
/// time. Knows nothing else of JSON.
class BracketScan {
 public:
  static constexpr size_t kBlockBytes = 64;

  /// Takes the next block; the first must begin with the opening bracket. Returns how many of its
  /// bytes belong to the value if it ends in this block, else 0.
  size_t Next(const char* block);

 private:
  int64_t depth_ = 0;
  uint64_t in_string_ = 0;  // All ones within a string.
  bool escape_ = false;     // The last byte was a backslash that escapes the next one.
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_BRACKET_SCAN_H_
