#ifndef OPLENS_PROF_TABLE_SINK_H_
#define OPLENS_PROF_TABLE_SINK_H_

// Public header: installed, docs/library.md.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/cell.h"
#include "prof/table/field.h"

namespace oplens::prof {

/// Consumes and formats the rows of one table, without knowing what they mean.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Before the first row. Throws UsageError if the table cannot be written in this format.
  virtual void Begin(std::string_view table, std::vector<Field> fields) = 0;
  /// One cell per field, in order. What cells point to need not outlive the call.
  virtual void Row(std::span<const Cell> cells) = 0;
  /// After the last row.
  virtual void End() {}

  /// Text for a human reader, before the first row or Begin. Formats for programs drop it.
  virtual void Words(std::string_view text) { static_cast<void>(text); }

  /// Whether Document() may replace the table; then Begin, Row and End are not called.
  virtual bool TakesDocuments() const { return false; }
  virtual void Document(std::string_view text) { static_cast<void>(text); }
};

/// Output of tables, written completely or not at all.
class Destination {
 public:
  virtual ~Destination() = default;
  /// A sink for one more table. It must not outlive the destination.
  virtual std::unique_ptr<Sink> NewTable() = 0;
  /// Whether several threads may fill tables, each its own.
  virtual bool tables_apart() const { return false; }
  /// Publishes what was written; without it nothing is left. Throws Error on failure.
  virtual void Commit() = 0;
  /// Notes for readers of the tables, such as columns that did not fit.
  virtual std::vector<std::string> Notes() const { return {}; }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_SINK_H_
