#ifndef OPLENS_RECORD_SPOOL_LOCK_H_
#define OPLENS_RECORD_SPOOL_LOCK_H_

#include <filesystem>

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

  /// Removes the spool with everything in it; the lock last. Throws
  /// std::filesystem::filesystem_error.
  static void RemoveLocked(const std::filesystem::path& spool);

 private:
  int descriptor_;
};

/// Whether a process has the file mapped that it locked (FileLock::kWhileMapped).
bool IsLocked(const std::filesystem::path& file);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SPOOL_LOCK_H_
