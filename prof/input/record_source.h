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

/// Where records come from: lines that parse wrote, or profiles read directly.
class RecordSource {
 public:
  enum class Step {
    kInput,       ///< An input begins; see profile().
    kRecord,      ///< row->record is filled.
    kReplay,      ///< The same for a graph replay whose kernels the file hides: no kernel.
    kBad,         ///< A record that could not be read; counted, and left out.
    kEndOfInput,  ///< One of several inputs ended. What its records point to goes away with the
                  ///< next call.
    kEnd,         ///< The last one did.
  };

  virtual ~RecordSource() = default;
  /// Takes the next record; what it points to lives in `row` or until the call after the end of its
  /// input. Throws Error when an input cannot be read.
  virtual Step Next(WaitingRow* row, Diagnostics* diagnostics) = 0;
  /// Whether the reasons of the last record are counted by the source already.
  virtual bool counts_reasons() const = 0;
  /// Of the profile of the last record.
  virtual Family family() const { return Family::kUnknown; }
  /// What the records of the input are of; null for lines.
  virtual const parse::KernelRecords* profile() const { return nullptr; }
  /// The input of the last record; "" where it has no name.
  virtual std::string_view name() const { return {}; }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_INPUT_RECORD_SOURCE_H_
