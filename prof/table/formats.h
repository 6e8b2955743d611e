#ifndef OPLENS_PROF_TABLE_FORMATS_H_
#define OPLENS_PROF_TABLE_FORMATS_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/output.h"
#include "prof/table/sink.h"
#include "prof/table/text_sinks.h"

namespace oplens::prof {

/// Arguments for opening a format.
struct FormatPlan {
  std::string value;                                      ///< Of its option: a width, a file name.
  std::string output;                                     ///< Of -o; "" or "-": standard output.
  std::vector<std::pair<std::string, std::string>> meta;  ///< How the tables were made.
  bool names_tables = false;   ///< Each row names its table, if the format can.
  bool header_keys = false;    ///< The header shows the keys of -c.
  bool exact_cells = false;    ///< Of CSV: texts as they are (CsvForm).
  Screen screen = {};          ///< Of a terminal.
  size_t markdown_rows = 100;  ///< The most of a table in Markdown; 0: all.
  std::string title;           ///< Of a picture.
  bool to_terminal = false;    ///< For people: terminal control characters are replaced.
};

/// A way to write tables; an entry of kFormats.
struct Format {
  enum class Value : uint8_t { kNone, kWidth, kFile };

  std::string_view option;  ///< "csv" for --csv; "": no option.
  Value value = Value::kNone;
  std::string_view help;
  bool many = false;         ///< Can hold several tables.
  bool all_columns = false;  ///< Unless -c is given.
  std::unique_ptr<Destination> (*open)(const FormatPlan& plan);
  std::string_view file = "file";  ///< What the option names, if it names a file.

  /// Whether the option names the file.
  bool owns_file() const { return value == Value::kFile; }
};

/// The first needs no option.
std::span<const Format> Formats();

/// PyProf's form.
const Format& BlankFormat();

/// For a terminal, unless an option selects another.
const Format& ScreenFormat();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_FORMATS_H_
