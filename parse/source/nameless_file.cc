#include "parse/source/nameless_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/shortage.h"
#include "base/shown_text.h"
#include "base/size_text.h"
#include "base/write_all.h"
#include "parse/source/sqlite_pages.h"

namespace oplens::parse {
namespace {

constexpr std::string_view kAdvice =
    "unpack it to a file yourself, or let TMPDIR name a folder with room";

/// Returns -1 if the folder accepts no file.
int OpenIn(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // The file system does not support files without a name.
  std::string name = folder + "/oplens-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

constexpr char kLimitVariable[] = "OPLENS_UNPACK_LIMIT";
// A packed database of a profile is a tenth of its size, at the least a fiftieth.
constexpr int64_t kUsualTimes = 200;
constexpr int64_t kAlwaysBytes = 256'000'000;

/// The user's limit on the unpacked bytes of a database, if set.
std::optional<int64_t> UserLimit() {
  const char* const told = std::getenv(kLimitVariable);
  if (told == nullptr || *told == '\0') return std::nullopt;
  if (const std::optional<int64_t> bytes = ReadSizeText(told)) return bytes;
  throw UsageError(fmt::format("{}: '{}' is no size; give one such as 16G", kLimitVariable,
                               prof::ShownText(told)));
}

/// The default limit for so many packed bytes.
int64_t UsualLimit(int64_t packed_bytes) {
  constexpr int64_t kMostPacked = std::numeric_limits<int64_t>::max() / kUsualTimes;
  return std::max(kAlwaysBytes, std::min(packed_bytes, kMostPacked) * kUsualTimes);
}

[[noreturn]] void FailOfLimit(const InputBytes& from, std::optional<int64_t> told, int64_t limit) {
  throw Error(from.name(),
              told ? fmt::format("unpacks to more than the {} MB that {} says", limit / 1'000'000,
                                 kLimitVariable)
                   : fmt::format("unpacks to more than {} MB, and to over {} times its size",
                                 limit / 1'000'000, kUsualTimes),
              fmt::format("where it is a profile all the same, say how much it may take: {}=16G",
                          kLimitVariable));
}

/// Reads to the end. Returns how many bytes there were, 0 if all are 0.
int64_t SkipTrailing(ByteSource* from, std::vector<char>* block) {
  int64_t bytes = 0;
  bool padding = true;
  while (const size_t size = from->Read(block->data(), block->size())) {
    bytes += static_cast<int64_t>(size);
    padding = padding && IsPadding({block->data(), size});
  }
  return padding ? 0 : bytes;
}

}  // namespace

NamelessFile::NamelessFile(std::string for_whom) : for_whom_(std::move(for_whom)) {
  std::vector<std::string> folders;
  const char* told = std::getenv("TMPDIR");
  if (told != nullptr && *told != '\0') folders.emplace_back(told);
  folders.insert(folders.end(), {"/var/tmp", "/tmp"});
  for (const std::string& folder : folders) {
    fd_ = OpenIn(folder);
    folder_ = folder;
    if (fd_ >= 0) return;
  }
  throw SystemError(for_whom_, "is packed, and no temporary file can be made for it", errno,
                    kAdvice);
}

NamelessFile::~NamelessFile() {
  if (fd_ >= 0) ::close(fd_);
}

void NamelessFile::Write(const char* bytes, size_t size) {
  if (!WriteAll(fd_, {bytes, size})) {
    throw SystemError(for_whom_, fmt::format("is packed, and cannot be unpacked in {}", folder_),
                      errno, kAdvice);
  }
  bytes_ += static_cast<int64_t>(size);
}

int64_t NamelessFile::FreeBytes() const {
  struct statvfs info {};
  if (::fstatvfs(fd_, &info) != 0) return std::numeric_limits<int64_t>::max();
  int64_t bytes = 0;
  const bool large = __builtin_mul_overflow(info.f_bavail, info.f_frsize, &bytes);
  return large ? std::numeric_limits<int64_t>::max() : bytes;
}

int64_t CopyDatabase(InputBytes* from, NamelessFile* to) {
  const int64_t promised = PromisedBytes(from->head());
  const std::optional<int64_t> user_limit = UserLimit();
  const auto limit = [&] { return user_limit.value_or(UsualLimit(from->packed_bytes())); };
  if (promised > limit()) FailOfLimit(*from, user_limit, limit());
  const int64_t room = to->FreeBytes();
  if (promised > room) {
    throw Error(from->name(),
                fmt::format("is packed and takes {} MB, but {} has room for {} MB only",
                            promised >> 20, to->folder(), room >> 20),
                kAdvice);
  }
  int64_t left = promised > 0 ? promised : room;
  std::vector<char> block(size_t{1} << 20);
  while (left > 0) {
    if (to->bytes() > limit()) FailOfLimit(*from, user_limit, limit());
    const auto wanted = static_cast<size_t>(std::min<int64_t>(left, std::ssize(block)));
    const size_t size = from->Read(block.data(), wanted);
    to->Write(block.data(), size);
    left -= static_cast<int64_t>(size);
    if (size < wanted) break;
  }
  // The checksum of the packed data follows the last byte.
  const int64_t trailing = promised > 0 ? SkipTrailing(from, &block) : 0;
  if (const std::string damage = from->damage(); !damage.empty()) {
    throw Error(from->name(), fmt::format("cannot be unpacked whole: {}", damage),
                "copy the file again");
  }
  return trailing + from->trailing_bytes();
}

}  // namespace oplens::parse
