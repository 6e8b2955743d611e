#ifndef OPLENS_RECORD_SPOOL_LOCK_H_
#define OPLENS_RECORD_SPOOL_LOCK_H_

#include <filesystem>
#include <string>

namespace oplens::record {

/// Locks a spool for one `record`, across PID namespaces, for the lifetime of this object or
/// process. No effect on file systems without locks.
class SpoolLock {
 public:
  /// Throws Error if another `record` holds it.
  explicit SpoolLock(const std::filesystem::path& spool);
  ~SpoolLock();
  SpoolLock(SpoolLock&& other) noexcept;
  SpoolLock& operator=(SpoolLock&&) = delete;

  /// Removes the files that record puts into a spool (IsOfSpool), the lock last, and the folder
  /// unless something else is in it. Uses the locked folder itself, whatever has its name by now.
  /// Throws std::filesystem::filesystem_error.
  void Remove() const;

 private:
  std::filesystem::path path_;
  int folder_;
  int descriptor_ = -1;
};

/// Whether record or the library creates files of this name in a spool.
bool IsOfSpool(const std::string& name);

/// Whether a process maps and has locked the file (FileLock::kWhileMapped).
bool IsLocked(const std::filesystem::path& file);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_LOCK_H_
