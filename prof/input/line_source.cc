#include "prof/input/line_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace oplens::prof {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr size_t kHeadBytes = 64;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

[[noreturn]] void Fail(const std::string& name, std::string_view what, int error_number) {
  throw Error(name,
              fmt::format("cannot be {}: {}", what, std::generic_category().message(error_number)),
              "name a file that parse wrote");
}

}  // namespace

LineSource::LineSource(std::string path) : name_(std::move(path)) {
  if (name_.empty() || name_ == "-") {
    name_ = "standard input";
    fd_ = STDIN_FILENO;
  } else {
    fd_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) Fail(name_, "opened", errno);
  }
  buffer_.resize(kChunkBytes * 2);
}

LineSource::~LineSource() {
  if (fd_ != STDIN_FILENO) ::close(fd_);
}

bool LineSource::is_file() const {
  struct stat status;
  return fd_ != STDIN_FILENO && ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
}

bool LineSource::Fill() {
  if (begin_ > 0 && buffer_.size() - end_ < kChunkBytes) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  if (buffer_.size() - end_ < kChunkBytes) buffer_.resize(buffer_.size() * 2);
  ssize_t n = 0;
  do {
    n = ::read(fd_, buffer_.data() + end_, kChunkBytes);
  } while (n < 0 && errno == EINTR);
  if (n < 0) Fail(name_, "read", errno);
  end_ += static_cast<size_t>(n);
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
  if (std::exchange(at_start_, false)) {
    head_.assign(buffer_.data() + begin_, std::min(end_ - begin_, kHeadBytes));
    if (head_.starts_with(kByteOrderMark)) begin_ += kByteOrderMark.size();
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
