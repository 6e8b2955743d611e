#ifndef OPLENS_BASE_TEXT_END_H_
#define OPLENS_BASE_TEXT_END_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace oplens {

/// The end of a text to which many small parts are appended: room is made for many of them at once.
/// The text is whole when this object is gone.
class TextEnd {
 public:
  /// `room`: bytes that are likely needed.
  TextEnd(std::string* text, size_t room) : text_(*text) { Resize(text->size(), room); }
  ~TextEnd() { text_.resize(size()); }
  TextEnd(const TextEnd&) = delete;
  TextEnd& operator=(const TextEnd&) = delete;

  // These are compiled into their callers: a part of a known size is a few stores there.

  /// Where `bytes` may be written; Add() says how many were.
  [[gnu::always_inline]] char* Room(size_t bytes) {
    if (static_cast<size_t>(limit_ - end_) < bytes) [[unlikely]]
      Grow(bytes);
    return end_;
  }
  [[gnu::always_inline]] void Add(size_t bytes) { end_ += bytes; }

  [[gnu::always_inline]] void push_back(char c) {
    *Room(1) = c;
    Add(1);
  }
  [[gnu::always_inline]] void append(std::string_view part) {
    char* const to = Room(part.size());
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    Add(part.size());
  }
  /// Of the text.
  size_t size() const { return static_cast<size_t>(end_ - text_.data()); }

 private:
  [[gnu::noinline]] void Grow(size_t bytes) { Resize(size(), std::max(bytes, kMoreBytes)); }
  void Resize(size_t size, size_t room) {
    text_.resize(size + room);
    end_ = text_.data() + size;
    limit_ = end_ + room;
  }

  static constexpr size_t kMoreBytes = 1024;

  std::string& text_;
  char* end_ = nullptr;    ///< Of what was appended.
  char* limit_ = nullptr;  ///< Of the room.
};

}  // namespace oplens

#endif  // OPLENS_BASE_TEXT_END_H_
