#ifndef OPLENS_PARSE_SOURCE_PROFILE_FILE_H_
#define OPLENS_PARSE_SOURCE_PROFILE_FILE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "parse/source/byte_source.h"
#include "parse/source/file_kind.h"
#include "parse/source/profile_list.h"
#include "parse/source/sqlite_database.h"

namespace oplens::parse {

/// An input file, by what its first bytes say it is.
class ProfileFile {
 public:
  enum class Content {
    kDatabase,  ///< A SQLite database.
    kJson,      ///< JSON text, compressed or not.
  };

  /// Throws Error, with what the file is instead and what to do, when it is neither. A packed
  /// database is unpacked only when database() is asked for.
  explicit ProfileFile(std::string path) : ProfileFile(ProfileInput{std::move(path), {}}) {}
  /// `meter`, which may be null, counts what is read.
  explicit ProfileFile(const ProfileInput& input, WorkMeter* meter = nullptr);

  /// How messages name it.
  const std::string& path() const { return path_; }
  Content content() const { return content_; }
  /// Which of several ranks of the file is meant.
  const std::optional<FilePart>& part() const { return part_; }
  /// The database; null unless content() is kDatabase. One that is packed or comes from a pipe is
  /// unpacked by the first call into a temporary file, which is gone with this object; throws Error
  /// when it cannot be.
  SqliteDatabase* database();
  /// The first bytes of the content, unpacked: at most kHeadBytes. Empty for a database.
  std::string_view head() const { return head_; }
  /// The content from its beginning, unpacked; call it once. Null for a database.
  std::shared_ptr<ByteSource> Open();

 private:
  /// Throws Error: what it holds is nothing that is read.
  [[noreturn]] void Refuse(FileKind kind) const;

  std::string path_;
  std::optional<FilePart> part_;
  WorkMeter* meter_;
  Content content_ = Content::kDatabase;
  std::shared_ptr<InputBytes> bytes_;
  std::unique_ptr<SqliteDatabase> database_;
  std::string head_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_PROFILE_FILE_H_
