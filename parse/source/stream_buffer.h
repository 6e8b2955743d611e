#ifndef OPLENS_PARSE_SOURCE_STREAM_BUFFER_H_
#define OPLENS_PARSE_SOURCE_STREAM_BUFFER_H_

#include <simdjson.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <string_view>
#include <vector>

#include "parse/source/bracket_scan.h"
#include "parse/source/byte_source.h"

namespace oplens::parse {

/// The part of a stream that is needed, by offsets in it. Views live until the next Require().
class StreamBuffer {
 public:
  static constexpr size_t kChunkBytes = size_t{256} << 10;

  explicit StreamBuffer(ByteSource* source) : source_(*source) {}

  /// Declares the bytes before `place`, unless they are held, unneeded.
  void Release(int64_t place) {
    needed_ = std::min(place, held_from_.load(std::memory_order_relaxed));
  }
  /// Holds the bytes from `place` on, whatever is released later. Any thread may move this on.
  void HoldFrom(int64_t place) { held_from_.store(place, std::memory_order_relaxed); }
  void HoldNone() { HoldFrom(std::numeric_limits<int64_t>::max()); }

  /// Makes `size` bytes from `place` available, or as many as there are. Returns how many.
  size_t Require(int64_t place, size_t size) {
    while (End() < place + static_cast<int64_t>(size) && !at_end_) Fill();
    return static_cast<size_t>(std::clamp<int64_t>(End() - place, 0, static_cast<int64_t>(size)));
  }

  /// `place` must be available or released last; readable for kBlockBytes and simdjson's padding.
  char* At(int64_t place) { return bytes_.data() + (place - begin_); }
  std::string_view View(int64_t from, int64_t to) {
    return {At(from), static_cast<size_t>(to - from)};
  }
  int64_t End() const { return begin_ + static_cast<int64_t>(size_); }

 private:
  static constexpr size_t kPadding = BracketScan::kBlockBytes + simdjson::SIMDJSON_PADDING;

  void Fill();
  size_t Read(char* to);

  ByteSource& source_;
  std::exception_ptr failure_;  // Of the source.
  std::vector<char> bytes_;
  int64_t begin_ = 0;  // Offset of the first byte.
  size_t size_ = 0;
  int64_t needed_ = 0;
  std::atomic<int64_t> held_from_{std::numeric_limits<int64_t>::max()};
  bool at_end_ = false;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_STREAM_BUFFER_H_
