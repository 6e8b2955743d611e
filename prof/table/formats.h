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

/// What a format is opened with.
struct FormatPlan {
  std::string value;   ///< Of its option: a width, the name of a file.
  std::string output;  ///< Of -o; "" or "-": standard output.
  std::vector<std::pair<std::string, std::string>> meta;  ///< Of what made the tables.
  bool names_tables = false;  ///< Each row says which table it is of, where a row can.
  bool header_keys = false;   ///< The header has the words of -c.
  Screen screen = {};         ///< Of a terminal.
  bool to_terminal = false;   ///< Somebody looks at it: nothing in a cell may change the terminal.
};

/// A way to write tables: an entry of kFormats.
struct Format {
  enum class Value : uint8_t { kNone, kWidth, kFile };

  std::string_view option;  ///< "csv" of --csv; "" of the one without an option.
  Value value = Value::kNone;
  std::string_view help;
  bool many = false;         ///< It can hold several tables.
  bool all_columns = false;  ///< Unless -c is given.
  std::unique_ptr<Destination> (*open)(const FormatPlan& plan);

  /// The option names the file.
  bool owns_file() const { return value == Value::kFile; }
};

/// All of them; the first needs no option.
std::span<const Format> Formats();

/// The one for a terminal, where no option asks for another.
const Format& ScreenFormat();

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_FORMATS_H_
