#ifndef OPLENS_RECORD_CONVERSION_RUN_H_
#define OPLENS_RECORD_CONVERSION_RUN_H_

#include <optional>
#include <string>

#include "record/conversion.h"
#include "record/messages.h"
#include "record/spool_folder.h"

namespace oplens::record {

/// Whether the program gets a database although there is nothing of it: the one that -o names, but
/// not where child processes have theirs.
inline bool NeedsEmptyDatabase(const RecordingFacts& facts, const SpoolFolder& spool) {
  return !facts.program_seen && !(facts.wanted_children && spool.HasProcesses());
}

/// The conversion of a recording for the user: what fails is kept for the end, what it takes long
/// is shown on a terminal.
class ConversionRun {
 public:
  enum class Talk { kFaults, kAll };

  ConversionRun(ConversionOptions options, std::string output, Talk talk);

  /// As Conversion::Advance. After a failure it does nothing.
  bool Advance(std::chrono::milliseconds budget);

  /// Gives up: Finish will say why. The first reason stays.
  void Fail(const char* what);

  /// Completes the databases, prints the summary and removes the spool, unless not all of that was
  /// read and written; or, after a failure, says what failed and how to go on. True: the databases
  /// are there.
  bool Finish(RecordingFacts facts, SpoolFolder* spool);

  /// After Finish: whether nothing that was to be recorded is missing.
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
