#ifndef OPLENS_RECORD_SPOOL_FOLDER_H_
#define OPLENS_RECORD_SPOOL_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace oplens::record {

/// What `record` writes down of a recording before the program starts: names and values.
using Session = std::map<std::string, std::string>;

/// The folder "net.sql.spool" of a recording. While one lives, no other `record` takes the folder.
class SpoolFolder {
 public:
  /// "net.sql.spool" for "net.sql".
  static std::filesystem::path PathFor(const std::filesystem::path& output);

  /// Makes the folder; `force`: in the place of one that an interrupted recording left. Throws
  /// Error when it is there already, in use, still written to, or cannot be made.
  static SpoolFolder Create(const std::filesystem::path& output, bool force);

  /// Folders of recordings that were started with this name, %-sequences and all, or that make a
  /// database of this name for one of their processes.
  static std::vector<std::filesystem::path> Find(const std::filesystem::path& output);

  /// Takes the folder that an interrupted recording left: PathFor(output), else the one that Find
  /// finds. Throws Error when there is none, when it is in use, or when a recorded program still
  /// writes into it.
  static SpoolFolder Take(const std::filesystem::path& output);

  ~SpoolFolder();
  SpoolFolder(SpoolFolder&& other) noexcept;
  SpoolFolder& operator=(SpoolFolder&&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Writes the file `session`, whole or not at all. Throws Error.
  void WriteSession(const Session& session) const;
  /// Empty where it is not there.
  Session ReadSession() const;

  /// Whether a process of this id is in the spool, recorded or not.
  bool HasProcess(int32_t process_id) const;
  /// Whether any is.
  bool HasProcesses() const;
  /// Whether the library was loaded into a process and could not store even its first page, or was
  /// killed before it had.
  bool HasFailedProcess() const;
  /// The errno that such a process left word of; 0: none.
  int ErrorOfFailedProcess() const;
  /// Notes a process that was never seen by the library, so that its database, an empty one, is
  /// written as any other. Throws Error.
  void AddUnseenProcess(int32_t process_id, const std::string& output,
                        const std::string& command) const;

  /// Recorded processes that still run.
  std::vector<int32_t> RunningProcesses() const;

  /// Removes the folder with everything in it.
  void Remove();

 private:
  SpoolFolder(std::filesystem::path path, int lock);
  /// Of all images; a process that has several is there as often.
  std::vector<int32_t> Processes(bool with_page) const;

  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_FOLDER_H_
