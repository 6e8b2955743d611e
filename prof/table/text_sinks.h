#ifndef OPLENS_PROF_TABLE_TEXT_SINKS_H_
#define OPLENS_PROF_TABLE_TEXT_SINKS_H_

#include <memory>
#include <span>

#include "base/output.h"
#include "prof/table/sink.h"

namespace oplens::prof {

// Sinks that append lines to an output, which must outlive them.

/// RFC 4180 with every field quoted and "\n" line ends; unknown is an empty field.
std::unique_ptr<Sink> MakeCsvSink(Output* output);

/// Columns of fixed width for a terminal: lines of at most `width` characters, but for integers,
/// which are never cut. Unknown is "-". Begin throws as RefuseWidth does.
std::unique_ptr<Sink> MakeWidthSink(Output* output, int width);

/// Throws UsageError with the least width when `width` is too narrow for the fields, and when it is
/// more than 10000.
void RefuseWidth(std::span<const Field> fields, int width);

/// Fields without blanks, separated by one blank; unknown is "-".
std::unique_ptr<Sink> MakeSpaceSink(Output* output);

/// One JSON object a line: {"schema": kJsonSchema, then with `names_table` "view": the table's
/// name, then the fields by key}; unknown is null. No header.
std::unique_ptr<Sink> MakeJsonSink(Output* output, bool names_table);

/// Raised when a key changes its meaning or type or goes away; new keys do not raise it.
inline constexpr int kJsonSchema = 1;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_TEXT_SINKS_H_
