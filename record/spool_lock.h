#ifndef OPLENS_RECORD_SPOOL_LOCK_H_
#define OPLENS_RECORD_SPOOL_LOCK_H_

#include <filesystem>
#include <string>

namespace oplens::record {

/// Holds a spool for one `record`, whatever namespaces others run in, until it goes or the process
/// ends. File systems without locks are let through.
class SpoolLock {
 public:
  /// Throws Error when another `record` holds it.
  explicit SpoolLock(const std::filesystem::path& spool);
  ~SpoolLock();
  SpoolLock(SpoolLock&& other) noexcept;
  SpoolLock& operator=(SpoolLock&&) = delete;

  /// Removes what record puts into a spool (IsOfSpool), the lock last, and the folder unless
  /// something else is in it. It is the folder that was locked, whatever has its name by now.
  /// Throws std::filesystem::filesystem_error.
  void Remove() const;

 private:
  std::filesystem::path path_;
  int folder_;
  int descriptor_ = -1;
};

/// Whether record, or the library in a program, puts something of this name into a spool.
bool IsOfSpool(const std::string& name);

/// Whether a process has the file mapped that it locked (FileLock::kWhileMapped).
bool IsLocked(const std::filesystem::path& file);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_LOCK_H_
