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
  size_ += ReadPast(bytes_.data() + size_, kChunkBytes);
  std::memset(bytes_.data() + size_, ' ', kPadding);
}

size_t StreamBuffer::ReadPast(char* to, size_t size) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  if (at_end_) return 0;
  try {
    const size_t read = source_.Read(to, size);
    at_end_ = read < size;
    return read;
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

void StreamBuffer::Restart(int64_t place, std::string_view bytes) {
  bytes_.resize(std::max(bytes_.size(), bytes.size() + kPadding));
  std::memcpy(bytes_.data(), bytes.data(), bytes.size());
  std::memset(bytes_.data() + bytes.size(), ' ', kPadding);
  begin_ = place;
  needed_ = place;
  size_ = bytes.size();
}

}  // namespace oplens::parse
