#ifndef OPLENS_PROF_TABLE_SINK_H_
#define OPLENS_PROF_TABLE_SINK_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prof/table/cell.h"
#include "prof/table/field.h"

namespace oplens::prof {

/// Takes the rows of one table. Only formats: it knows nothing of what they are of.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Before the first row. Throws UsageError when the table cannot be written so.
  virtual void Begin(std::string_view table, std::vector<Field> fields) = 0;
  /// A cell for each field, in their order. What cells point to need not outlive the call.
  virtual void Row(std::span<const Cell> cells) = 0;
  /// After the last row.
  virtual void End() {}

  /// Before the first row, also before Begin: what a reader is told besides. Formats for programs
  /// leave it out.
  virtual void Words(std::string_view text) { static_cast<void>(text); }

  /// Whether a document can stand in the place of the table: then neither Begin nor the others are
  /// called.
  virtual bool TakesDocuments() const { return false; }
  virtual void Document(std::string_view text) { static_cast<void>(text); }
};

/// Where tables go: written whole or not at all.
class Destination {
 public:
  virtual ~Destination() = default;
  /// A sink for one more table. It must not outlive the destination.
  virtual std::unique_ptr<Sink> NewTable() = 0;
  /// Puts what was written in its place. Without it nothing is left. Throws Error when that fails.
  virtual void Commit() = 0;
  /// What a reader of the tables must know, such as the columns that did not fit.
  virtual std::vector<std::string> Notes() const { return {}; }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_SINK_H_
