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

/// An input file, classified by its first bytes.
class ProfileFile {
 public:
  enum class Content {
    kDatabase,  ///< A SQLite database.
    kJson,      ///< JSON text, compressed or not.
  };

  /// Throws Error if it is neither, with what it is and what to do. Does not unpack a database.
  explicit ProfileFile(std::string path) : ProfileFile(ProfileInput{std::move(path), {}}) {}
  /// `meter`, which may be null, counts what is read.
  explicit ProfileFile(const ProfileInput& input, WorkMeter* meter = nullptr);

  const std::string& path() const { return path_; }  ///< The name in messages.
  Content content() const { return content_; }
  /// Which of the file's ranks it is, if it holds several.
  const std::optional<FilePart>& part() const { return part_; }
  /// The database; null unless content() is kDatabase. The first call unpacks a packed or piped one
  /// into a temporary file that lives as long as this object; throws Error if it cannot.
  SqliteDatabase* database();
  /// The first bytes of the content, unpacked: at most kHeadBytes. Empty for a database.
  std::string_view head() const { return head_; }
  /// The unpacked content from its beginning; call it once. Null for a database.
  std::shared_ptr<ByteSource> Open();

 private:
  /// Throws Error: the content cannot be read.
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
