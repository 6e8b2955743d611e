#include "base/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/shortage.h"
#include "base/write_all.h"

namespace oplens {
namespace {

/// `path` with links followed, so that renaming replaces the target and keeps the link.
std::string ResolveLink(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  std::free(resolved);  // NOLINT(cppcoreguidelines-no-malloc)
  return result;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Opens an unnamed file in `folder`, of which nothing remains if the program dies. -1 if the file
/// system has none or it could not be linked to a name later.
int OpenNameless(const std::string& folder, mode_t mode) {
  if (::access("/proc/self/fd", X_OK) != 0) return -1;
  return ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
}

}  // namespace

class Output::Packer {
 public:
  explicit Packer(Packing packing) {
    if (packing == Packing::kGzip) {
      stream_.push(boost::iostreams::gzip_compressor(), kBlockBytes);
    } else {
      stream_.push(boost::iostreams::zstd_compressor(), kBlockBytes);
    }
    stream_.push(boost::iostreams::back_inserter(packed_), kBlockBytes);
    stream_.exceptions(std::ios::badbit | std::ios::failbit);
  }

  void Pack(std::string_view bytes) {
    stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  /// Ends the stream, with header and trailer even if it is empty.
  void Finish() { stream_.reset(); }
  std::string* packed() { return &packed_; }

 private:
  static constexpr std::streamsize kBlockBytes = 64 << 10;

  std::string packed_;
  boost::iostreams::filtering_ostream stream_;
};

Packing PackingOf(std::string_view path) {
  if (path.ends_with(".gz")) return Packing::kGzip;
  if (path.ends_with(".zst")) return Packing::kZstd;
  return Packing::kNone;
}

Output::Output(std::string path, Packing packing) : path_(std::move(path)) {
  if (packing != Packing::kNone) packer_ = std::make_unique<Packer>(packing);
  buffer_.reserve(kFlushBytes + (size_t{64} << 10));
  if (path_.empty() || path_ == "-") {
    path_.clear();
    fd_ = STDOUT_FILENO;
    return;
  }
  struct stat info {};
  mode_t mode = 0666;
  const bool replaces = ::stat(path_.c_str(), &info) == 0;
  if (replaces) {
    if (!S_ISREG(info.st_mode)) {
      fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd_ < 0) Fail(errno);
      return;
    }
    mode = info.st_mode & 07777;
  }
  const std::string target = ResolveLink(path_);
  named_temp_path_ = fmt::format("{}.tmp{}", target, ::getpid());
  // Left by a killed run with the same process id, which containers reuse soon.
  ::unlink(named_temp_path_.c_str());
  fd_ = OpenNameless(FolderOf(target), mode);
  if (fd_ < 0) {
    fd_ = ::open(named_temp_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd_ < 0) Fail(errno);
    temp_path_ = named_temp_path_;
  }
  // Keep the permissions of the replaced file.
  if (replaces) ::fchmod(fd_, mode);
}

Output::~Output() {
  if (fd_ >= 0 && !path_.empty()) ::close(fd_);
  if (!temp_path_.empty()) ::unlink(temp_path_.c_str());
}

void Output::Write(std::string_view bytes) {
  if (bytes.size() < kFlushBytes) {
    buffer_.append(bytes);
    return FlushIfLarge();
  }
  Flush();
  Pass(bytes);
}

void Output::Flush() {
  Pass(buffer_);
  buffer_.clear();
}

void Output::Pass(std::string_view bytes) {
  if (packer_) {
    packer_->Pack(bytes);
    WriteOut(*packer_->packed());
    packer_->packed()->clear();
  } else {
    WriteOut(bytes);
  }
}

void Output::WriteOut(std::string_view bytes) {
  if (!WriteAll(fd_, bytes)) Fail(errno);
}

void Output::Commit() {
  Flush();
  if (packer_) {
    packer_->Finish();
    WriteOut(*packer_->packed());
    packer_.reset();
  }
  if (path_.empty()) return;
  if (temp_path_.empty() && !named_temp_path_.empty()) {
    const std::string nameless = fmt::format("/proc/self/fd/{}", fd_);
    if (::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, named_temp_path_.c_str(),
                 AT_SYMLINK_FOLLOW) != 0) {
      Fail(errno);
    }
    temp_path_ = named_temp_path_;
  }
  // Some file systems report a full disk only here.
  if (::close(std::exchange(fd_, -1)) != 0) Fail(errno);
  if (temp_path_.empty()) return;
  if (::rename(temp_path_.c_str(), ResolveLink(path_).c_str()) != 0) Fail(errno);
  temp_path_.clear();
}

void Output::Fail(int error_number) {
  if (error_number == EPIPE) throw ClosedPipe{};
  throw SystemError(path_.empty() ? "standard output" : path_, "cannot be written", error_number,
                    error_number == ENOSPC ? "free some space or choose another disk"
                                           : "choose a place that can be written");
}

void PrintText(std::string_view text) {
  Output output("");
  output.Write(text);
  output.Commit();
}

}  // namespace oplens
