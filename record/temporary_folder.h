#ifndef OPLENS_RECORD_TEMPORARY_FOLDER_H_
#define OPLENS_RECORD_TEMPORARY_FOLDER_H_

#include <filesystem>
#include <memory>
#include <string>

namespace oplens::record {

/// Where SQLite keeps the temporary files of one database, in the place of TMPDIR: on the disk of
/// the database, and where nobody else can write. (sqlite3_temp_directory is one for all databases
/// of a process, and not to be changed while one is open.)
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& folder);
  /// No database may be open with it.
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// To be given to sqlite3_open_v2.
  const char* vfs_name() const;

 private:
  struct Vfs;
  std::unique_ptr<Vfs> vfs_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_TEMPORARY_FOLDER_H_
