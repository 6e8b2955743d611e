#include "parse/source/stream_buffer.h"

#include <cstring>

namespace oplens::parse {

void StreamBuffer::Fill() {
  const auto unneeded = static_cast<size_t>(needed_ - begin_);
  if (unneeded >= size_ / 2 && unneeded > 0) {
    std::memmove(bytes_.data(), bytes_.data() + unneeded, size_ - unneeded);
    size_ -= unneeded;
    begin_ = needed_;
  }
  if (bytes_.size() < size_ + kChunkBytes + kPadding) {
    bytes_.resize(std::max(bytes_.size() * 2, size_ + kChunkBytes + kPadding));
  }
  const size_t read = Read(bytes_.data() + size_);
  at_end_ = read < kChunkBytes;
  size_ += read;
  std::memset(bytes_.data() + size_, ' ', kPadding);
}

/// What fails once fails again: what it was at is lost.
size_t StreamBuffer::Read(char* to) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  try {
    return source_.Read(to, kChunkBytes);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

}  // namespace oplens::parse
