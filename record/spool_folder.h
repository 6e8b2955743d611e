#ifndef OPLENS_RECORD_SPOOL_FOLDER_H_
#define OPLENS_RECORD_SPOOL_FOLDER_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/spool/process_identity.h"
#include "record/spool_lock.h"

namespace oplens::record {

/// What `record` stores about a recording before the program starts: names and values.
using Session = std::map<std::string, std::string>;

std::string ValueOf(const Session& session, const std::string& name);

/// Writes the file `session` of a spool so that it survives a crash of the machine. Throws Error.
void WriteSession(const std::filesystem::path& spool, const Session& session);

/// Empty if the file is missing or incomplete.
Session ReadSession(const std::filesystem::path& spool);

/// The folder "net.sql.spool" of a recording, locked against other `record` processes.
class SpoolFolder {
 public:
  static std::filesystem::path PathFor(const std::filesystem::path& output);
  /// "net.sql" for "net.sql.spool"; other names unchanged.
  static std::filesystem::path OutputOf(const std::filesystem::path& spool);

  /// Creates the folder; `force` replaces one left by an interrupted recording. Throws Error if it
  /// exists, is in use, still written to, or somebody else's, or cannot be created.
  static SpoolFolder Create(const std::filesystem::path& output, bool force);

  /// Takes over the folder of an interrupted recording. Throws Error if it is somebody else's or in
  /// use, or a process of the recording still runs.
  static SpoolFolder Take(const std::filesystem::path& spool);

  const std::filesystem::path& path() const { return path_; }

  /// Whether the process is in the spool, recorded or not.
  bool HasProcess(const ProcessIdentity& process) const;
  /// Whether any process is.
  bool HasProcesses() const;
  /// Whether the library was loaded into a process but could not create its first page, or was
  /// killed before.
  bool HasFailedProcess() const;
  /// The errno stored by such a process; 0: none.
  int ErrorOfFailedProcess() const;
  /// Adds a process that the library never saw, so that its empty database is written like any
  /// other. Throws Error.
  void AddUnseenProcess(const ProcessIdentity& process, const std::string& output,
                        const std::string& command) const;

  /// The running processes of the recording: those that write to the spool, as locks or /proc show,
  /// and the program.
  std::vector<ProcessIdentity> RunningProcesses() const;

  void Remove();

 private:
  SpoolFolder(std::filesystem::path path, SpoolLock lock);

  std::filesystem::path path_;
  SpoolLock lock_;
};

// The program of a recording, in its session.
void SetProgram(const ProcessIdentity& program, Session* session);
/// Process id 0: unknown.
ProcessIdentity ProgramOf(const Session& session);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_FOLDER_H_
