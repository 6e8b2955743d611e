#include "parse/source/profile_file.h"

#include <sys/stat.h>

#include <utility>

#include "base/error.h"
#include "parse/source/file_kind.h"

namespace oplens::parse {
namespace {

constexpr size_t kHeadBytes = 4096;

bool IsRegularFile(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool IsFolder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// The first bytes, unpacked where that is possible; empty when the file cannot be read, which its
/// reader then says.
std::string HeadOf(const std::string& path) {
  if (!IsRegularFile(path)) return {};
  std::string head(kHeadBytes, '\0');
  head.resize(OpenBytes(path)->Read(head.data(), head.size()));
  return head;
}

}  // namespace

ProfileFile::ProfileFile(std::string path) : path_(std::move(path)) {
  std::string head;
  if (!IsFolder(path_)) {
    try {
      head = HeadOf(path_);
    } catch (const Error&) {
      head.clear();
    }
  }
  if (IsJson(head)) {
    content_ = Content::kJson;
    head_ = std::move(head);
    return;
  }
  database_ = OpenDatabase(head);
}

std::unique_ptr<SqliteDatabase> ProfileFile::OpenDatabase(std::string_view head) const {
  try {
    return std::make_unique<SqliteDatabase>(path_);
  } catch (const Error&) {
    // The content of a compressed file begins like a database, the file itself does not.
    if (KindOfBytes(head) == FileKind::kDatabase && IsCompressed(path_)) {
      throw Error(path_, "is a compressed database", "unpack it first with gunzip or unzstd");
    }
    throw;
  }
}

std::unique_ptr<ByteSource> ProfileFile::Open() {
  return content_ == Content::kJson ? OpenBytes(path_) : nullptr;
}

}  // namespace oplens::parse
