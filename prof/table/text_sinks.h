#ifndef OPLENS_PROF_TABLE_TEXT_SINKS_H_
#define OPLENS_PROF_TABLE_TEXT_SINKS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/output.h"
#include "base/utf8.h"
#include "prof/table/sink.h"

namespace oplens::prof {

// Sinks that append lines to an output, which must outlive them.

/// RFC 4180 with every field quoted and "\n" line ends; unknown is an empty field. The header has
/// the fields' headers, or with `header_keys` their keys. `hidden`: what of texts a terminal must
/// not get.
std::unique_ptr<Sink> MakeCsvSink(Output* output, bool header_keys = false,
                                  Utf8Hidden hidden = Utf8Hidden::kNothing);

/// Columns of fixed width: lines of at most `width` characters, but for integers, which are never
/// cut. Unknown is "-". Where the columns need more, texts shrink and then the least important
/// columns are left out (LayOut, Field::rank), of which `notes` gets a sentence. Begin throws as
/// RefuseWidth does.
std::unique_ptr<Sink> MakeWidthSink(Output* output, int width,
                                    std::vector<std::string>* notes = nullptr);

/// Throws UsageError for less than 10 and more than 10000.
void RefuseWidth(int width);

/// Fields without blanks, separated by one blank; unknown is "-".
std::unique_ptr<Sink> MakeSpaceSink(Output* output);

/// One JSON object a line: {"schema": kJsonSchema, then with `names_table` "view": the table's
/// name, then the fields by key}; unknown is null. No header.
std::unique_ptr<Sink> MakeJsonSink(Output* output, bool names_table);

/// Raised when a key changes its meaning or type or goes away; new keys do not raise it.
inline constexpr int kJsonSchema = 1;

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_TEXT_SINKS_H_
