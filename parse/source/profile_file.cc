#include "parse/source/profile_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "base/error.h"
#include "parse/source/nameless_file.h"

namespace oplens::parse {
namespace {

bool IsFolder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

ProfileFile::ProfileFile(const ProfileInput& input, WorkMeter* meter)
    : path_(input.path), part_(input.part), meter_(meter) {
  // Throws for a folder.
  if (input.piped == nullptr && path_ != "-" && IsFolder(path_)) SqliteDatabase refused(path_);
  bytes_ = input.piped != nullptr ? input.piped : std::make_shared<InputBytes>(path_, meter);
  path_ = bytes_->name();
  const FileKind kind = KindOfBytes(bytes_->head());
  if (IsProfileContent(bytes_->head())) {
    if (kind == FileKind::kDatabase) return;
    content_ = Content::kJson;
    head_ = bytes_->head();
    return;
  }
  Refuse(kind);
}

void ProfileFile::Refuse(FileKind kind) const {
  // Throws for a plain file, with regard to its name too.
  if (bytes_->is_file() && bytes_->packing().empty()) SqliteDatabase refused(path_);
  const std::string packed =
      bytes_->packing().empty() ? "" : fmt::format(" {} data that", bytes_->packing());
  if (const std::string damage = bytes_->damage(); !damage.empty()) {
    throw Error(path_, fmt::format("cannot be unpacked: {}", damage), "copy the file again");
  }
  if (bytes_->head().empty()) {
    throw Error(
        path_,
        packed.empty() ? "gave nothing to read" : fmt::format("is{} unpacks to nothing", packed),
        "was the disk full, or the command before it stopped?");
  }
  if (const ForeignKind foreign = ForeignWords(kind); !foreign.problem.empty()) {
    throw Error(path_,
                fmt::format("{}{}", packed.empty() ? "" : "once unpacked, ", foreign.problem),
                foreign.advice);
  }
  throw Error(path_,
              packed.empty() ? "is no profile" : fmt::format("is{} holds no profile", packed),
              "give a database of nvprof or Nsight Systems, or a trace of torch.profiler");
}

SqliteDatabase* ProfileFile::database() {
  if (content_ != Content::kDatabase || database_ != nullptr) return database_.get();
  if (bytes_->is_file() && bytes_->packing().empty()) {
    database_ = std::make_unique<SqliteDatabase>(path_, meter_);
  } else {
    auto file = std::make_unique<NamelessFile>(path_);
    const int64_t trailing_bytes = CopyDatabase(bytes_.get(), file.get());
    database_ = std::make_unique<SqliteDatabase>(path_, std::move(file), trailing_bytes, meter_);
  }
  bytes_.reset();
  return database_.get();
}

std::shared_ptr<ByteSource> ProfileFile::Open() {
  return content_ == Content::kJson ? std::exchange(bytes_, nullptr) : nullptr;
}

}  // namespace oplens::parse
