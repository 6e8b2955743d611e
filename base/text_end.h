#ifndef OPLENS_BASE_TEXT_END_H_
#define OPLENS_BASE_TEXT_END_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace oplens {

/// The end of a text to which many small parts are appended: room is made for many of them at once.
/// The text is whole when this object is gone.
class TextEnd {
 public:
  /// `room`: bytes that are likely needed.
  TextEnd(std::string* text, size_t room) : text_(*text), size_(text->size()) {
    text_.resize(size_ + room);
  }
  ~TextEnd() { text_.resize(size_); }
  TextEnd(const TextEnd&) = delete;
  TextEnd& operator=(const TextEnd&) = delete;

  /// Where `bytes` may be written; Add() says how many were.
  char* Room(size_t bytes) {
    if (text_.size() - size_ < bytes) Grow(bytes);
    return text_.data() + size_;
  }
  void Add(size_t bytes) { size_ += bytes; }

  void push_back(char c) {
    *Room(1) = c;
    Add(1);
  }
  void append(std::string_view part) {
    part.copy(Room(part.size()), part.size());
    Add(part.size());
  }
  /// Of the text.
  size_t size() const { return size_; }

 private:
  void Grow(size_t bytes) { text_.resize(size_ + std::max(bytes, kMoreBytes)); }

  static constexpr size_t kMoreBytes = 1024;

  std::string& text_;
  size_t size_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_TEXT_END_H_
