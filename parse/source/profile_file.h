#ifndef OPLENS_PARSE_SOURCE_PROFILE_FILE_H_
#define OPLENS_PARSE_SOURCE_PROFILE_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "parse/source/byte_source.h"
#include "parse/source/sqlite_database.h"

namespace oplens::parse {

/// An input file, by what its first bytes say it is.
class ProfileFile {
 public:
  enum class Content {
    kDatabase,  ///< A SQLite database.
    kJson,      ///< JSON text, compressed or not.
  };

  /// Throws Error, with what the file is instead and what to do, when it is neither.
  explicit ProfileFile(std::string path);

  const std::string& path() const { return path_; }
  Content content() const { return content_; }
  /// The database; null unless content() is kDatabase.
  SqliteDatabase* database() { return database_.get(); }
  /// The first bytes of the content, unpacked: at most 4096. Empty for a database.
  std::string_view head() const { return head_; }
  /// The content from its beginning, unpacked; call it once. Null for a database.
  std::unique_ptr<ByteSource> Open();

 private:
  std::unique_ptr<SqliteDatabase> OpenDatabase(std::string_view head) const;

  std::string path_;
  Content content_ = Content::kDatabase;
  std::unique_ptr<SqliteDatabase> database_;
  std::string head_;
};

}  // namespace oplens::parse

#endif  // OPLENS_PARSE_SOURCE_PROFILE_FILE_H_
