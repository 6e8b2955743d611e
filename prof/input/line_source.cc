#include "prof/input/line_source.h"

#include <cstring>
#include <utility>

namespace oplens::prof {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

LineSource::LineSource(std::shared_ptr<parse::InputBytes> bytes) : bytes_(std::move(bytes)) {
  buffer_.resize(kChunkBytes * 2);
}

bool LineSource::Fill() {
  if (begin_ > 0 && buffer_.size() - end_ < kChunkBytes) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  if (buffer_.size() - end_ < kChunkBytes) buffer_.resize(buffer_.size() * 2);
  const size_t n = bytes_->Read(buffer_.data() + end_, kChunkBytes);
  end_ += n;
  return n > 0;
}

bool LineSource::Next(std::string_view* line) {
  if (cut_ && !SkipToNewline()) return false;
  cut_ = false;
  size_t searched = 0;
  const void* newline = nullptr;
  for (;;) {
    newline = std::memchr(buffer_.data() + begin_ + searched, '\n', end_ - begin_ - searched);
    searched = end_ - begin_;
    cut_ = newline == nullptr && searched >= kMaxLineBytes;
    if (newline != nullptr || cut_ || !Fill()) break;
  }
  if (std::exchange(at_start_, false) && head().starts_with(kByteOrderMark)) {
    begin_ += kByteOrderMark.size();
  }
  if (newline == nullptr && begin_ == end_) return false;
  const char* first = buffer_.data() + begin_;
  const size_t size = newline == nullptr
                          ? end_ - begin_
                          : static_cast<size_t>(static_cast<const char*>(newline) - first);
  begin_ += size + (newline == nullptr ? 0 : 1);
  *line = std::string_view(first, size);
  if (line->ends_with('\r')) line->remove_suffix(1);
  return true;
}

bool LineSource::SkipToNewline() {
  for (;;) {
    const char* first = buffer_.data() + begin_;
    if (const void* newline = std::memchr(first, '\n', end_ - begin_)) {
      begin_ += static_cast<size_t>(static_cast<const char*>(newline) - first) + 1;
      return true;
    }
    begin_ = end_ = 0;
    if (!Fill()) return false;
  }
}

}  // namespace oplens::prof
