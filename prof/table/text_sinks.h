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

struct CsvForm {
  bool header_keys = false;  ///< The header shows keys, not headers.
  bool exact = false;        ///< Texts as they are: a spreadsheet may take one for a formula.
  Utf8Hidden hidden = Utf8Hidden::kNothing;  ///< Characters that a terminal must not get.
};

/// RFC 4180, all fields quoted, "\n" line ends; unknown is an empty field.
std::unique_ptr<Sink> MakeCsvSink(Output* output, const CsvForm& form = {});

/// Columns of fixed width: lines of at most `width` characters, except that integers are never cut.
/// Unknown is "-". If the columns need more, texts shrink, then the least important columns are
/// dropped (LayOut, Field::rank), reported in `notes`. Begin throws as RefuseWidth does.
std::unique_ptr<Sink> MakeWidthSink(Output* output, int width,
                                    std::vector<std::string>* notes = nullptr);

/// Throws UsageError below 10 and above 10000.
void RefuseWidth(int width);

/// As a table for a terminal (MakeScreenSink), without limits of lines and rows: columns are as
/// wide as their contents in the first 1,000 rows, or 1 MiB of them; if more follow, columns of
/// numbers are at least as wide as Field::width, and what is wider further down shifts the rest of
/// its line. Names are cut to 80 columns and sentences to 400.
std::unique_ptr<Sink> MakeAlignedSink(Output* output);

/// Fields without blanks, separated by one blank; unknown is "-".
std::unique_ptr<Sink> MakeSpaceSink(Output* output);

/// A table of GitHub's Markdown; numbers are right-justified, unknown is "-", names are cut to 80
/// columns and sentences to 400. Nothing in a text ends its cell or becomes HTML or a link
/// (base/markdown.h). After `most_rows` rows (0: no limit) a sentence says how to get the others.
/// `first`: nothing stands before it in `output`.
std::unique_ptr<Sink> MakeMarkdownSink(Output* output, size_t most_rows, bool first = true);

/// One JSON object per line: {"schema": kJsonSchema, then with `names_table` "view": the table's
/// name, then the fields by key}; unknown is null. No header.
std::unique_ptr<Sink> MakeJsonSink(Output* output, bool names_table);

/// Increased when a key changes its meaning or type or is removed; not for new keys.
inline constexpr int kJsonSchema = 1;

/// What a table may use of a terminal.
struct Screen {
  size_t columns = 80;    ///< Per line.
  size_t most_rows = 40;  ///< Per table; 0: no limit.
  bool colours = false;
};

/// A table for people: columns as wide as their contents, at most `screen.columns` in total; the
/// least important are dropped (Field::rank) and texts are cut. After `screen.most_rows` rows one
/// sentence says how to get the others, another how to get the dropped columns. Stores the rows
/// shown.
std::unique_ptr<Sink> MakeScreenSink(Output* output, const Screen& screen);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_TEXT_SINKS_H_
