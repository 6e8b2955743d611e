#ifndef OPLENS_PROF_INPUT_RECORD_SOURCE_H_
#define OPLENS_PROF_INPUT_RECORD_SOURCE_H_

#include <string_view>

#include "parse/model/family.h"
#include "parse/model/reason.h"
#include "prof/price/waiting_row.h"

namespace oplens::parse {
class KernelRecords;
}

namespace oplens::prof {

/// A source of records: lines written by parse, or profiles read directly.
class RecordSource {
 public:
  enum class Step {
    kInput,       ///< An input starts; see profile().
    kRecord,      ///< row->record is filled.
    kReplay,      ///< As kRecord, for a graph replay whose kernels the file hides.
    kBad,         ///< An unreadable record; counted and skipped.
    kEndOfInput,  ///< One of several inputs ended; the next call frees what its records point to.
    kEnd,         ///< The last input ended.
  };

  virtual ~RecordSource() = default;
  /// Reads the next record, which points into `row` or lives until the call after its input's end.
  /// Throws Error if an input cannot be read.
  virtual Step Next(WaitingRow* row, Diagnostics* diagnostics) = 0;
  /// Whether the source counts the reasons of the last record itself.
  virtual bool counts_reasons() const = 0;
  /// Of the last record's profile.
  virtual Family family() const { return Family::kUnknown; }
  /// The profile of the input's records; null for lines.
  virtual const parse::KernelRecords* profile() const { return nullptr; }
  /// The input of the last record; "" without a name.
  virtual std::string_view name() const { return {}; }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_RECORD_SOURCE_H_
