#ifndef OPLENS_PROF_INPUT_LINE_RECORDS_H_
#define OPLENS_PROF_INPUT_LINE_RECORDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "prof/input/line_source.h"
#include "prof/input/record_source.h"

namespace oplens::prof {

/// The error for an empty file of records.
Error EmptyFile(const std::string& path);

/// Records from the lines of one file.
class LineRecords : public RecordSource {
 public:
  explicit LineRecords(std::shared_ptr<parse::InputBytes> bytes) : lines_(std::move(bytes)) {}

  explicit LineRecords(const std::string& path)
      : LineRecords(std::make_shared<parse::InputBytes>(path)) {}

  /// Throws Error at the end if there were lines but no record, saying what the file is instead,
  /// and if a file (not a filter's input) has no lines.
  Step Next(WaitingRow* row, Diagnostics* diagnostics) override;
  bool counts_reasons() const override { return false; }

 private:
  Step CountBadLine(Diagnostics* diagnostics);
  Step Finish(Diagnostics* diagnostics);

  LineSource lines_;
  int64_t line_number_ = 0;
  int64_t line_count_ = 0;  // Not counting blank lines.
  int64_t record_count_ = 0;
  std::string error_;
  std::string first_error_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_LINE_RECORDS_H_
