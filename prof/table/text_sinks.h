#ifndef OPLENS_PROF_TABLE_TEXT_SINKS_H_
#define OPLENS_PROF_TABLE_TEXT_SINKS_H_

#include <cstddef>
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

/// One JSON object per line: {"schema": kJsonSchema, then with `names_table` "view": the table's
/// name, then the fields by key}; unknown is null. No header.
std::unique_ptr<Sink> MakeJsonSink(Output* output, bool names_table);

/// Raised when a key changes its meaning or type or goes away; new keys do not raise it.
inline constexpr int kJsonSchema = 1;

/// What a table for a terminal may take of it.
struct Screen {
  size_t columns = 80;    ///< Of a line.
  size_t most_rows = 40;  ///< Of the table; 0: all of them.
  bool colours = false;
};

/// A table for people: columns as wide as what is in them, at most `screen.columns` together, where
/// the least important give way (Field::rank) and texts are cut where it hurts least. Behind the
/// last of `screen.most_rows` rows one sentence says how to get the others, another how to get the
/// columns that are left out. Keeps the rows that it shows.
std::unique_ptr<Sink> MakeScreenSink(Output* output, const Screen& screen);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_TEXT_SINKS_H_
