#ifndef OPLENS_RECORD_CONVERSION_RUN_H_
#define OPLENS_RECORD_CONVERSION_RUN_H_

#include <optional>
#include <string>

#include "record/conversion.h"
#include "record/messages.h"
#include "record/spool_folder.h"

namespace oplens::record {

/// Whether the program gets an empty database: it was never seen by the library, and -o names its
/// database, not those of child processes.
inline bool NeedsEmptyDatabase(const RecordingFacts& facts, const SpoolFolder& spool) {
  return !facts.program_seen && !(facts.requested_children && spool.HasProcesses());
}

/// The conversion of a recording for the user: defers errors to the end and shows progress on a
/// terminal.
class ConversionRun {
 public:
  enum class Talk { kFaults, kAll };

  ConversionRun(ConversionOptions options, std::string output, Talk talk);

  /// Like Conversion::Advance; does nothing after a failure.
  bool Advance(std::chrono::milliseconds budget);

  /// Gives up; Finish reports the first reason given.
  void Fail(const char* what);

  /// Completes the databases, prints the summary, and removes the spool if all of it was read and
  /// written. After a failure, prints the error and how to go on. Returns whether all databases
  /// were written.
  bool Finish(RecordingFacts facts, SpoolFolder* spool);

  /// After Finish: whether everything requested was recorded.
  bool is_whole() const { return is_whole_; }

 private:
  std::vector<ProcessSummary> Complete();
  void Tell(const std::vector<SummaryLine>& lines);

  std::string output_;
  Talk talk_;
  std::optional<Conversion> conversion_;
  std::string failure_;
  bool is_whole_ = false;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_CONVERSION_RUN_H_
