#ifndef OPLENS_RECORD_SPOOL_FOLDER_H_
#define OPLENS_RECORD_SPOOL_FOLDER_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/spool/process_identity.h"
#include "record/spool_lock.h"

namespace oplens::record {

/// What `record` writes down of a recording before the program starts: names and values.
using Session = std::map<std::string, std::string>;

/// The value of a name, "" where there is none.
std::string ValueOf(const Session& session, const std::string& name);

/// Writes the file `session` of a spool so that it outlives a crash of the machine. Throws Error.
void WriteSession(const std::filesystem::path& spool, const Session& session);

/// Empty where the file is missing or not whole.
Session ReadSession(const std::filesystem::path& spool);

/// The folder "net.sql.spool" of a recording. While one lives, no other `record` takes the folder.
class SpoolFolder {
 public:
  /// "net.sql.spool" for "net.sql".
  static std::filesystem::path PathFor(const std::filesystem::path& output);
  /// "net.sql" for "net.sql.spool"; other names as they are.
  static std::filesystem::path OutputOf(const std::filesystem::path& spool);

  /// Makes the folder; `force`: in the place of one that an interrupted recording left. Throws
  /// Error when it is there already, in use, still written to, somebody else's, or cannot be made.
  static SpoolFolder Create(const std::filesystem::path& output, bool force);

  /// Takes a folder that an interrupted recording left. Throws Error when it is somebody else's, in
  /// use, or when a process of the recording still runs.
  static SpoolFolder Take(const std::filesystem::path& spool);

  const std::filesystem::path& path() const { return path_; }

  /// Whether the process is in the spool, recorded or not.
  bool HasProcess(const ProcessIdentity& process) const;
  /// Whether any is.
  bool HasProcesses() const;
  /// Whether the library was loaded into a process and could not store even its first page, or was
  /// killed before it had.
  bool HasFailedProcess() const;
  /// The errno that such a process left word of; 0: none.
  int ErrorOfFailedProcess() const;
  /// Notes a process that was never seen by the library, so that its database, an empty one, is
  /// written as any other. Throws Error.
  void AddUnseenProcess(const ProcessIdentity& process, const std::string& output,
                        const std::string& command) const;

  /// Processes of the recording that still run: those that write into the spool, as their locks or
  /// /proc tell, and the program itself.
  std::vector<ProcessIdentity> RunningProcesses() const;

  /// Removes the folder with everything in it.
  void Remove();

 private:
  SpoolFolder(std::filesystem::path path, SpoolLock lock);

  std::filesystem::path path_;
  SpoolLock lock_;
};

// The program of a recording, in its session.
void SetProgram(const ProcessIdentity& program, Session* session);
/// Process id 0: the session does not tell.
ProcessIdentity ProgramOf(const Session& session);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_FOLDER_H_
