#ifndef OPLENS_RECORD_RECOVERY_TARGET_H_
#define OPLENS_RECORD_RECOVERY_TARGET_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "record/image_conversion.h"

namespace oplens::record {

/// What `record --recover NAME` names: an interrupted recording, and the databases that are to be
/// made of it. No path that stands in a spool decides where something is written.
class RecoveryTarget {
 public:
  /// NAME is a database, its spool, or a name with %-sequences as it was given to -o. Throws Error
  /// when no recording has it, or several.
  explicit RecoveryTarget(const std::string& name);

  const std::filesystem::path& spool() const { return spool_; }
  /// As it may be given to --recover again.
  const std::string& name() const { return name_; }
  /// Whether NAME is that of any number of databases: it has %-sequences.
  bool is_pattern() const { return !base_.empty(); }

  /// The database of a process, as far as its page is known: in the folder of NAME. Of a pattern:
  /// "" when the process's own name does not fit it.
  std::string OutputOf(const PageFacts& facts) const;

 private:
  bool TakeLiteral(const std::filesystem::path& path);
  void TakePattern(const std::string& pattern);
  /// The recording that has a process whose database has the name.
  void FindByProcess(const std::filesystem::path& output);

  std::string name_;
  std::filesystem::path spool_;
  std::filesystem::path output_;  // Of a name without sequences.
  std::filesystem::path folder_;  // Of a pattern,
  std::string base_;              // with this as its last part.
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_RECOVERY_TARGET_H_
