#ifndef OPLENS_PARSE_SOURCE_STREAM_BUFFER_H_
#define OPLENS_PARSE_SOURCE_STREAM_BUFFER_H_

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
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

  /// Declares the bytes before `place` unneeded.
  void Release(int64_t place) { needed_ = place; }

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

  /// Reads on in the stream, past this buffer, which is of no use until Restart(). Returns fewer
  /// bytes only at the end. What fails once fails again, here and in Require().
  size_t ReadPast(char* to, size_t size);
  /// Goes on with these bytes, which begin at `place`, and what follows them in the stream.
  void Restart(int64_t place, std::string_view bytes);

 private:
  static constexpr size_t kPadding = BracketScan::kBlockBytes + simdjson::SIMDJSON_PADDING;

  void Fill();

  ByteSource& source_;
  std::exception_ptr failure_;  // Of the source.
  std::vector<char> bytes_;
  int64_t begin_ = 0;  // Offset of the first byte.
  size_t size_ = 0;
  int64_t needed_ = 0;
  bool at_end_ = false;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_STREAM_BUFFER_H_
